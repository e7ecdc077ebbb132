// The view of the map: which part of the plane the canvas shows. It never leaves the words.
const LARGEST = 60; // the largest zoom factor; 1 shows the whole map
const MARGIN = 0.08; // of the canvas, around the whole map
const INSET = 0.2; // of the canvas: some word stays this far within its sides

export class View {
  constructor() {
    [this.width, this.height] = [1, 1];
    this.show([]);
  }

  // Takes the points that must not be lost from view, and shows them all.
  show(points) {
    this.points = points;
    [this.across, this.down] = [bounds(points.map((one) => one.x)), bounds(points.map((one) => one.y))];
    this.whole();
  }

  resize(width, height) {
    [this.width, this.height] = [Math.max(1, width), Math.max(1, height)];
  }

  whole() {
    [this.scale, this.x, this.y] = [1, middle(this.across), middle(this.down)];
  }

  // Pixels in one unit of the plane.
  get unit() {
    const span = ([low, high]) => Math.max(1e-6, high - low);
    const fit = Math.min(this.width / span(this.across), this.height / span(this.down));
    return (1 - 2 * MARGIN) * fit * this.scale;
  }

  toScreen({ x, y }) {
    return [(x - this.x) * this.unit + this.width / 2, (y - this.y) * this.unit + this.height / 2];
  }

  toPlane([right, down]) {
    return { x: (right - this.width / 2) / this.unit + this.x, y: (down - this.height / 2) / this.unit + this.y };
  }

  // Zooms by a factor; what is at the pixel `at` stays there.
  zoom(factor, at = [this.width / 2, this.height / 2]) {
    const before = this.toPlane(at);
    this.scale = Math.min(LARGEST, Math.max(1, this.scale * factor));
    const after = this.toPlane(at);
    this.moveTo(this.x + before.x - after.x, this.y + before.y - after.y);
  }

  move(right, down) {
    this.moveTo(this.x - right / this.unit, this.y - down / this.unit);
  }

  moveTo(x, y) {
    if (this.scale === 1) {
      [this.x, this.y] = [middle(this.across), middle(this.down)];
      return;
    }
    [this.x, this.y] = [x, y];
    this.keepInView();
  }

  // The view { scale, x, y } that shows all these places, at most `closest` times enlarged.
  around(places, closest) {
    const [across, down] = [bounds(places.map((one) => one.x)), bounds(places.map((one) => one.y))];
    const whole = this.unit / this.scale;
    const fit = Math.min(this.width / (across[1] - across[0] || 1e-6), this.height / (down[1] - down[0] || 1e-6));
    const scale = Math.min(closest, Math.max(1, (1 - 4 * MARGIN) * fit / whole));
    return { scale, x: middle(across), y: middle(down) };
  }

  // Where no word would be in view, the nearest one is kept at its border.
  keepInView() {
    const [wide, high] = [(0.5 - INSET) * this.width / this.unit, (0.5 - INSET) * this.height / this.unit];
    const outside = ({ x, y }) => [Math.abs(x - this.x) - wide, Math.abs(y - this.y) - high];
    let [nearest, least] = [null, Infinity];
    for (const point of this.points) {
      const far = Math.max(...outside(point));
      if (far <= 0) return;
      if (far < least) [nearest, least] = [point, far];
    }
    if (!nearest) return;
    this.x = Math.min(nearest.x + wide, Math.max(nearest.x - wide, this.x));
    this.y = Math.min(nearest.y + high, Math.max(nearest.y - high, this.y));
  }
}

const bounds = (values) => (values.length ? [Math.min(...values), Math.max(...values)] : [-1, 1]);
const middle = ([low, high]) => (low + high) / 2;

// The map: points on a canvas that can be moved and zoomed, with labels where there is space.
const LARGEST = 60; // the largest zoom factor
const STEP = 40; // pixels moved by an arrow key
const NEAR = 12; // pixels from a point within which a click selects it

export class Picture {
  constructor(canvas, onWord) {
    this.canvas = canvas;
    this.onWord = onWord;
    this.points = [];
    this.source = "";
    this.marked = null;
    this.pointers = new Map();
    this.whole();
    this.listen();
    new ResizeObserver(() => this.draw()).observe(canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
  }

  show(points, source) {
    this.points = points;
    this.source = source;
    this.marked = null;
    this.whole();
  }

  // Marks a place and centres it, zoomed in enough to read the words around it.
  mark(place) {
    this.marked = place;
    this.scale = Math.max(this.scale, 5);
    [this.x, this.y] = [place.x, place.y];
    this.draw();
  }

  whole() {
    [this.scale, this.x, this.y] = [1, 0, 0];
    this.draw();
  }

  zoom(factor, at = [this.canvas.clientWidth / 2, this.canvas.clientHeight / 2]) {
    const before = this.toPlane(at);
    this.scale = Math.min(LARGEST, Math.max(0.5, this.scale * factor));
    const after = this.toPlane(at);
    this.x += before[0] - after[0];
    this.y += before[1] - after[1];
    this.draw();
  }

  move(right, down) {
    this.x -= right / this.unit;
    this.y -= down / this.unit;
    this.draw();
  }

  // Pixels in one unit of the plane, which extends from -1 to 1.
  get unit() {
    return 0.46 * Math.min(this.canvas.clientWidth, this.canvas.clientHeight) * this.scale;
  }

  toScreen({ x, y }) {
    return [
      (x - this.x) * this.unit + this.canvas.clientWidth / 2,
      (y - this.y) * this.unit + this.canvas.clientHeight / 2,
    ];
  }

  toPlane([right, down]) {
    return [
      (right - this.canvas.clientWidth / 2) / this.unit + this.x,
      (down - this.canvas.clientHeight / 2) / this.unit + this.y,
    ];
  }

  draw() {
    const { canvas } = this;
    const ratio = devicePixelRatio || 1;
    canvas.width = canvas.clientWidth * ratio;
    canvas.height = canvas.clientHeight * ratio;
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    const style = getComputedStyle(canvas);
    const colour = (name) => style.getPropertyValue(`--${name}`);
    const seen = this.points.map((point) => this.toScreen(point));
    this.drawLines(pen, seen, colour("line"));
    this.drawPoints(pen, seen, colour);
    if (this.marked) this.drawMark(pen, colour("mark"), colour("paper"));
    this.drawLabels(pen, seen, colour, style.fontFamily);
  }

  drawLines(pen, seen, colour) {
    pen.strokeStyle = colour;
    pen.globalAlpha = 0.5;
    pen.beginPath();
    this.points.forEach((point, i) => {
      if (point.pair > i) {
        pen.moveTo(...seen[i]);
        pen.lineTo(...seen[point.pair]);
      }
    });
    pen.stroke();
    pen.globalAlpha = 1;
  }

  drawPoints(pen, seen, colour) {
    const size = this.scale < 2 ? 2 : 3; // the whole map is crowded on a phone
    this.points.forEach((point, i) => {
      const [x, y] = seen[i];
      const own = point.language === this.source;
      pen.fillStyle = colour(own ? "source" : "target");
      pen.beginPath();
      if (own) pen.arc(x, y, size, 0, 2 * Math.PI);
      else pen.rect(x - 0.9 * size, y - 0.9 * size, 1.8 * size, 1.8 * size);
      pen.fill();
    });
  }

  drawMark(pen, colour, paper) {
    const [x, y] = this.toScreen(this.marked);
    pen.strokeStyle = colour;
    pen.lineWidth = 3;
    pen.beginPath();
    pen.arc(x, y, 10, 0, 2 * Math.PI);
    pen.stroke();
    pen.lineWidth = 1;
    const text = this.marked.exact ? this.marked.word : `${this.marked.word} (approximate)`;
    pen.font = "600 15px sans-serif";
    const width = pen.measureText(text).width;
    pen.fillStyle = paper;
    pen.fillRect(x - width / 2 - 4, y - 34, width + 8, 20);
    pen.fillStyle = colour;
    pen.textAlign = "center";
    pen.fillText(text, x, y - 19);
    pen.textAlign = "left";
    this.taken = [[x - width / 2 - 4, y - 34, x + width / 2 + 4, y + 12]];
  }

  // Writes each word beside its point, on a side where it covers no other word or point.
  drawLabels(pen, seen, colour, family) {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    const within = ([x, y]) => x >= 0 && y >= 0 && x <= width && y <= height;
    const taken = seen.filter(within).map(([x, y]) => [x - 3, y - 3, x + 3, y + 3]);
    if (this.marked) taken.push(...this.taken);
    const free = (box) => within(box) && within(box.slice(2))
      && !taken.some((other) => box[0] < other[2] && other[0] < box[2] && box[1] < other[3] && other[1] < box[3]);
    pen.font = `13px ${family}`;
    pen.strokeStyle = colour("paper");
    pen.lineWidth = 3;
    this.points.forEach((point, i) => {
      const [x, y] = seen[i];
      if (!within([x, y])) return;
      const long = pen.measureText(point.word).width + 4;
      const stands = [[x + 4, y - 8], [x - 4 - long, y - 8], [x - long / 2, y - 20], [x - long / 2, y + 4]];
      const box = stands.map(([left, top]) => [left, top, left + long, top + 16]).find(free);
      if (!box) return;
      taken.push(box);
      pen.fillStyle = colour(point.language === this.source ? "source" : "target");
      pen.strokeText(point.word, box[0] + 2, box[1] + 12); // an outline against the background
      pen.fillText(point.word, box[0] + 2, box[1] + 12);
    });
  }

  listen() {
    const { canvas } = this;
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.zoom(Math.exp(-event.deltaY / 400), [event.offsetX, event.offsetY]);
    }, { passive: false });
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      this.pointers.set(event.pointerId, [event.offsetX, event.offsetY]);
      this.moved = 0;
    });
    canvas.addEventListener("pointermove", (event) => this.dragged(event));
    canvas.addEventListener("pointerup", (event) => this.released(event));
    canvas.addEventListener("pointercancel", (event) => this.pointers.delete(event.pointerId));
    canvas.addEventListener("keydown", (event) => this.pressed(event));
  }

  dragged(event) {
    const before = this.pointers.get(event.pointerId);
    if (!before) return;
    const now = [event.offsetX, event.offsetY];
    const others = [...this.pointers.entries()].filter(([id]) => id !== event.pointerId);
    if (others.length) {
      const [, other] = others[0];
      const apart = (one) => Math.hypot(one[0] - other[0], one[1] - other[1]) || 1;
      this.zoom(apart(now) / apart(before), [(now[0] + other[0]) / 2, (now[1] + other[1]) / 2]);
    } else {
      this.move(now[0] - before[0], now[1] - before[1]);
    }
    this.moved += Math.hypot(now[0] - before[0], now[1] - before[1]);
    this.pointers.set(event.pointerId, now);
  }

  released(event) {
    const last = this.pointers.size === 1;
    this.pointers.delete(event.pointerId);
    if (!last || this.moved > 4) return;
    let best = null;
    let nearest = NEAR;
    for (const point of this.points) {
      const [x, y] = this.toScreen(point);
      const apart = Math.hypot(x - event.offsetX, y - event.offsetY);
      if (apart < nearest) [best, nearest] = [point, apart];
    }
    if (best) this.onWord(best.word, best.language);
  }

  pressed(event) {
    const moves = { ArrowLeft: [STEP, 0], ArrowRight: [-STEP, 0], ArrowUp: [0, STEP], ArrowDown: [0, -STEP] };
    if (event.key in moves) this.move(...moves[event.key]);
    else if (event.key === "+" || event.key === "=") this.zoom(1.3);
    else if (event.key === "-") this.zoom(1 / 1.3);
    else if (event.key === "0") this.whole();
    else return;
    event.preventDefault();
  }
}

// Painting the map: terrain and names of regions from afar, words from near by, and one word with its neighbours.
import { Taken, place } from "/page/labels.js";

const NEAR_BY = 3.2; // the zoom factor from which words alone are shown
const FAR = 1.6; // and up to which regions alone are
const FAINT = 0.13; // of words that are not among those isolated
const EDGE = 10; // pixels from the border at which neighbours beyond it are shown
const LINE = 16; // pixels of a label's height
const REACH = 170; // pixels from its point within which the label of an isolated word finds space
const NEXT_TO = 8; // pixels from its point up to which a label needs no line to it
const WEAK = 0.4; // pairs with a lower probability are not joined: muse does not trust them

// Paints `map` { view, points, regions, terrain, isolated, found, pointed, first, apart } and returns how many labels there are.
export function paint(pen, map, style) {
  const { view } = map;
  const look = lookOf(style, view);
  pen.clearRect(0, 0, view.width, view.height);
  if (!map.points.length) return 0;
  const seen = map.points.map((point) => view.toScreen(map.placed(point)));
  const shown = seen.map(([x, y]) => x > -20 && y > -20 && x < view.width + 20 && y < view.height + 20);
  const taken = new Taken(view.width, view.height);
  map.overlays().forEach((box) => taken.add(box));
  const scene = {
    view, look, seen, shown, taken, own: ownOf(map), points: map.points, regions: map.regions, terrain: map.terrain,
    isolated: map.isolated, pointed: map.pointed, first: map.first, apart: map.apart,
  };
  if (map.isolated) keepInside(scene);
  paintTerrain(pen, scene);
  paintPairs(pen, scene);
  paintPoints(pen, scene);
  if (map.line) paintLine(pen, map.line, look);
  if (map.isolated) return paintIsolated(pen, scene);
  if (map.found) return paintWords(pen, scene, map.found);
  if (map.apart) return paintSides(pen, scene);
  const regions = look.far > 0 ? paintRegions(pen, scene) : 0;
  const words = look.far < 1 ? paintWords(pen, scene, scene.points.keys()) : 0;
  pen.globalAlpha = 1;
  return regions + words;
}

function lookOf(style, { scale, width }) {
  const colour = (name) => style.getPropertyValue(`--${name}`).trim();
  const far = Math.min(1, Math.max(0, (NEAR_BY - scale) / (NEAR_BY - FAR)));
  return {
    far, family: style.fontFamily, size: width < 480 ? 12 : 13, colour,
    sides: [colour("source"), colour("target")], surface: colour("surface"),
  };
}

// The numbers of the words isolated or found, or null.
function ownOf({ isolated, found }) {
  if (!isolated) return found && new Set(found);
  return new Set([...isolated.near, isolated.number, isolated.ofAnswer].filter((number) => number !== null));
}

function paintTerrain(pen, { terrain, view, look, own, apart }) {
  if (!terrain || apart) return;
  const [left, top] = view.toScreen({ x: terrain.left, y: terrain.top });
  pen.globalAlpha = 0.15 + 0.85 * (own ? 0 : look.far);
  pen.imageSmoothingQuality = "high";
  pen.drawImage(terrain.image, left, top, terrain.extent * view.unit, terrain.extent * view.unit);
  pen.globalAlpha = 1;
}

function paintPairs(pen, { points, seen, shown, look, own, apart }) {
  if (apart) return;
  pen.strokeStyle = look.colour("control");
  pen.lineWidth = 1;
  pen.globalAlpha = (own ? 0.15 : 0.6) * (1 - look.far); // from afar, the few long ones would cover all else
  pen.beginPath();
  points.forEach(({ pair, probability }, i) => {
    if (pair < i || !(shown[i] || shown[pair]) || (probability !== null && probability < WEAK)) return;
    pen.moveTo(...seen[i]);
    pen.lineTo(...seen[pair]);
  });
  pen.stroke();
  pen.globalAlpha = 1;
}

function paintPoints(pen, scene) {
  const { points, seen, shown, look, own, pointed, apart } = scene;
  const size = 1.7 + 1.5 * (1 - look.far);
  const ofAll = own ? FAINT : 0.6 + 0.4 * (1 - look.far);
  points.forEach((point, i) => {
    if (!shown[i]) return;
    const stands = own?.has(i) || pointed === i;
    const side = look.far > 0.5 && !own && !stands && !apart ? null : sideOf(point, scene);
    pen.globalAlpha = stands ? 1 : ofAll;
    paintPoint(pen, seen[i], side, size + (pointed === i ? 2.5 : stands ? 0.8 : 0), look, point.exact === false);
  });
  pen.globalAlpha = 1;
}

// A disc for the first language, a diamond for the second; from afar (null), where pairs coincide, a grey dot. It is
// hollow where the place is estimated.
function paintPoint(pen, [x, y], side, size, look, hollow = false) {
  const colour = side === null ? look.colour("muted") : look.sides[side];
  pen.fillStyle = hollow ? look.surface : colour;
  pen.beginPath();
  if (side !== 1) pen.arc(x, y, size, 0, 2 * Math.PI);
  else {
    pen.moveTo(x, y - size);
    pen.lineTo(x + size, y);
    pen.lineTo(x, y + size);
    pen.lineTo(x - size, y);
    pen.closePath();
  }
  pen.fill();
  if (!hollow) return;
  pen.strokeStyle = colour;
  pen.lineWidth = 1.5;
  pen.stroke();
}

const sideOf = (point, { first }) => (point.language === first ? 0 : 1);

function paintRegions(pen, scene) {
  const { points, regions, look, seen, taken } = scene;
  pen.font = `600 ${look.size + 1}px ${look.family}`;
  const names = regions.map(({ name }) => [points[name].word, " · ", points[points[name].pair].word]);
  const widths = names.map((parts) => parts.map((part) => pen.measureText(part).width));
  const boxes = place(regions.map(({ name }, i) => { // each where its words are
    const [x, y] = [0, 1].map((k) => (seen[name][k] + seen[points[name].pair][k]) / 2);
    return { x, y, width: widths[i].reduce((sum, one) => sum + one, 8), height: LINE + 6, gap: null };
  }), taken);
  pen.globalAlpha = look.far;
  boxes.forEach((box, i) => {
    if (!box) return;
    let x = box[0] + 4;
    names[i].forEach((part, k) => {
      write(pen, part, x, box[3] - 7, [look.sides[0], look.colour("muted"), look.sides[1]][k], look);
      x += widths[i][k];
    });
  });
  return boxes.filter(Boolean).length;
}

// Writes the words of these points, the first ones first; returns how many found space.
function paintWords(pen, scene, numbers) {
  const { points, seen, shown, look, taken, own } = scene;
  pen.font = `${own ? "600 " : ""}${look.size}px ${look.family}`;
  const inside = [...numbers].filter((i) => shown[i]);
  for (const i of inside) taken.add(around(seen[i], 3));
  const boxes = place(inside.map((i) => (
    { x: seen[i][0], y: seen[i][1], width: pen.measureText(points[i].word).width + 4, height: LINE, gap: 5, reach: scene.isolated ? REACH : 0 }
  )), taken);
  pen.globalAlpha = own ? 1 : 1 - look.far;
  boxes.forEach((box, k) => {
    const point = points[inside[k]];
    if (!box) return;
    const colour = look.sides[sideOf(point, scene)];
    if (scene.isolated) paintLeader(pen, seen[inside[k]], box, colour);
    write(pen, point.word, box[0] + 2, box[3] - 4, colour, look);
  });
  return boxes.filter(Boolean).length;
}

// A line from a point to its label, if that found no space beside it.
function paintLeader(pen, [x, y], [left, top, right, bottom], colour) {
  const end = [Math.min(right, Math.max(left, x)), Math.min(bottom, Math.max(top, y))];
  if (Math.hypot(end[0] - x, end[1] - y) < NEXT_TO) return;
  pen.strokeStyle = colour;
  pen.lineWidth = 0.75;
  pen.beginPath();
  pen.moveTo(x, y);
  pen.lineTo(...end);
  pen.stroke();
}

const around = ([x, y], size) => [x - size, y - size, x + size, y + size];

// The word in a ring, spokes to its neighbours, and their names.
function paintIsolated(pen, scene) {
  const { isolated, seen, view, look, taken } = scene;
  const [x, y] = view.toScreen(isolated);
  pen.strokeStyle = look.colour("focus");
  pen.lineWidth = 1;
  pen.globalAlpha = 0.35;
  pen.beginPath();
  for (const i of isolated.near) {
    pen.moveTo(x, y);
    pen.lineTo(...seen[i]);
  }
  pen.stroke();
  pen.globalAlpha = 1;
  pen.lineWidth = 3;
  pen.setLineDash(isolated.exact ? [] : [4, 4]); // it is not on the map, but about here
  pen.beginPath();
  pen.arc(x, y, 10, 0, 2 * Math.PI);
  pen.stroke();
  pen.setLineDash([]);
  taken.add(around([x, y], 12));
  const tags = paintAnswer(pen, scene, [x, y]);
  const shown = paintWords(pen, scene, isolated.near.filter((i) => i !== isolated.ofAnswer));
  tags.forEach((paintIt) => paintIt()); // above the lines to other names
  return tags.length + shown;
}

// The best translation, joined to the word; returns what paints the names of both. These stand on either side of both, so
// that neither covers the other where the two nearly coincide.
function paintAnswer(pen, scene, [x, y]) {
  const { isolated: { word, answer }, view, look, taken } = scene;
  const name = (side) => tag(pen, scene, word, [x, y - 26 * side], "focus");
  if (!answer) return [name(1)];
  const [right, below] = view.toScreen(answer);
  pen.strokeStyle = look.colour("focus");
  pen.lineWidth = 3;
  pen.beginPath();
  pen.moveTo(x, y);
  pen.lineTo(right, below);
  pen.stroke();
  paintPoint(pen, [right, below], sideOf(answer, scene), 6, look, !answer.exact);
  taken.add(around([right, below], 8));
  const side = below < y ? -1 : 1;
  return [tag(pen, scene, answer.word, [right, below + 26 * side], answer.language === scene.first ? "source" : "target"), name(side)];
}

// Takes the space for a word in a box whose middle is given; returns what paints it.
function tag(pen, { look, taken }, word, [x, y], colour) {
  pen.font = `700 ${look.size + 4}px ${look.family}`;
  const width = pen.measureText(word).width + 12;
  const box = [x - width / 2, y - 12, x + width / 2, y + 12];
  taken.add(box);
  return () => {
    pen.font = `700 ${look.size + 4}px ${look.family}`;
    pen.fillStyle = look.colour(colour);
    pen.beginPath();
    pen.roundRect(box[0], box[1], width, 24, 6);
    pen.fill();
    pen.fillStyle = look.surface;
    pen.fillText(word, box[0] + 6, box[3] - 7);
  };
}

// The line that is being drawn around words.
function paintLine(pen, line, look) {
  pen.beginPath();
  line.forEach((place) => pen.lineTo(...place));
  pen.closePath();
  pen.strokeStyle = pen.fillStyle = look.colour("focus");
  pen.globalAlpha = 0.12;
  pen.fill();
  pen.globalAlpha = 1;
  pen.lineWidth = 2;
  pen.stroke();
}

// What the two sides are, while they are apart.
function paintSides(pen, { view, look, apart }) {
  pen.globalAlpha = apart;
  pen.font = `600 ${look.size + 1}px ${look.family}`;
  const text = "Each language was learned from texts of its own";
  const width = Math.min(pen.measureText(text).width, view.width - 16);
  write(pen, text, (view.width - width) / 2, view.height - 24, look.colour("text"), look);
  pen.globalAlpha = 1;
  return 0;
}

// Neighbours outside the view are shown where the line to them leaves it.
function keepInside({ isolated, seen, shown, view }) {
  const [x, y] = view.toScreen(isolated);
  // The share of the way from a coordinate to another that lies within a side of this length.
  const share = (from, to, size) => {
    if (to < EDGE) return (from - EDGE) / (from - to);
    return to > size - EDGE ? (size - EDGE - from) / (to - from) : 1;
  };
  const border = ([right, down]) => {
    const part = Math.max(0, Math.min(share(x, right, view.width), share(y, down, view.height)));
    return [x + part * (right - x), y + part * (down - y)];
  };
  for (const i of isolated.near) {
    seen[i] = border(seen[i]);
    shown[i] = true;
  }
}

function write(pen, text, x, y, colour, look) {
  pen.lineJoin = "round";
  pen.lineWidth = 4;
  pen.strokeStyle = look.surface; // an outline against what lies below
  pen.strokeText(text, x, y);
  pen.fillStyle = colour;
  pen.fillText(text, x, y);
}

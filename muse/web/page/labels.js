// Labels: beside their points where there is space, so that none covers another.
const CELL = 48; // pixels: labels are compared only with those of the same cells

// Boxes [left, top, right, bottom] that are taken, in a grid of cells.
export class Taken {
  constructor(width, height) {
    [this.width, this.height] = [width, height];
    this.cells = new Map();
  }

  add(box) {
    for (const key of keys(box)) {
      if (!this.cells.has(key)) this.cells.set(key, []);
      this.cells.get(key).push(box);
    }
  }

  // Whether a box is within the canvas and covers none that was added.
  isFree(box) {
    const [left, top, right, bottom] = box;
    if (left < 0 || top < 0 || right > this.width || bottom > this.height) return false;
    return !keys(box).some((key) => (this.cells.get(key) ?? []).some((other) => overlap(box, other)));
  }
}

function keys([left, top, right, bottom]) {
  const found = [];
  for (let i = Math.floor(left / CELL); i <= Math.floor(right / CELL); i++) {
    for (let j = Math.floor(top / CELL); j <= Math.floor(bottom / CELL); j++) found.push(`${i},${j}`);
  }
  return found;
}

export function overlap(one, other) {
  return one[0] < other[2] && other[0] < one[2] && one[1] < other[3] && other[1] < one[3];
}

// The boxes of labels `{ x, y, width, height, gap, reach }`, in their order; null where one finds no space. Each stands
// on a side of its point, or as far away as it may reach, or, with a gap of null, in its middle.
export function place(labels, taken) {
  return labels.map((label) => {
    const box = stands(label).find((one) => taken.isFree(one));
    if (box) taken.add(box);
    return box ?? null;
  });
}

function stands({ x, y, width, height, gap, reach = 0 }) {
  const at = (left, top) => [left, top, left + width, top + height];
  if (gap === null) return [at(x - width / 2, y - height / 2)];
  const found = [];
  for (let far = gap; far <= Math.max(gap, reach); far += height) {
    const [across, down] = [[x + far, x - far - width], [y - far - height, y + far]];
    found.push(...across.map((left) => at(left, y - height / 2)), ...down.map((top) => at(x - width / 2, top)));
    if (reach) found.push(...across.flatMap((left) => down.map((top) => at(left, top))));
  }
  return found;
}

// Terrain: how densely words lie, as the steps of a relief map.
const SIZE = 384; // pixels of the image on each side, which is enlarged smoothly
const BORDER = 0.1; // of the plane's extent, around the words
const WIDTH = 0.022; // of a word's bell curve, as a share of the image
const STEPS = 6;

// An image of the density of points, and the part of the plane that it covers.
export function terrain(points, across, down, colour) {
  const extent = Math.max(across[1] - across[0], down[1] - down[0]) * (1 + 2 * BORDER);
  const left = (across[0] + across[1] - extent) / 2;
  const top = (down[0] + down[1] - extent) / 2;
  const grid = new Float32Array(SIZE * SIZE);
  for (const { x, y } of points) {
    const [i, j] = [Math.floor((x - left) / extent * SIZE), Math.floor((y - top) / extent * SIZE)];
    grid[j * SIZE + i] += 1;
  }
  const radius = Math.max(1, Math.round(WIDTH * SIZE * 0.9));
  for (let pass = 0; pass < 3; pass++) blur(grid, radius); // three boxes are nearly a bell
  return { image: painted(grid, colour), left, top, extent };
}

function blur(grid, radius) {
  for (const [step, stride] of [[1, SIZE], [SIZE, 1]]) {
    const line = new Float32Array(SIZE);
    for (let row = 0; row < SIZE; row++) {
      for (let i = 0; i < SIZE; i++) line[i] = grid[row * stride + i * step];
      let sum = 0;
      for (let i = -radius; i < SIZE; i++) {
        if (i + radius < SIZE) sum += line[i + radius];
        if (i - radius - 1 >= 0) sum -= line[i - radius - 1];
        if (i >= 0) grid[row * stride + i * step] = sum / (2 * radius + 1);
      }
    }
  }
}

function painted(grid, [red, green, blue]) {
  const canvas = new OffscreenCanvas(SIZE, SIZE);
  const pen = canvas.getContext("2d");
  const image = pen.createImageData(SIZE, SIZE);
  const sorted = grid.filter((value) => value > 1e-4).sort();
  const most = sorted[Math.floor(0.98 * sorted.length)] || 1; // a few peaks would flatten all else
  for (let i = 0; i < grid.length; i++) {
    const height = Math.min(1, grid[i] / most);
    const step = Math.min(STEPS, Math.floor(height * (STEPS + 0.6) + 0.6));
    image.data.set([red, green, blue, 255 * 0.055 * step], 4 * i);
  }
  pen.putImageData(image, 0, 0);
  return canvas;
}

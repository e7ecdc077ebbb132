// Selections: the words of a topic, or within a line that is drawn around them, and the table they are saved as.
import { $, make } from "/page/dom.js";

// Lists the topics of a map, each of which selects the words nearest to its middle.
export function showTopics(map, { points, regions }) {
  const middle = ({ x, y, pair }) => [(x + points[pair].x) / 2, (y + points[pair].y) / 2];
  const nearest = (point) => {
    const [x, y] = middle(point);
    return regions.reduce((best, one) => (Math.hypot(one.x - x, one.y - y) < Math.hypot(best.x - x, best.y - y) ? one : best));
  };
  const chips = regions.map((region) => {
    const [one, other] = [points[region.name], points[points[region.name].pair]];
    const choose = () => map.select([...points.keys()].filter((i) => nearest(points[i]) === region), { fly: true });
    return make("button", { type: "button", onclick: choose },
      make("span", { lang: one.language, dir: "auto" }, one.word), " · ", make("span", { lang: other.language, dir: "auto" }, other.word));
  });
  $("topics").hidden = !chips.length;
  $("topics-list").replaceChildren(...chips);
}

// The numbers of the points whose places on the screen [x, y] are within a closed line of such places.
export function enclosed(places, line) {
  const inside = ([x, y]) => line.reduce((within, [x1, y1], i) => {
    const [x0, y0] = line.at(i - 1);
    return (y0 > y) !== (y1 > y) && x < x0 + ((x1 - x0) * (y - y0)) / (y1 - y0) ? !within : within;
  }, false);
  return [...places.keys()].filter((i) => inside(places[i]));
}

// Saves the pairs of some points as a table, the words of the map's first language before their translations.
export function save(points, numbers, first) {
  const chosen = [...new Set(numbers.map((i) => (points[i].language === first ? i : points[i].pair)))];
  const lines = chosen.map((i) => [points[i].word, points[points[i].pair].word, points[i].probability ?? ""].join("\t"));
  const table = new Blob([`${["source\ttarget\tprobability", ...lines].join("\n")}\n`], { type: "text/tab-separated-values" });
  const link = make("a", { href: URL.createObjectURL(table), download: `${first}-${points[points[chosen[0]].pair].language}.tsv` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1_000);
}

// Lets a pointer draw a line around words: with Shift, or once the button of the lasso is pressed.
export function listenToLasso(canvas, map) {
  const button = $("lasso");
  const press = (pressed) => {
    button.setAttribute("aria-pressed", String(pressed));
    canvas.style.touchAction = pressed ? "none" : "";
  };
  button.addEventListener("click", () => press(button.getAttribute("aria-pressed") !== "true"));
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || !(event.shiftKey || button.getAttribute("aria-pressed") === "true")) return;
    canvas.setPointerCapture(event.pointerId);
    map.leave();
    map.line = [[event.offsetX, event.offsetY]];
    event.stopImmediatePropagation(); // the map stays where it is
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!map.line) return;
    map.line.push([event.offsetX, event.offsetY]);
    map.draw();
    event.stopImmediatePropagation();
  });
  for (const kind of ["pointerup", "pointercancel"]) canvas.addEventListener(kind, () => {
    if (!map.line) return;
    const { line } = map;
    map.line = null;
    press(false);
    map.draw();
    if (kind === "pointerup") map.select(enclosed(map.drawn.map((point) => map.view.toScreen(point)), line));
  });
}

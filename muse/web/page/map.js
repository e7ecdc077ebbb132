// The map: what it shows, which word is isolated, and what a hand on it does.
import { $, make } from "/page/dom.js";
import { listen } from "/page/gestures.js";
import { paint } from "/page/paint.js";
import { listenToLasso, save, showTopics } from "/page/selection.js";
import { terrain } from "/page/terrain.js";
import { View } from "/page/view.js";

const REACH = 14; // pixels from a point within which it is meant
const CLOSEST = 9; // the zoom factor at which a word is shown with its neighbours, at most
const FLIGHT = 400; // milliseconds
const APART = 1_100; // for which the languages stand side by side at first
const UNITING = 1_900; // in which they become one map
const ROTATED = 2; // radians by which the first language is rotated at first
const SHOWN = 40; // words that are shown for what is typed in the field to find them
const HINT = 1_400;
const CALM = matchMedia("(prefers-reduced-motion: reduce)");
const SCHEMES = ["(prefers-color-scheme: dark)", "(forced-colors: active)"].map((query) => matchMedia(query));

export class WordMap {
  // `lookUp(word, language)` is called for a word that is chosen on the map, `used()` where a hand shows others.
  constructor(lookUp) {
    this.canvas = $("picture");
    this.lookUp = lookUp;
    this.view = new View();
    Object.assign(this, { points: [], drawn: [], regions: [], first: "", terrain: null, isolated: null, found: null, pointed: null });
    this.apart = 0; // 1: the languages stand side by side; 0: they are one map
    this.line = null; // the line that is being drawn around words
    listenToLasso(this.canvas, this); // before the others: what draws a line does not move the map
    listen(this.canvas, this);
    listenToFinding(this);
    new ResizeObserver(() => this.resized()).observe(this.canvas);
    for (const scheme of SCHEMES) scheme.addEventListener("change", () => { this.shade(); this.draw(); });
    $("closer").addEventListener("click", () => this.zoom(1.6));
    $("farther").addEventListener("click", () => this.zoom(1 / 1.6));
    $("whole").addEventListener("click", () => this.whole());
    $("release").addEventListener("click", () => this.dismiss());
    $("save").addEventListener("click", () => save(this.drawn, this.found, this.first));
  }

  // Shows points and regions, those of the language `first` as discs.
  show({ points, regions }, first) {
    Object.assign(this, { drawn: points, regions, first, found: null, pointed: null, apart: 0 });
    $("find").hidden = $("lasso").hidden = !points.length;
    showTopics(this, { points, regions });
    $("find").reset();
    this.view.show(points);
    this.shade();
    this.release();
  }

  shade() {
    const { drawn: points, view } = this;
    this.terrain = points.length ? terrain(points, view.across, view.down, this.rgb("--terrain")) : null;
  }

  // A colour of the style as red, green and blue, whatever it is written as.
  rgb(name) {
    const pen = new OffscreenCanvas(1, 1).getContext("2d");
    pen.fillStyle = getComputedStyle(this.canvas).getPropertyValue(name);
    pen.fillRect(0, 0, 1, 1);
    return pen.getImageData(0, 0, 1, 1).data;
  }

  // Shows a word alone with those near it; `place` is an answer of /api/place. Words that are not drawn join `points`.
  isolate(place) {
    const { form, language, answer, near } = place;
    this.joined();
    this.leave();
    const guests = near.filter((one) => !one.exact).map((one) => ({ ...one, pair: -1 }));
    this.points = [...this.drawn, ...guests];
    const numbers = near.map((one) => this.numberOf(one.word, one.language));
    const ofAnswer = answer && this.numberOf(answer.word, answer.language);
    $("save").hidden = true;
    this.isolated = { ...place, word: form, near: numbers, number: this.numberOf(form, language), ofAnswer };
    this.found = null;
    $("release").hidden = false;
    this.say(place.exact
      ? `${form}${answer ? ` → ${answer.word},` : ""} with the ${near.length} words near it${guests.length ? ` (hollow: ${guests.length} not among the pairs shown)` : ""}`
      : `${form} is not among the pairs shown: it would be about here${guests.length ? ", as would those that are hollow" : ""}`);
    this.flyTo(this.view.around([place, ...(answer ? [answer] : []), ...near], CLOSEST));
  }

  numberOf(word, language) {
    const number = this.points.findIndex((point) => point.word === word && point.language === language);
    return number < 0 ? null : number;
  }

  release() {
    this.leave();
    this.points = this.drawn;
    this.isolated = null;
    this.found = null;
    $("release").hidden = $("save").hidden = true;
    this.say("");
    this.draw();
  }

  dismiss() {
    this.used?.();
    this.release();
  }

  say(text, problem = false) {
    $("map-status").textContent = text;
    $("map-status").classList.toggle("problem", problem);
  }

  resized() {
    const { clientWidth, clientHeight } = this.canvas;
    if (!clientWidth) return; // in a tab that is not shown
    this.view.resize(clientWidth, clientHeight);
    this.draw();
  }

  // Shows the languages apart, the first of them rotated, and then how they become one map; a touch ends it.
  unite() {
    if (CALM.matches || document.hidden) return;
    const start = performance.now();
    const step = (now) => {
      if (!this.apart) return;
      const t = Math.min(1, Math.max(0, (now - start - APART) / UNITING));
      this.apart = (1 - t) ** 2 * (1 + 2 * t); // slow at both ends
      this.draw();
      requestAnimationFrame(step);
    };
    this.apart = 1;
    for (const kind of ["pointerdown", "keydown", "wheel"]) addEventListener(kind, () => this.joined(), { once: true, passive: true });
    requestAnimationFrame(step);
  }

  joined() {
    if (!this.apart) return;
    this.apart = 0;
    this.draw();
  }

  // Where a point is painted: where it lies, unless the languages are still apart.
  placed({ x, y, language }) {
    if (!this.apart) return { x, y };
    const side = language === this.first ? -1 : 1;
    const angle = side < 0 ? ROTATED * this.apart : 0;
    const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
    const small = 1 - 0.45 * this.apart;
    return { x: small * (cos * x - sin * y) + 0.55 * side * this.apart, y: small * (sin * x + cos * y) };
  }

  // Shows the words that begin with a text alone, or all again.
  find(text) {
    const wanted = bare(text);
    const numbers = [...this.points.keys()].filter((i) => bare(this.points[i].word).startsWith(wanted));
    this.dismiss();
    if (!wanted) return;
    if (!numbers.length) this.say(`No word on the map begins with “${text.trim()}”`);
    const shortest = numbers.sort((one, other) => this.points[one].word.length - this.points[other].word.length).slice(0, SHOWN);
    this.select(shortest, { words: false });
    this.whole();
  }

  // Shows some words alone, by their numbers, to be saved; `words` says how many, `fly` shows them all.
  select(numbers, { words = true, fly = false } = {}) {
    if (words) this.dismiss();
    if (words && !numbers.length) return;
    this.found = numbers;
    $("release").hidden = $("save").hidden = !numbers.length;
    if (words) this.say(`${numbers.length} ${numbers.length === 1 ? "word" : "words"} selected`);
    if (fly) this.flyTo(this.view.around(numbers.map((i) => this.points[i]), CLOSEST));
    this.draw();
  }

  // Paints once before the next frame, however often it is called.
  draw() {
    if (this.waiting) return;
    this.waiting = requestAnimationFrame(() => {
      this.waiting = null;
      this.paintNow();
    });
  }

  paintNow() {
    const { canvas, view } = this;
    const ratio = devicePixelRatio || 1;
    const [width, height] = [Math.round(view.width * ratio), Math.round(view.height * ratio)];
    if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
    const pen = canvas.getContext("2d");
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    canvas.dataset.labels = paint(pen, this, getComputedStyle(canvas));
    canvas.dataset.scale = view.scale.toFixed(2);
    if (canvas.matches(":focus-visible")) this.paintMiddle(pen);
  }

  // The cross that Enter means.
  paintMiddle(pen) {
    const [x, y] = [this.view.width / 2, this.view.height / 2];
    pen.strokeStyle = getComputedStyle(this.canvas).getPropertyValue("--focus");
    pen.lineWidth = 2;
    pen.beginPath();
    for (const [right, down] of [[1, 0], [-1, 0], [0, 1], [0, -1]]) {
      pen.moveTo(x + 4 * right, y + 4 * down);
      pen.lineTo(x + 10 * right, y + 10 * down);
    }
    pen.stroke();
  }

  // The boxes on the canvas that are covered by what is laid over it.
  overlays() {
    const { left, top } = this.canvas.getBoundingClientRect();
    return [...this.canvas.parentElement.querySelectorAll(".legend, .map-tools, .find, .map-actions button:not([hidden])")].map((one) => {
      const box = one.getBoundingClientRect();
      return [box.left - left, box.top - top, box.right - left, box.bottom - top];
    });
  }

  flyTo(aim) {
    const from = { ...this.viewed() };
    const start = performance.now();
    const length = CALM.matches || document.hidden ? 0 : FLIGHT;
    this.flight = (now) => {
      const t = length ? Math.min(1, (now - start) / length) : 1;
      const eased = 1 - (1 - t) ** 3;
      this.view.scale = from.scale * (aim.scale / from.scale) ** eased;
      this.view.x = from.x + (aim.x - from.x) * eased;
      this.view.y = from.y + (aim.y - from.y) * eased;
      if (t === 1) this.flight = null;
      else requestAnimationFrame((time) => this.flight?.(time));
      this.draw();
    };
    this.flight(start);
  }

  viewed() {
    const { scale, x, y } = this.view;
    return { scale, x, y };
  }

  zoom(factor, at) {
    this.flight = null;
    this.view.zoom(factor, at);
    this.draw();
  }

  move(right, down) {
    this.flight = null;
    this.view.move(right, down);
    this.draw();
  }

  whole() {
    const { view } = this;
    const now = this.viewed();
    view.whole();
    const aim = this.viewed();
    Object.assign(view, now);
    this.flyTo(aim);
  }

  // The number of the point nearest to a pixel, among those isolated if any are; null if none is near.
  at([x, y], reach = 1) {
    const own = this.isolated ? new Set([this.isolated.number, this.isolated.ofAnswer, ...this.isolated.near])
      : this.found && new Set(this.found);
    let [best, least] = [null, REACH * reach];
    this.points.forEach((point, i) => {
      if (own && !own.has(i)) return;
      const [right, down] = this.view.toScreen(point);
      const far = Math.hypot(right - x, down - y);
      if (far < least) [best, least] = [i, far];
    });
    return best;
  }

  tap(at, reach) {
    const number = this.at(at, reach);
    this.leave();
    if (number === null) this.dismiss();
    else this.choose(number);
  }

  choose(number) {
    const { word, language } = this.points[number];
    this.lookUp(word, language);
  }

  enter() {
    const number = this.at([this.view.width / 2, this.view.height / 2], Infinity);
    if (number !== null) this.choose(number);
  }

  escape() {
    this.leave();
    this.dismiss();
  }

  over(at) {
    const number = this.at(at);
    if (number === this.pointed) return;
    this.pointed = number;
    this.canvas.classList.toggle("over", number !== null);
    this.showCard();
    this.draw();
  }

  leave() {
    if (this.pointed === null) return;
    this.pointed = null;
    this.canvas.classList.remove("over");
    this.showCard();
    this.draw();
  }

  // The card of the word below the mouse: the word, its translation, and what a click does.
  showCard() {
    const card = $("hover");
    card.hidden = this.pointed === null;
    if (card.hidden) return;
    const point = this.points[this.pointed];
    const other = this.points[point.pair];
    const line = ({ word, language }, tag) => make(
      "div", {},
      make("span", { class: `mark ${language === this.first ? "one" : "two"}` }),
      make(tag, { lang: language, dir: "auto" }, word),
    );
    const below = other ? line(other, "span") : make("div", {}, "not among the pairs shown: about here");
    card.replaceChildren(line(point, "b"), below, make("small", {}, "Click to see its neighbours"));
    const [x, y] = this.view.toScreen(point);
    const left = Math.min(x + 14, this.view.width - card.offsetWidth - 8);
    const top = y + 14 + card.offsetHeight > this.view.height ? y - 14 - card.offsetHeight : y + 14;
    card.style.transform = `translate(${Math.max(8, left)}px, ${Math.max(8, top)}px)`;
  }

  // Says for a moment how the map is moved.
  hint(text) {
    this.leave();
    $("gesture").textContent = text;
    $("gesture").hidden = false;
    clearTimeout(this.hinted);
    this.hinted = setTimeout(() => { $("gesture").hidden = true; }, HINT);
  }
}

const bare = (text) => text.trim().normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();

// The field that finds words on the map: as one types, and with Enter the shortest of them is looked up.
function listenToFinding(map) {
  $("find").addEventListener("input", () => map.find($("find-text").value));
  $("find").addEventListener("submit", (event) => {
    event.preventDefault();
    if (map.found?.length) map.choose(map.found[0]);
  });
}

// Two texts whose words light up with their counterparts: under the pointer, by a tap, by keyboard.
// A pair is an element with `data-links` ("0-0:92 1-2:40", probabilities in percent) around two texts of class `side`,
// whose words stand between spaces, but for those in `data-words`, the begin and the length of each.
const UNSURE = 50; // percent: links below are more likely wrong than right
const KEYS = { ArrowLeft: -1, ArrowRight: 1 };

export const percent = (share) => (share > 99 ? ">99 %" : share < 1 ? "<1 %" : `${share} %`);

export class Reader {
  #links = new WeakMap(); // of each pair: [source word, target word, percent], the most probable first
  #pinned = null; // the word that was chosen, which stays lit while the pointer is elsewhere
  #stop = null; // the word that the Tab key leads to
  #lit = [];

  // `show(text)` is called with what is lit, "" if nothing; `tell(text)` only where a word was chosen.
  constructor(root, show, tell) {
    Object.assign(this, { root, show, tell });
    this.near = new IntersectionObserver((seen) => {
      for (const { target, isIntersecting } of seen) if (isIntersecting) this.prepare(target);
    }, { rootMargin: "50%" });
    root.addEventListener("pointerover", ({ target, pointerType }) => {
      if (pointerType !== "touch") this.#light(wordAt(target) ?? this.#pinned);
    });
    root.addEventListener("pointerleave", () => this.#light(this.#pinned));
    root.addEventListener("click", ({ target }) => this.pin(wordAt(target)));
    root.addEventListener("focusin", ({ target }) => { if (wordAt(target) !== this.#pinned) this.pin(wordAt(target)); });
    root.addEventListener("keydown", (event) => this.#pressed(event));
    for (const pair of root.children) this.near.observe(pair);
    this.restart();
  }

  // The Tab key leads to the first word of the first pair that is shown.
  restart() {
    const pair = [...this.root.children].find((one) => !one.hidden);
    if (pair) this.#reach(this.words(pair, 0)[0] ?? this.words(pair, 1)[0]);
  }

  // Makes the words of a pair, once: texts of thousands of sentences stay plain until they are near the screen.
  prepare(pair) {
    if (this.#links.has(pair)) return;
    this.near.unobserve(pair);
    const links = (pair.dataset.links || "").split(" ").filter(Boolean).map((link) => link.split(/[-:]/).map(Number));
    links.sort((one, other) => other[2] - one[2]);
    this.#links.set(pair, links);
    const sides = sidesOf(pair);
    for (const side of sides) side.replaceChildren(...elements(side));
    sides.forEach((side, which) => {
      const best = new Map();
      for (const link of links) best.set(link[which], [...(best.get(link[which]) ?? []), link]);
      [...side.children].forEach((word, place) => {
        const found = best.get(place);
        word.classList.toggle("alone", !found);
        word.classList.toggle("unsure", found?.[0][2] < UNSURE);
        const sure = found?.filter((link) => link[2] >= UNSURE);
        const shown = sure?.length ? sure.map((link) => link[1 - which]).sort((one, other) => one - other) : found?.[0].slice(1 - which, 2 - which);
        if (which === 0) word.dataset.gloss = (shown ?? []).map((one) => sides[1].children[one]?.textContent).join(" ") || "\u00a0";
      });
    });
  }

  words(pair, which) {
    this.prepare(pair);
    return [...sidesOf(pair)[which].children];
  }

  // Chooses a word, or none: it stays lit, has the focus, and is announced.
  pin(word) {
    this.#pinned = word;
    const text = this.#light(word);
    if (!word) return;
    this.tell(text);
    this.#reach(word);
    if (document.activeElement !== word) word.focus({ preventScroll: true });
    word.scrollIntoView({ block: "nearest" });
  }

  #reach(word) {
    if (this.#stop) this.#stop.tabIndex = -1;
    this.#stop = word;
    if (word) word.tabIndex = 0;
  }

  // The counterparts of a word, [word, percent] each.
  #counterparts(word) {
    const pair = pairOf(word);
    const which = sidesOf(pair).indexOf(word.parentElement);
    const place = this.words(pair, which).indexOf(word);
    const others = this.words(pair, 1 - which);
    return this.#links.get(pair).filter((link) => link[which] === place && others[link[1 - which]])
      .map((link) => [others[link[1 - which]], link[2]]);
  }

  #light(word) {
    for (const one of this.#lit) {
      one.classList.remove("lit", "faint");
      one.style.removeProperty("--share");
      delete one.dataset.share;
    }
    const found = word ? this.#counterparts(word) : [];
    this.#lit = word ? [word, ...found.map(([one]) => one)] : [];
    for (const one of this.#lit) one.classList.add("lit");
    for (const [one, share] of found) {
      one.classList.toggle("faint", share < UNSURE);
      one.style.setProperty("--share", `${share}%`);
      one.dataset.share = percent(share);
    }
    const others = found.map(([one, share]) => `${apart(one)}, ${percent(share)}`).join("; ");
    const text = word ? `${apart(word)} – ${others || "no counterpart"}` : "";
    this.show(text);
    return text;
  }

  #pressed(event) {
    const word = wordAt(event.target);
    if (!word || event.ctrlKey || event.altKey || event.metaKey) return;
    const pair = pairOf(word);
    const which = sidesOf(pair).indexOf(word.parentElement);
    const words = this.words(pair, which);
    const onward = getComputedStyle(word).direction === "rtl" ? -1 : 1;
    let next = null;
    if (event.key in KEYS) next = this.#beside(pair, which, words.indexOf(word) + onward * KEYS[event.key]);
    else if (event.key === "ArrowDown") next = this.#across(pair, which, 1)[0];
    else if (event.key === "ArrowUp") next = this.#across(pair, which, -1)[0];
    else if (event.key === "Home") [next] = words;
    else if (event.key === "End") next = words.at(-1);
    else if (event.key === "Enter" || event.key === " ") next = this.#counterparts(word)[0]?.[0];
    else if (event.key === "Escape") this.pin(null);
    else return;
    event.preventDefault();
    if (next) this.pin(next);
  }

  // The word at a place of a text; beyond its ends the last word of the text before, or the first of the next.
  #beside(pair, which, place) {
    if (place < 0) return this.#across(pair, which, -1).at(-1);
    return this.words(pair, which)[place] ?? this.#across(pair, which, 1)[0];
  }

  // The words of the next text of this side that has some, up or down.
  #across(pair, which, step) {
    for (let next = pair; (next = step > 0 ? next.nextElementSibling : next.previousElementSibling);) {
      if (next.hidden) continue;
      const words = this.words(next, which);
      if (words.length) return words;
    }
    return [];
  }
}

const apart = ({ textContent }) => `\u2068${textContent}\u2069`; // whatever direction the words beside it have
const wordAt = (target) => target.closest(".side > span");
const pairOf = (word) => word.closest("[data-links]");
const sidesOf = (pair) => [...pair.querySelectorAll(".side")];

// The words of a text as elements, with what stands between them.
function* elements(side) {
  const text = side.textContent;
  let last = 0;
  for (const [begin, end] of places(text, side.dataset.words?.split(" ").map(Number) ?? [])) {
    if (begin > last) yield text.slice(last, begin);
    last = end;
    const word = document.createElement("span");
    word.tabIndex = -1;
    word.textContent = text.slice(begin, end);
    yield word;
  }
  if (last < text.length) yield text.slice(last);
}

// Where each word begins and ends: what is listed goes before what stands between spaces there.
function places(text, numbers) {
  const listed = numbers.flatMap((begin, place) => (place % 2 ? [] : [[begin, begin + numbers[place + 1], 0]]));
  const between = Array.from(text.matchAll(/\S+/gu), ({ 0: word, index }) => [index, index + word.length, 1]);
  let free = 0;
  return [...listed, ...between].sort((one, other) => one[0] - other[0] || one[2] - other[2]).filter(([begin, end, spaced]) => {
    if (spaced && begin < free) return false;
    free = Math.max(end, begin + 1);
    return begin < end;
  });
}

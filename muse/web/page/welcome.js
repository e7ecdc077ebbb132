// What the page says before any question: which space it is, examples, and what can be done.
import { verdictChip } from "/page/chip.js";
import { $, make } from "/page/dom.js";
import { named } from "/page/languages.js";
import { meant, wordButton } from "/page/word.js";

const LINES_OF_ROWS = [
  "An id gives the nearest rows of the other side, each with its text where that is known.",
  "Rows are suggested by their ids, and by words of their texts.",
];
const LINES = [
  "A word gives its translations, each with the probability that it is right.",
  "A sentence is translated word by word; every word has alternatives.",
  "The map has the most frequent words of both languages; click one to see its neighbours.",
];

export function showSpace(space) {
  const words = space.languages.map((one) => (
    `${one.words.toLocaleString("en")} ${named(one.name)} ${one.ranked ? "words" : "rows"}${one.units ? `, ${one.units.toLocaleString("en")} units` : ""}`));
  $("space").textContent = space.name;
  const right = space.languages.filter((one) => one.expected_p_at_1 !== null).map((one) => (
    `about ${Math.round(one.expected_p_at_1)} % of first translations are right`));
  $("about").textContent = [...words, ...(right.length === 1 ? right : [])].join(" · ");
  $("verdict").replaceChildren(space.verdict ? verdictChip(space.verdict) : "");
  $("how").hidden = false;
}

// What depends on the direction: the names of the languages, and examples of the source.
export function showDirection(page) {
  const { source, target, onMap } = page.languages;
  onMap.forEach((code, place) => { $(place ? "two-name" : "one-name").textContent = named(code); });
  const kind = page.languages.noun(source) === "word" ? "Word or sentence in" : "Id or text of a row of";
  $("text").placeholder = `${kind} ${named(source)}`;
  $("text").lang = source;
  $("translation").lang = target;
  $("translation").placeholder = `Its translation into ${named(target)}`;
  const { mapped } = page.languages;
  document.body.classList.toggle("of-rows", !mapped);
  $("modes").hidden = !page.links || !mapped;
  const { examples, ranked } = page.languages.of(source);
  $("examples").replaceChildren(...(ranked ? ["Try", ...examples.map((word) => wordButton(word, source, page, ""))] : []));
}

export function introduction(page) {
  const { source } = page.languages;
  const { ranked, examples, texts } = page.languages.of(source);
  const lines = (all) => make("ul", { class: "intro" }, ...all.map((line) => make("li", {}, line)));
  if (!ranked) {
    const rows = examples.map((id, i) => make("li", {}, wordButton(id, source, page), meant({ text: texts[i] ?? undefined }, source)));
    return make("div", { class: "card" }, make("h2", {}, `Rows of ${named(source)} to begin with`), make("ul", { class: "some-rows" }, ...rows), lines(LINES_OF_ROWS));
  }
  return make(
    "div", { class: "card" },
    make("h2", {}, claim(page.space)),
    make("p", {}, "The vectors of each language were trained on texts of its own. How the words are used "
      + "in them shows which ones mean the same."),
    lines(LINES),
  );
}

// What was given beside the vectors, as far as the space records it.
function claim({ languages, method }) {
  const pairs = Math.max(0, ...languages.map((one) => one.held_out?.pairs ?? 0));
  if (pairs) return `This space was learned from ${pairs.toLocaleString("en")} pairs of words`;
  const known = method && !/dictionary|identical/.test(`${method} ${languages.map((one) => one.signature).join(" ")}`);
  return known ? "Nobody gave this program a single translation" : "Words of two languages in one space";
}

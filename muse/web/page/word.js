// The answer about a word: the headline, what else it may mean, and its neighbourhoods.
import { probabilityChip, share } from "/page/chip.js";
import { copyButton } from "/page/copy.js";
import { make } from "/page/dom.js";
import { named } from "/page/languages.js";

const NEIGHBOURS = 8;

// The element for the translations of a word; `page` looks words up and explains.
export function showWord(translated, page) {
  const { translations, grade } = translated;
  if (!translations.length) return make("div", { class: "card" }, make("p", {}, "No translation."));
  const weak = grade === "weak";
  return make(
    "article", { class: weak ? "card weak" : "card" },
    weak ? notice(translated, page) : null,
    asked(translated, page),
    meant(translated, translated.source),
    headline(translated, page),
    translations.length > 1 ? others(translated, page) : null,
  );
}

function notice({ languages, word, source, target }, page) {
  const elsewhere = languages.filter((code) => page.languages.codes.includes(code));
  return make(
    "div", { class: "notice" },
    elsewhere.length ? `No translation I would trust; it is more frequent in ${named(elsewhere[0])}.` : "No translation I would trust",
    ...elsewhere.map((code) => turnButton(code, { text: word, source, target }, page)),
  );
}

function asked({ word, form, source, target }, page) {
  return make(
    "p", { class: "asked" },
    page.languages.mark(source), make("b", { lang: source, dir: "auto" }, form),
    form === word ? null : make("span", {}, `looked up for “${word}”`),
    make("span", { "aria-hidden": "true" }, "→"), page.languages.mark(target), named(target),
  );
}

// The text that an unlabelled vector stands for, if it is known.
export function meant({ text }, language) {
  return text === undefined ? null : make("span", { class: "meant", lang: language, dir: "auto" }, text);
}

function headline({ translations: [best], target, form }, page) {
  return make(
    "div", {},
    make(
      "div", { class: "headline" },
      make("p", { class: "best", lang: target, dir: "auto", id: "best" }, best.word),
      copyButton(() => best.word, "the translation"),
    ),
    meant(best, target),
    make(
      "div", { class: "worth" },
      probabilityChip(best),
      best.mutual ? make("span", {}, `${best.word} ⇄ ${form}: each is the other’s best`) : null,
      make("button", { type: "button", class: "link", onclick: page.explain }, "How do you know?"),
    ),
  );
}

function others({ translations: [, ...rest], target, retrieval }, page) {
  const most = Math.max(...rest.map((one) => one.score), 1e-6);
  const rows = rest.map((one) => {
    const bar = make("i", { class: one.grade ?? "" });
    bar.style.width = `${Math.max(0, 100 * (one.probability ?? one.score / most))}%`;
    return make(
      "li", { class: one.grade === "weak" ? "weak" : "", title: `${retrieval}: ${one.score.toFixed(3)}` },
      make("span", {}, wordButton(one.word, target, page), meant(one, target)),
      make("span", { class: "meter", "aria-hidden": "true" }, bar),
      share(one),
    );
  });
  return make("ol", { class: "ranked", id: "translations", "aria-label": "Other translations", start: "2" }, ...rows);
}

// The words near to it that are listed and drawn, without the translations, which are shown above.
export function listed({ source, target, translations }, { neighbours }) {
  const shown = new Set(translations.map((one) => one.word));
  const words = Object.fromEntries(neighbours.map((one) => [one.language, one.words]));
  return { own: words[source].slice(0, NEIGHBOURS), other: words[target].filter((one) => !shown.has(one.word)).slice(0, NEIGHBOURS) };
}

// The element for the words near to it in both languages.
export function showNeighbours({ source, target, form }, { own, other }, page) {
  const list = (language, found) => make(
    "div", { id: language === source ? "own" : "other" },
    make("h3", {}, page.languages.mark(language), named(language)),
    make("ol", {}, ...found.map((one) => make(
      "li", {},
      make("span", {}, wordButton(one.word, language, page), meant(one, language)),
      make("span", { class: "score", title: "cosine similarity" }, one.score.toFixed(2)),
    ))),
  );
  return make(
    "section", { class: "card", "aria-labelledby": "near-title" },
    make("h2", { id: "near-title" }, page.languages.noun(source) === "word" ? "Words near " : "Rows near ", make("span", { lang: source, dir: "auto" }, form)),
    make(
      "div", { class: "near" },
      list(source, own),
      list(target, other),
    ),
  );
}

// A button that asks the same of the language that a word may be of.
export function turnButton(code, { text, source, target }, page) {
  const into = named(code === target ? source : target);
  const turn = () => page.lookUp(text, code);
  return make("button", { type: "button", class: "main", onclick: turn }, `Translate it into ${into}`);
}

// A button that looks a word up in its language.
export function wordButton(word, language, page, style = "word") {
  const lookUp = () => page.lookUp(word, language);
  return make("button", { type: "button", class: style, lang: language, dir: "auto", onclick: lookUp }, word);
}

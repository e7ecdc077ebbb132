// A sentence: its translation, and below it each source word above what it became.
import { openAlternatives } from "/page/alternatives.js";
import { copyButton } from "/page/copy.js";
import { make, unseen } from "/page/dom.js";
import { named } from "/page/languages.js";

const TIGHT_BEFORE = /^[.,;:!?…)\]}»”%-]/;
const TIGHT_AFTER = /[(\[{«“'’-]$/;

// The element for a translated sentence; choosing an alternative rewrites the text.
export function showSentence(answer, page) {
  const chosen = answer.tokens.map(shown);
  const text = make("p", { class: "best sentence", id: "best", lang: answer.target, dir: "auto" }, answer.text);
  const glosses = [];
  answer.tokens.forEach((token, place) => {
    const punctuation = !token.options.length && TIGHT_BEFORE.test(token.token);
    if (punctuation && glosses.length) glosses.at(-1).lastChild.append(token.token); // on the line of its word
    else glosses.push(gloss(token, answer, page, (word) => {
      chosen[place] = word;
      text.textContent = joined(chosen);
    }));
  });
  const words = answer.tokens.filter((one) => !one.kept);
  const weak = words.some(isWeak);
  return make(
    "article", { class: "card" },
    words.length && words.every(isWeak) ? make("p", { class: "notice" }, "No translation I would trust") : null,
    make("p", { class: "asked" }, page.languages.mark(answer.source), named(answer.source),
      make("span", { "aria-hidden": "true" }, "→"), page.languages.mark(answer.target), named(answer.target)),
    make("div", { class: "headline" }, text, copyButton(() => text.textContent, "the translation")),
    make("div", { class: "worth" }, "Word by word, without grammar.",
      make("button", { type: "button", class: "link", onclick: page.explain }, "How do you know?")),
    make("div", { class: "glosses", id: "glosses", role: "group", "aria-label": "Word by word" }, ...glosses),
    make("p", { class: "key" }, "Click a word for alternatives.",
      weak ? " Wavy and dimmed: no translation I would trust." : "",
      answer.tokens.some(isName) ? " In italics: kept as it is." : ""),
  );
}

// What the text has of a token, before an alternative is chosen.
const shown = ({ token, kept, options }) => (kept ? token : options[0].word);
const isWeak = ({ kept, options }) => !kept && options[0].grade === "weak";
const isName = ({ token, kept }) => kept && /[\p{L}\p{N}]/u.test(token);

function gloss(token, { source, target }, page, rewrite) {
  const style = ["gloss", isWeak(token) ? "weak" : "", isName(token) ? "kept" : ""].join(" ").trim();
  if (!token.options.length) {
    // What is kept stands below itself, so that both lines read through.
    const above = isName(token) ? token.token : "\u00a0";
    return make("span", { class: style }, make("span", { class: "from", "aria-hidden": "true" }, above),
      make("span", { class: "line" }, make("span", { class: "to" }, token.token)));
  }
  const button = make(
    "button", { type: "button", class: "to", lang: target, dir: "auto", "aria-haspopup": "listbox", "aria-expanded": "false" },
    shown(token),
  );
  const label = make("span", { class: "from", lang: source, dir: "auto" }, token.token, unseen(": "));
  button.addEventListener("click", () => openAlternatives(button, token, page, (word) => {
    button.textContent = word;
    rewrite(word);
  }));
  return make("span", { class: style }, label, make("span", { class: "line" }, button));
}

function joined(words) {
  let [text, before] = ["", "("];
  for (const word of words) {
    text += TIGHT_BEFORE.test(word) || TIGHT_AFTER.test(before) ? word : ` ${word}`;
    before = word;
  }
  return text;
}

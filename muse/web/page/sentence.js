// A sentence: its translation, and below it each source word above what it became.
import { openAlternatives } from "/page/alternatives.js";
import { copyButton } from "/page/copy.js";
import { make, unseen } from "/page/dom.js";
import { named } from "/page/languages.js";

const TIGHT_BEFORE = /^[.,;:!?…)\]}»”%-]/;
const TIGHT_AFTER = /[(\[{«“'’-]$/;

// The element for a translated sentence; choosing an alternative rewrites the text.
export function showSentence(answer, page) {
  const chosen = answer.tokens.map(({ token, options }) => (options.length ? options[0].word : token));
  const text = make("p", { class: "best sentence", id: "best", lang: answer.target, dir: "auto" }, answer.text);
  const glosses = [];
  answer.tokens.forEach((token, place) => {
    const punctuation = !token.options.length && !token.kept && TIGHT_BEFORE.test(token.token);
    if (punctuation && glosses.length) glosses.at(-1).lastChild.append(token.token); // on the line of its word
    else glosses.push(gloss(token, answer, page, (word) => {
      chosen[place] = word;
      text.textContent = joined(chosen);
    }));
  });
  const words = answer.tokens.filter((one) => one.options.length);
  const weak = words.some((one) => isWeak(one));
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
      answer.tokens.some((one) => one.kept) ? " In italics: kept as it is." : ""),
  );
}

const isWeak = ({ options }) => options.length > 0 && options[0].grade === "weak";

function gloss(token, { source, target }, page, rewrite) {
  const { options, kept } = token;
  const style = ["gloss", isWeak(token) ? "weak" : "", kept ? "kept" : ""].join(" ").trim();
  if (!options.length) {
    // What is kept stands below itself, so that both lines read through.
    return make("span", { class: style }, make("span", { class: "from", "aria-hidden": "true" }, kept ? token.token : "\u00a0"),
      make("span", { class: "line" }, make("span", { class: "to" }, token.token)));
  }
  const button = make(
    "button", { type: "button", class: "to", lang: target, dir: "auto", "aria-haspopup": "listbox", "aria-expanded": "false" },
    options[0].word,
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

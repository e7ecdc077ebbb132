// Reasons: what spoke for the best translation of a word, and against the next, by kind of evidence.
import { ask } from "/page/api.js";
import { make } from "/page/dom.js";

const LOOKED_AT = 20; // nearest words of each that are compared
const EVEN = 1.05; // a factor of the odds up to which a kind of evidence speaks for neither

// The element that is filled once the server has found the reasons; it stays empty without any.
export function reasons({ source, target, form, translations: [best, next] }) {
  const element = make("div", { id: "reasons" }, title(best, next), make("p", { class: "hint" }, "Gathering the evidence…"));
  ask("/api/reasons", { src: source, tgt: target, word: form }).then(
    (found) => element.replaceChildren(...(found ? shown(form, found) : [])),
    () => element.replaceChildren(), // the other figures are of use without them
  );
  return element;
}

const title = (first, second) => make("h3", {}, `Why ${first.word}, and not ${second.word}`);

function shown(form, { rank, first, second, contributions }) {
  const told = Object.keys(contributions).length > 0;
  const most = Math.max(...Object.values(contributions).map(Math.abs), 1e-6);
  const kinds = Object.entries(sentences(form, rank, first, second)).map(([kind, lines]) => [kind, lines, contributions[kind] ?? 0]);
  kinds.sort((one, other) => Math.abs(other[2]) - Math.abs(one[2]));
  return [
    title(first, second),
    make("dl", {}, ...kinds.flatMap(([kind, lines, share]) => [
      make("dt", {}, kind),
      make("dd", {}, told ? weighed(share, share / most, first, second) : null, ...lines.map((line) => make("span", { class: "why" }, line))),
    ])),
    told ? make("p", { class: "hint" }, `How many times as likely each kind of evidence makes ${first.word} or ${second.word}, shared out among the kinds by their Shapley values.`) : "",
  ];
}

// A bar towards the answer that a kind of evidence speaks for, and by what it multiplies the odds.
function weighed(share, length, first, second) {
  const bar = make("i", { class: share < 0 ? "other" : "" });
  bar.style.width = `${Math.abs(100 * length)}%`;
  const odds = Math.exp(Math.abs(share));
  const times = odds < 10 ? odds.toFixed(1) : Math.round(odds).toLocaleString("en");
  const text = odds < EVEN ? "for neither" : `for ${(share < 0 ? second : first).word}, odds × ${times}`;
  return make("span", { class: "weighed" }, make("b", {}, text), make("span", { class: "bar", "aria-hidden": "true" }, bar));
}

function sentences(form, rank, ...both) {
  const number = (one) => `no. ${one.toLocaleString("en")}`;
  const place = (nearer, word) => (nearer < LOOKED_AT ? `${nearer ? `${number(nearer + 1)} of those nearest` : "the nearest"} to ${word}` : `not among the ${LOOKED_AT} nearest to ${word}`);
  return {
    vectors: both.map(({ word, nearer, nearer_back: back }) => `${word} is ${place(nearer, form)}; ${form} is ${place(back, word)}.`),
    spelling: both.map(({ word, alike }) => (alike === 1 ? `${word} is spelled the same.` : `${word} has ${Math.round(100 * alike)} % of its letters in common with ${form}.`)),
    frequency: [`By frequency, ${form} is ${number(rank)} of its language, ${both.map((one) => `${one.word} ${number(one.rank)}`).join(" and ")}.`],
  };
}

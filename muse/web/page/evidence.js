// "How do you know?": what an answer's figures mean, the verdict on the space, and the signature of its run.
import { gradeLegend, percent, probabilityChip, verdictChip } from "/page/chip.js";
import { copyButton } from "/page/copy.js";
import { $, icon, make } from "/page/dom.js";
import { named, pathOf } from "/page/languages.js";
import { reasons } from "/page/reasons.js";

const SCORES = {
  csls: "CSLS: cosine similarity corrected for words that are close to everything. "
    + "Higher is better; negative scores are normal.",
  nn: "Cosine similarity. CSLS, which is more often right, needs figures of these languages that are not known yet.",
};
const DIGITS = 12; // of a checksum

// Opens the dialog about the space, and about the answer to a word if there is one.
export function openEvidence(space, answered) {
  const dialog = $("evidence");
  const close = make(
    "button", { type: "button", class: "quiet icon", "aria-label": "Close", onclick: () => dialog.close() },
    icon("m5 5 10 10M15 5 5 15"),
  );
  dialog.replaceChildren(
    make("div", { class: "dialog-head" }, make("h2", { id: "evidence-title" }, "How do you know?"), close),
    make(
      "div", { class: "dialog-body" },
      ...(answered?.translations?.length ? aboutAnswer(answered).filter(Boolean) : []),
      ...(answered && !answered.translations ? aboutSentence(answered) : []),
      ...space.languages.filter((one) => one.signature).flatMap((one) => aboutMapping(one, space)),
      ...aboutSpace(space),
    ),
  );
  dialog.onclick = (event) => { if (event.target === dialog) dialog.close(); }; // its backdrop
  dialog.showModal();
}

function row(name, value, why) {
  return [make("dt", {}, name), make("dd", {}, value, why ? make("span", { class: "why" }, why) : null)];
}

function aboutAnswer(answered) {
  const { form, retrieval, answers, translations: [best, next] } = answered;
  const rated = best.probability !== null;
  return [
    answers === "all" && next ? reasons(answered) : null,
    make("h3", {}, `${form} → ${best.word}`),
    make(
      "dl", {},
      ...row("probability", probabilityChip(best), rated
        ? `Of a hundred answers with this figure, ${ofHundred(best.probability)} right. ${ESTIMATED[answers]}`
        : "The figures that turn scores into probabilities are being computed, or the space has too few words."),
      ...row("signs", gradeLegend()),
      ...row("mutual", best.mutual ? "yes" : "no", best.mutual
        ? `${form} is also the best translation of ${best.word}.`
        : `The best translation of ${best.word} is another word than ${form}.`),
      ...row("score", `${best.score.toFixed(3)}${next ? `; ${next.score.toFixed(3)} of ${next.word}, the next` : ""} (${retrieval})`,
        SCORES[retrieval.split(":")[0]] + (answers === "all" ? CHOSEN : "")),
    ),
  ];
}

const ESTIMATED = {
  all: "It is estimated from words whose translations are known: of this dictionary, or of other languages.",
  csls: "It is estimated without a dictionary: each half of the vectors’ dimensions translates on its own, "
    + "and the scores are compared with how often the two agree.",
};
const CHOSEN = " Other evidence counts too: the best answer need not have the highest score.";

function aboutSentence({ retrieval, answers }) {
  return [
    make("h3", {}, "A sentence"),
    make("p", {}, "Every word is looked up alone; grammar and word order are not considered. "
      + (SCORES[retrieval.split(":")[0]] ?? "")),
    make("p", {}, `A word is dimmed if none of its translations is probably right. ${ESTIMATED[answers]}`),
  ];
}

function aboutMapping({ name, verdict, held_out: heldOut, signature, ...own }, space) {
  const title = `${named(name)} in the space of ${named(space.pivot)} `;
  return [
    make("h3", {}, title, verdict ? verdictChip(verdict.label) : ""),
    ...(verdict?.confidence == null ? [] : [make("p", {}, `Confidence that the languages are aligned: `
      + `${percent(verdict.confidence)}. It is about the space as a whole; single answers may still be wrong.`)]),
    ...(own.expected_p_at_1 === null ? [] : [make("p", {}, `About ${Math.round(own.expected_p_at_1)} % of first `
      + `translations are right [${own.expected_ci95.map(Math.round).join(", ")}], of words like the most frequent ones: `
      + "estimated without a dictionary.")]),
    ...(verdict?.agreement == null ? [] : shares(verdict)),
    make("p", {}, heldOut ? onDictionary(heldOut) : withoutPairs(verdict, signature)),
    make("div", { class: "signature" },
      make("code", { id: `signature-${name}` }, signature), copyButton(() => signature, "the signature")),
  ];
}

// Of spaces that were exported, or made by other programs, it is not recorded.
function withoutPairs(verdict, signature) {
  if (signature.includes("dictionary")) return "A dictionary was used; how well it was learned is not recorded.";
  return verdict?.agreement == null
    ? "The space does not record whether a dictionary was used."
    : "No dictionary was used, neither to align nor to judge.";
}

function ofHundred(probability) {
  if (probability >= 0.995) return "more than 99 are";
  if (probability < 0.005) return "fewer than 1 is";
  return `about ${Math.round(100 * probability)} are`;
}

function onDictionary({ pairs, held_out_p_at_1: right, ci95 }) {
  const interval = ci95.map((one) => one.toFixed(1)).join(", ");
  return `Of the words of its dictionary (${pairs.toLocaleString("en")} pairs), ${right.toFixed(1)} % [${interval}] `
    + "were translated correctly while they were held out.";
}

// Two bars: translations found by a mapping that was not fitted to them, and what chance would find.
function shares(verdict) {
  const bar = (label, share, style) => {
    const line = make("i", { class: style });
    line.style.width = `${100 * share}%`;
    return [make("span", {}, label), line, make("span", {}, percent(share))];
  };
  return [
    make("p", {}, "Translations that a mapping recovered although they were held out from it:"),
    make("div", { class: "bars" },
      ...bar("this space", verdict.agreement, ""),
      ...(verdict.null == null ? [] : bar("without true translations", verdict.null, "other"))),
  ];
}

function aboutSpace(space) {
  const files = space.languages.flatMap((one) => one.files.map((file) => row(
    `${named(one.name)} vectors`, file.name, file.sha256 ? `sha256 ${file.sha256.slice(0, DIGITS)}…` : "")));
  return [
    make("h3", {}, `The space ${space.name}`),
    make(
      "dl", {},
      ...row("words", space.languages.map((one) => `${one.words.toLocaleString("en")} ${named(one.name)}`).join(", ")),
      ...row("dimensions", String(space.dimension)),
      ...(space.method ? row("method", space.method) : []),
      ...(space.mapping ? row("mapping", space.mapping) : []),
      ...files.flat(),
      ...(space.muse_version ? row("made by", `muse ${space.muse_version}`) : []),
    ),
    make("p", { class: "hint" }, "A page with every figure, and the accuracy on a dictionary: ",
      make("code", {}, `muse report ${pathOf(space)}`), ". Words such as CSLS and pivot are explained by ",
      make("code", {}, "muse --glossary"), "."),
  ];
}

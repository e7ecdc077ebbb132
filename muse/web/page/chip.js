// Chips: a probability or a verdict in a pill whose colour and sign say whether to trust it.
import { make, unseen } from "/page/dom.js";

const VERDICTS = { aligned: "trusted", doubtful: "doubtful", failed: "failed" };
const GRADES = { trusted: ["trusted", "Trusted: "], likely: ["doubtful", "Likely: "], weak: ["weak", "Weak: "] };

// A share as whole percents; nothing is certain, and nothing impossible.
export function percent(share) {
  if (share > 0.99) return ">99 %";
  if (share < 0.01) return "<1 %";
  return `${Math.round(100 * share)} %`;
}

export function probabilityChip({ probability, grade }) {
  if (probability === null) {
    return make("span", { class: "chip", title: "The probabilities of this space are not known yet" }, "not rated yet");
  }
  const [role, meaning] = GRADES[grade];
  return make("span", { class: `chip ${role}` }, unseen(meaning), percent(probability));
}

// What the signs of the chips mean, in a line.
export function gradeLegend() {
  const chip = ([role, meaning]) => make("span", { class: `chip ${role}` }, meaning.replace(": ", "").toLowerCase());
  return make("p", { class: "grades" }, ...Object.values(GRADES).map(chip));
}

// The same as plain text, for lists; before anything is known, the score.
export function share({ probability, grade, score }) {
  if (probability === null) return make("span", { class: "share" }, score.toFixed(3));
  const [role, meaning] = GRADES[grade];
  return make("span", { class: `share ${role}` }, unseen(meaning), percent(probability));
}

export function verdictChip(label) {
  return make("span", { class: `chip ${VERDICTS[label] ?? ""}` }, label);
}

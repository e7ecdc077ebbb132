// Chips: a probability or a verdict in a pill whose colour and sign say whether to trust it.
import { make, unseen } from "/page/dom.js";

const ROLES = { aligned: "trusted", doubtful: "doubtful", failed: "failed" };

// A share as whole percents; nothing is certain, and nothing impossible.
export function percent(share) {
  if (share > 0.99) return ">99 %";
  if (share < 0.01) return "<1 %";
  return `${Math.round(100 * share)} %`;
}

export function probabilityChip({ probability, trusted }) {
  if (probability === null) {
    return make("span", { class: "chip", title: "Probabilities of this space are not known yet" }, "not rated yet");
  }
  const meaning = trusted ? "Probably right: " : "Doubtful: ";
  return make("span", { class: `chip ${trusted ? "trusted" : "doubtful"}` }, unseen(meaning), percent(probability));
}

// The same as plain text, for lists; before anything is known, the score.
export function share({ probability, trusted, score }) {
  if (probability === null) return make("span", { class: "share" }, score.toFixed(3));
  const style = trusted ? "share trusted" : "share";
  return make("span", { class: style }, unseen(trusted ? "Probably right: " : "Doubtful: "), percent(probability));
}

export function verdictChip(label) {
  return make("span", { class: `chip ${ROLES[label] ?? ""}` }, label);
}

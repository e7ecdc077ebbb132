// Trouble: what is wrong, and what to do about it, with buttons that do it.
import { Refused, Unreachable, ask } from "/page/api.js";
import { $, make } from "/page/dom.js";
import { named, pathOf } from "/page/languages.js";
import { turnButton, wordButton } from "/page/word.js";

const PAUSE = 2_000; // milliseconds between two attempts to reach the server
let waiting = null;

export function clearTrouble() {
  clearTimeout(waiting);
  $("problem").replaceChildren();
}

// Says what went wrong with a question; `retry` asks it again.
export function showTrouble(error, question, page, retry) {
  clearTrouble();
  if (error instanceof Refused && error.status === 404) showUnknown(error, question, page);
  else if (error instanceof Unreachable) showUnreachable(page, retry);
  else showError(error, retry);
}

// Says that the address asks for languages that the space lacks.
export function showStrangers(codes, page) {
  const list = new Intl.ListFormat("en");
  clearTrouble();
  box(
    `This space has no ${list.format(codes.map(named))}`, "",
    make("p", {}, `The address asks for it; the languages here are ${list.format(page.languages.codes.map(named))}.`),
  );
}

function box(title, kind, ...rest) {
  $("problem").replaceChildren(make("div", { class: `trouble ${kind}` }, make("h2", {}, title), ...rest));
}

function showUnknown({ suggestions, languages }, question, page) {
  const { text, source } = question;
  if (page.languages.noun(source) === "row") {
    box(`“${text}” is no row of ${named(source)}`, "", make("p", {}, "Choose one of those suggested for words of its text, or give its id."));
    return;
  }
  const elsewhere = languages.filter((code) => page.languages.codes.includes(code));
  const close = suggestions.map((word) => wordButton(word, source, page, ""));
  if (elsewhere.length) {
    const name = named(elsewhere[0]);
    box(
      `“${text}” is ${article(name)} ${name} word`, "",
      make("div", { class: "choices" }, ...elsewhere.map((code) => turnButton(code, question, page))),
      close.length ? make("div", { class: "choices", id: "spellings" }, `In ${named(source)}:`, ...close) : null,
    );
    return;
  }
  const advice = close.length ? "Did you mean one of these?" : "Check its spelling, or choose its language above.";
  box(
    `“${text}” is not in the ${named(source)} vocabulary`, "",
    make("p", {}, advice),
    close.length ? make("div", { class: "choices", id: "spellings" }, ...close) : null,
  );
}

const article = (name) => (/^[AEIOU]/.test(name) ? "an" : "a");

// Tries again by itself, so that a server that is started again is found without a click.
function showUnreachable(page, retry) {
  const command = `muse serve ${pathOf(page.space)} --port ${location.port || 80}`;
  box(
    "The explorer does not answer", "bad",
    make("p", {}, "The server on this machine was stopped, or the connection was lost. Start it again with the command that you used, such as:"),
    make("p", {}, make("code", {}, command)),
    make("p", {}, "This page continues as soon as it answers."),
    make("div", { class: "choices" }, make("button", { type: "button", class: "main", onclick: retry }, "Try again now")),
  );
  const knock = () => {
    waiting = setTimeout(() => ask("/healthz").then(retry, knock), PAUSE);
  };
  knock();
}

const ADVICE = {
  422: "Change the text or the languages.",
  503: "Install it, then start the explorer again.",
};

function showError(error, retry) {
  box(
    error.busy ? "Too many questions at once" : "This could not be answered", "bad",
    make("p", {}, error.message),
    make("p", {}, error.busy ? "Wait a second, then try again." : ADVICE[error.status] ?? "Try again; if it happens again, the terminal of muse serve may say more."),
    make("div", { class: "choices" }, make("button", { type: "button", onclick: retry }, "Try again")),
  );
}

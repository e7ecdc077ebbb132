// Alternatives for a word of a sentence: a list below it, closed by a choice, a click elsewhere, or Escape.
import { share } from "/page/chip.js";
import { make } from "/page/dom.js";

const EDGE = 8; // pixels to keep from the sides of the window
let closeOpen = () => {};

export function closeAlternatives() {
  closeOpen();
}

// Opens the list for `button`, which shows one of the token's options; `choose` gets the word chosen.
export function openAlternatives(button, token, page, choose) {
  const again = button.getAttribute("aria-expanded") === "true";
  closeOpen();
  if (again) return;
  const { target } = page.languages;
  const options = withItself(token).map((one) => {
    const chosen = one.word === button.textContent;
    return make(
      "div", { role: "option", tabindex: chosen ? "0" : "-1", "aria-selected": String(chosen), "data-word": one.word },
      make("span", { lang: target, dir: "auto" }, one.word), one.itself ? make("small", {}, "as it is") : share(one),
    );
  });
  const list = make("div", { role: "listbox", "aria-label": `Alternatives for ${token.token}` }, ...options);
  const box = make("div", { class: "popover", id: "alternatives" }, list, lookUpButton(token, page));
  const pick = (option) => { choose(option.dataset.word); closeOpen(); button.focus(); };
  for (const option of options) option.addEventListener("click", () => pick(option));
  box.addEventListener("keydown", (event) => pressed(event, options, pick, button));
  box.addEventListener("focusout", ({ relatedTarget }) => {
    if (relatedTarget && relatedTarget !== button && !box.contains(relatedTarget)) closeOpen();
  });
  button.closest(".gloss").append(box);
  button.setAttribute("aria-expanded", "true");
  place(box);
  const outside = (event) => { if (!box.contains(event.target) && event.target !== button) closeOpen(); };
  document.addEventListener("pointerdown", outside);
  closeOpen = () => {
    document.removeEventListener("pointerdown", outside);
    box.remove();
    button.setAttribute("aria-expanded", "false");
    closeOpen = () => {};
  };
  (options.find((one) => one.getAttribute("aria-selected") === "true") ?? options[0]).focus({ preventScroll: true });
}

// The options, and first the token itself if the text kept it.
function withItself({ token, kept, options }) {
  return kept ? [{ word: token, itself: true }, ...options.filter((one) => one.word !== token)] : options;
}

function lookUpButton(token, page) {
  const word = token.form ?? token.token;
  const lookUp = () => page.lookUp(word, page.languages.source);
  return make("button", { type: "button", class: "quiet more", onclick: lookUp }, `Look up “${word}” alone`);
}

// Below the word, moved sideways where it would leave the window.
function place(box) {
  [box.style.top, box.style.left] = ["calc(100% + 4px)", "0"];
  const { left, right } = box.getBoundingClientRect();
  const shift = Math.min(0, document.documentElement.clientWidth - EDGE - right) || Math.max(0, EDGE - left);
  box.style.left = `${shift}px`;
}

function pressed(event, options, pick, button) {
  const at = options.indexOf(document.activeElement);
  const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
  if (event.key === "Escape") { closeOpen(); button.focus(); }
  else if (event.key === "Home") options[0].focus();
  else if (event.key === "End") options.at(-1).focus();
  else if (step) options[(Math.max(at, 0) + step + options.length) % options.length].focus();
  else if ((event.key === "Enter" || event.key === " ") && at >= 0) pick(options[at]);
  else return;
  event.preventDefault();
  event.stopPropagation();
}

// A button that copies a text, and says for a moment that it has.
import { icon, make } from "/page/dom.js";

const SHEETS = "M7 7h9v9H7zM4 13V4h9";
const DONE = "m4 10 4 4 8-9";
const MOMENT = 1_500; // milliseconds

export function copyButton(text, what) {
  const label = `Copy ${what}`;
  const button = make("button", { type: "button", class: "quiet icon", "aria-label": label, title: label }, icon(SHEETS));
  button.addEventListener("click", async () => {
    const copied = await write(text());
    button.replaceChildren(icon(copied ? DONE : SHEETS));
    button.classList.toggle("done", copied);
    button.setAttribute("aria-label", copied ? "Copied" : "This browser does not allow copying");
    setTimeout(() => {
      button.replaceChildren(icon(SHEETS));
      button.classList.remove("done");
      button.setAttribute("aria-label", label);
    }, MOMENT);
  });
  return button;
}

async function write(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch { // not granted, or not a secure address
    return false;
  }
}

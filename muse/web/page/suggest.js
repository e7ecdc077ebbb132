// Suggestions below the box while a word is typed: the most frequent words that start with it, or rows by id and text.
import { ask } from "/page/api.js";
import { $, make } from "/page/dom.js";
import { Latest } from "/page/latest.js";

const LONGEST = 40; // characters: beyond, it is a sentence

export class Suggestions {
  // `language()` is the language typed in; `choose(word)` is called for the word chosen.
  constructor(language, choose) {
    this.language = language;
    this.choose = choose;
    this.latest = new Latest();
    this.field = $("text");
    this.list = $("suggestions");
    this.field.addEventListener("input", () => this.look());
    this.field.addEventListener("keydown", (event) => this.pressed(event));
    this.field.addEventListener("blur", () => this.close());
  }

  get isOpen() { return !this.list.hidden; }

  get options() { return [...this.list.children]; }

  look() {
    this.point(-1); // what was chosen completes the word typed before, not this one
    const prefix = this.field.value.trimStart();
    if (!prefix.trim() || prefix.length > LONGEST || /\n/.test(prefix)) {
      this.close();
      return;
    }
    const lang = this.language(); // unknown while the page starts: the server's first then
    this.latest.run(
      (signal) => ask("/api/suggest", { ...(lang && { lang }), prefix, top: 8 }, signal),
      ({ words, language }) => this.show(words, prefix, language),
      () => this.close(), // suggestions are a courtesy: the question itself says what is wrong
    );
  }

  show(words, prefix, lang) {
    const only = words.length === 1 && words[0].word === prefix;
    if (!words.length || only || document.activeElement !== this.field) {
      this.close();
      return;
    }
    this.list.replaceChildren(...words.map(({ word, rank, text }, place) => make(
      "li",
      {
        role: "option", id: `suggestion-${place}`, "aria-selected": "false", "data-word": word,
        onpointerdown: (event) => event.preventDefault(), // keeps the focus in the box
        onclick: () => this.take(word),
      },
      make("span", { lang, dir: "auto" }, ...emphasised(word, prefix)),
      text === undefined ? null : make("span", { class: "meant", lang, dir: "auto" }, text),
      rank === null ? null : make("span", { class: "rank" }, `no. ${rank.toLocaleString("en")}`),
    )));
    this.list.hidden = false;
    this.field.removeAttribute("aria-activedescendant");
    $("status").textContent = `${words.length} suggestion${words.length > 1 ? "s" : ""}; arrow keys choose one`;
  }

  close() {
    this.latest.cancel();
    this.list.hidden = true;
    this.field.removeAttribute("aria-activedescendant");
  }

  take(word) {
    this.close();
    this.choose(word);
  }

  pressed(event) {
    if (!this.isOpen) return;
    const chosen = this.options.findIndex((option) => option.getAttribute("aria-selected") === "true");
    if (event.key === "ArrowDown") this.point(chosen + 1);
    else if (event.key === "ArrowUp") this.point(chosen < 0 ? this.options.length - 1 : chosen - 1);
    else if (event.key === "Enter" && chosen >= 0) this.take(this.options[chosen].dataset.word);
    else if (event.key === "Escape") this.close();
    else return;
    event.preventDefault();
    event.stopImmediatePropagation(); // Enter chooses here, and asks elsewhere
  }

  // Marks the option at a place; one before the first or after the last is none, back in the box.
  point(place) {
    this.options.forEach((option, i) => option.setAttribute("aria-selected", String(i === place)));
    const option = this.options[place];
    if (!option) {
      this.field.removeAttribute("aria-activedescendant");
      return;
    }
    this.field.setAttribute("aria-activedescendant", option.id);
    option.scrollIntoView({ block: "nearest" });
  }
}

// The letters that were typed stand out, unless the word spells them with others.
function emphasised(word, prefix) {
  const [start, rest] = [word.slice(0, prefix.length), word.slice(prefix.length)];
  const same = start.localeCompare(prefix, undefined, { sensitivity: "base" }) === 0;
  return same ? [start, make("b", {}, rest)] : [word];
}

// The box: a word or a sentence, with suggestions, or a sentence and its translation, whose words are to be linked.
// Enter asks, Shift and Enter breaks the line, the height follows the text.
import { $ } from "/page/dom.js";
import { Suggestions } from "/page/suggest.js";

export class Box {
  // `language()` is the language typed in; `asked(kind)` is called for the text, its kind known where a word was chosen.
  constructor(language, asked) {
    this.field = $("text");
    this.other = $("translation");
    // Before the listener below: suggestions take the keys that choose one.
    const suggestions = new Suggestions(language, (word) => { this.write(word); asked("word"); });
    const submit = () => {
      suggestions.close(); // those still awaited would cover the answer
      if (this.text && this.translation !== "") asked(null);
      else if (this.text) this.other.focus();
    };
    for (const field of [this.field, this.other]) {
      field.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
        event.preventDefault();
        submit();
      });
      field.addEventListener("input", () => this.fit());
    }
    $("ask").addEventListener("submit", (event) => { event.preventDefault(); submit(); });
    $("clear").addEventListener("click", () => { this.write("", this.translation === null ? null : ""); this.field.focus(); });
    const modes = [$("translate-mode"), $("link-mode")];
    modes.forEach((mode, place) => {
      mode.addEventListener("click", () => this.write(this.field.value, place ? this.other.value : null));
      mode.addEventListener("keydown", ({ key }) => {
        if (key === "ArrowLeft" || key === "ArrowRight") { modes[1 - place].focus(); modes[1 - place].click(); }
      });
    });
  }

  get text() { return this.field.value.trim(); }

  // The translation of the text; null where the text is to be translated.
  get translation() { return this.other.hidden ? null : this.other.value.trim(); }

  write(text, translation = null) {
    const linking = translation !== null;
    this.field.value = text;
    if (linking) this.other.value = translation;
    this.other.hidden = !linking;
    [$("translate-mode"), $("link-mode")].forEach((mode, place) => {
      mode.setAttribute("aria-selected", String(linking === Boolean(place)));
      mode.tabIndex = linking === Boolean(place) ? 0 : -1;
    });
    this.fit();
  }

  fit() {
    $("go").textContent = this.translation !== null ? "Link" : document.body.matches(".of-rows") ? "Find" : "Translate";
    for (const field of [this.field, this.other]) {
      field.style.height = "auto";
      field.style.height = `${field.scrollHeight}px`;
    }
    $("clear").hidden = !this.field.value && !this.translation;
    $("examples").hidden = Boolean(this.field.value);
  }
}

// The box: a word or a sentence, with suggestions; Enter asks, Shift and Enter breaks the line, its height follows the text.
import { $ } from "/page/dom.js";
import { Suggestions } from "/page/suggest.js";

export class Box {
  // `language()` is the language typed in; `asked(kind)` is called for the text, its kind known where a word was chosen.
  constructor(language, asked) {
    this.field = $("text");
    // Before the listener below: suggestions take the keys that choose one.
    const suggestions = new Suggestions(language, (word) => { this.write(word); asked("word"); });
    const submit = () => {
      suggestions.close(); // those still awaited would cover the answer
      if (this.text) asked(null);
    };
    this.field.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      submit();
    });
    this.field.addEventListener("input", () => this.fit());
    $("ask").addEventListener("submit", (event) => { event.preventDefault(); submit(); });
    $("clear").addEventListener("click", () => { this.write(""); this.field.focus(); });
  }

  get text() { return this.field.value.trim(); }

  write(text) {
    this.field.value = text;
    this.fit();
  }

  fit() {
    this.field.style.height = "auto";
    this.field.style.height = `${this.field.scrollHeight}px`;
    $("clear").hidden = !this.field.value;
    $("examples").hidden = Boolean(this.field.value);
  }
}

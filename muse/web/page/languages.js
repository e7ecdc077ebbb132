// The languages of the space: their names, their places on the map, and the direction that is translated.
import { $, make } from "/page/dom.js";

const NAMES = new Intl.DisplayNames("en", { type: "language", fallback: "none" });

const plain = new Set(); // the names of unlabelled vectors, such as "new", which is no Newari

// The English name of a language code, or the code itself.
export function named(code) {
  if (plain.has(code)) return code;
  try {
    return NAMES.of(code) ?? code;
  } catch {
    return code;
  }
}

// The folder of a space as a shell reads it.
export function pathOf(space) {
  if (!space?.folder) return `FOLDER/${space?.name ?? "SPACE"}`;
  return /^[\w./@%+=:,-]+$/.test(space.folder) ? space.folder : `'${space.folder.replaceAll("'", "'\\''")}'`;
}

export class Languages {
  constructor(space, changed) {
    this.space = space;
    this.codes = space.languages.map((one) => one.name);
    for (const one of space.languages) if (!one.ranked) plain.add(one.name);
    for (const select of [$("source"), $("target")]) {
      select.replaceChildren(...this.codes.map((code) => make("option", { value: code }, named(code))));
      select.addEventListener("change", () => { this.keepApart(select); changed(); });
    }
    this.set(this.defaultSource(), space.pivot);
  }

  get source() { return $("source").value; }

  get target() { return $("target").value; }

  get question() { return { src: this.source, tgt: this.target }; }

  defaultSource() {
    return this.codes.find((code) => code !== this.space.pivot);
  }

  // The language that a source is translated into unless another is chosen.
  defaultTarget(source) {
    return source === this.space.pivot ? this.defaultSource() : this.space.pivot;
  }

  set(source, target) {
    $("source").value = source;
    $("target").value = target;
  }

  swap() {
    this.set(this.target, this.source);
  }

  // Makes `code` the source; its present target, or else the present source, becomes the target.
  setSource(code) {
    if (code === this.target) this.swap();
    else $("source").value = code;
  }

  keepApart(changed) {
    const other = changed === $("source") ? $("target") : $("source");
    if (changed.value === other.value) other.value = this.codes.find((code) => code !== changed.value);
  }

  // The two languages in the order of the map, which does not depend on the direction: the pivot is last.
  get onMap() {
    const place = (code) => (code === this.space.pivot ? this.codes.length : this.codes.indexOf(code));
    return [this.source, this.target].sort((one, other) => place(one) - place(other));
  }

  // The sign of a language: a disc or a diamond.
  mark(code) {
    return make("span", { class: `mark ${code === this.onMap[0] ? "one" : "two"}`, "aria-hidden": "true" });
  }

  // What a language has: words, or unlabelled vectors.
  noun(code) {
    return this.of(code).ranked ? "word" : "row";
  }

  // Whether they have words of two languages, of which there is a map.
  get mapped() {
    return [this.source, this.target].every((code) => this.noun(code) === "word");
  }

  of(code) {
    return this.space.languages.find((one) => one.name === code);
  }
}

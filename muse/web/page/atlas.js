// The atlas: which pair of languages the map shows, and where on it the word is that was looked up.
import { Unreachable, ask } from "/page/api.js";
import { Latest } from "/page/latest.js";

const NONE = "No two frequent words are mutual translations.";
const DRAWING = "Drawing the map…";
const AGAIN = 300; // milliseconds between two questions whether the map is drawn

export class Atlas {
  constructor(map) {
    this.map = map;
    this.drawings = new Latest();
    this.pair = ""; // the languages of the map that is shown or being drawn
    this.ready = false;
    this.word = null; // the answer whose word is to be isolated, with the words `near` it
    this.near = null;
    map.used = () => { this.word = null; }; // what a hand does on the map comes first
    this.toIntroduce = false; // whether both languages are to be seen coming together
  }

  // Shows the map of two languages, which is the same in both directions.
  open(languages) {
    const pair = languages.onMap;
    if (this.pair === pair.join()) return;
    Object.assign(this, { pair: pair.join(), ready: false });
    if (!languages.mapped) return;
    this.map.show({ points: [], regions: [] }, pair[0]);
    this.map.say(DRAWING);
    this.drawings.run((signal) => drawn(pair, signal), (picture) => {
      this.ready = true;
      this.map.show(picture, pair[0]);
      if (!picture.points.length) this.map.say(NONE);
      else if (this.toIntroduce && !this.word) this.map.unite();
      this.toIntroduce = false;
      this.mark();
    }, (error) => {
      this.pair = ""; // to be drawn when it is asked for next
      this.map.say(error instanceof Unreachable ? "The explorer does not answer." : error.message, true);
    });
  }

  // Takes an answer whose word will be isolated.
  expect(answer) {
    Object.assign(this, { word: answer, near: null });
  }

  // Isolates its word with the words listed near it, once all are there.
  isolate(answer, near) {
    if (answer !== this.word) return;
    this.near = near;
    this.mark();
  }

  release() {
    this.word = null;
    if (this.ready) this.map.release();
  }

  // Shows once, when the map is there, how the two languages came together, unless a word was asked for by then.
  introduce() {
    this.toIntroduce = true;
  }

  async mark() {
    if (!this.ready || !this.word || !this.near) return;
    const { word, near } = this;
    try {
      const { source, target, form, translations: [best] } = word;
      const beside = Object.entries(near).flatMap(([side, words]) => words.map((one) => [side, one.word]));
      const place = await ask("/api/place", [["src", source], ["tgt", target], ["word", form], ["answer", best?.word ?? ""], ...beside]);
      if (place && word === this.word && this.ready) this.map.isolate(place);
    } catch { /* the map is of use without this word */ }
  }
}

async function drawn([src, tgt], signal) {
  for (;;) {
    const picture = await ask("/api/picture", { src, tgt }, signal);
    if (picture.ready) return picture;
    await new Promise((resolve) => { setTimeout(resolve, AGAIN); });
  }
}

// Sentences with a word, and with its translation, from the texts that are indexed.
import { make } from "/page/dom.js";
import { named } from "/page/languages.js";

// The element for the sentences of both languages; null if there are none.
export function showExamples({ form }, { source, target }, page) {
  const sides = [source, target].filter((sentences) => sentences.length);
  return sides.length === 0 ? null : make(
    "section", { class: "card", "aria-labelledby": "sentences-title", id: "sentences" },
    make("h2", { id: "sentences-title" }, "Sentences with ", make("span", { dir: "auto" }, form)),
    ...sides.flatMap((sentences) => [
      make("h3", {}, page.languages.mark(sentences[0].language), named(sentences[0].language)),
      make("ul", {}, ...sentences.map(sentence)),
    ]),
  );
}

function sentence({ language, words, after, file, line }) {
  const parts = words.flatMap(({ before, word }) => [before, make("mark", {}, word)]);
  const place = `${file.split(/[\\/]/u).pop()}:${line}`;
  return make("li", {}, make("span", { lang: language, dir: "auto" }, ...parts, after), " ", make("small", {}, place));
}

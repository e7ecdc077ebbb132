// A sentence and its translation, whose words light up with their counterparts.
import { make } from "/page/dom.js";
import { named } from "/page/languages.js";

const STYLE = "/page/links/reader.css";
const HINT = "Point at a word, or tap it, to see its counterpart; with the focus in a sentence, use the arrow keys.";

// The element for two linked sentences; what makes words light up comes with the package of links.
export async function showLinked({ source, target, links }, page) {
  const { Reader } = await import("/page/links/reader.js");
  if (!document.querySelector(`[href="${STYLE}"]`)) document.head.append(make("link", { rel: "stylesheet", href: STYLE }));
  const pairs = make("div", { class: "linked" }, make(
    "div", { "data-links": links.map((one) => `${one.source}-${one.target}:${Math.round(100 * one.probability)}`).join(" ") },
    ...[source, target].flatMap((side) => [
      make("p", { class: "asked" }, page.languages.mark(side.language), named(side.language)), text(side, page),
    ]),
  ));
  const shown = make("p", { class: "key" }, HINT);
  const told = make("p", { class: "hidden", role: "status" });
  new Reader(pairs, (now) => { shown.textContent = now || HINT; }, (now) => { told.textContent = now; });
  return make("article", { class: "card", id: "linked" }, pairs, shown, told,
    make("p", { class: "key" }, "Dotted: more likely wrong than right. Grey: no counterpart."));
}

function text({ language, words, after }, page) {
  const first = language === page.languages.onMap[0];
  let end = 0;
  const numbers = words.flatMap(({ before, word }) => {
    const begin = end + before.length;
    end = begin + word.length;
    return [begin, word.length];
  }).join(" ");
  return make("p", { class: `side ${first ? "one" : "two"}`, lang: language, dir: "auto", "data-words": numbers },
    words.map(({ before, word }) => before + word).join("") + after);
}

// The page: a question from the box, a link or the map becomes an answer, an address and a place on the map.
import { Unreachable, ask } from "/page/api.js";
import { closeAlternatives } from "/page/alternatives.js";
import { Box } from "/page/box.js";
import { verdictChip } from "/page/chip.js";
import { $, make } from "/page/dom.js";
import { openEvidence } from "/page/evidence.js";
import { Languages, named } from "/page/languages.js";
import { Latest } from "/page/latest.js";
import { WordMap } from "/page/map.js";
import { address, question } from "/page/route.js";
import { showSentence } from "/page/sentence.js";
import { Tabs } from "/page/tabs.js";
import { clearTrouble, showTrouble } from "/page/trouble.js";
import { showNeighbours, showWord, wordButton } from "/page/word.js";

const SOON = 150; // milliseconds after which an answer that is awaited is dimmed
const AGAIN = 700; // milliseconds between two questions whether the map is drawn
const PAUSES = [1, 2, 3, 5, 10, 20, 30, 60].map((seconds) => 1_000 * seconds); // while probabilities are computed
const LONGEST = 200; // characters of a word
const OTHERS = { top: 6 };
const NEARBY = { top: 20 };

const answers = new Latest();
const drawings = new Latest();
const map = new WordMap((word, language) => page.lookUp(word, language));
const page = { space: null, languages: null, lookUp, explain };
let answered = null; // the answer shown
let early = false; // whether a question was asked before the languages were known
const box = new Box(() => page.languages?.source, (kind) => {
  if (page.languages) answer({ kind });
  else early = true;
});
let drawn = ""; // the languages of the map shown

async function start() {
  try {
    [page.space] = (await ask("/api/spaces")).spaces;
  } catch (error) {
    showTrouble(error, {}, page, () => { clearTrouble(); start(); });
    return;
  }
  clearTrouble();
  page.languages = new Languages(page.space, () => turned());
  aboutSpace(page.space);
  listen();
  const asked = question(location.hash, page.languages);
  if (asked && !box.text) restore(asked);
  else {
    turned(false);
    empty();
    if (early) answer();
  }
}

function aboutSpace(space) {
  $("space").textContent = space.name;
  $("about").textContent = space.languages.map((one) => `${one.words.toLocaleString("en")} ${named(one.name)} words`).join(" · ");
  $("verdict").replaceChildren(space.verdict ? verdictChip(space.verdict) : "");
  $("how").hidden = false;
}

function listen() {
  new Tabs(["answer", "map"], () => map.resized());
  $("swap").addEventListener("click", () => { page.languages.swap(); turned(); });
  $("how").addEventListener("click", explain);
  addEventListener("popstate", () => {
    const asked = question(location.hash, page.languages);
    if (asked) restore(asked);
    else { box.write(""); empty(); }
  });
}

// Looks up a word of a language, which becomes the source.
function lookUp(word, language) {
  page.languages.setSource(language);
  box.write(word);
  turned(false);
  answer({ kind: "word" });
}

// After a change of languages: the map, unless it is the same, the examples, and the same text in this direction.
function turned(again = true) {
  const { languages } = page;
  const [one, two] = languages.onMap;
  $("one-name").textContent = named(one);
  $("two-name").textContent = named(two);
  $("text").placeholder = `Word or sentence in ${named(languages.source)}`;
  $("text").lang = languages.source;
  closeAlternatives();
  showExamples();
  drawMap();
  if (!again) return;
  empty();
  if (box.text) answer();
}

function showExamples() {
  const { source } = page.languages;
  const words = page.languages.of(source).examples;
  $("examples").replaceChildren("Try", ...words.map((word) => wordButton(word, source, page, "")));
}

function empty() {
  answers.cancel();
  answered = null;
  clearTrouble();
  $("answer").replaceChildren(introduction());
  map.release();
  document.title = "muse explorer";
}

function introduction() {
  const lines = [
    "A word gives its translations, each with the probability that it is right.",
    "A sentence is translated word by word; every word has alternatives.",
    "The map has the most frequent words of both languages; click one to see its neighbours.",
  ];
  return make("div", { class: "card" }, make("ul", { class: "intro" }, ...lines.map((line) => make("li", {}, line))));
}

function restore(asked) {
  page.languages.set(asked.source, asked.target);
  box.write(asked.text);
  turned(false);
  answer({ remember: false });
}

// Whether a text is one word, or to be translated word by word.
const kindOf = (text) => (/\s|[.!?…]$/u.test(text) || text.length > LONGEST ? "sentence" : "word");

// Answers the text in the box; `kind` is known where a word was chosen, `remember` adds it to the way back.
function answer({ kind = null, remember = true } = {}) {
  const text = box.text;
  const { source, target, question: direction } = page.languages;
  const asked = { source, target, text };
  if (remember) leaveTrack(asked);
  clearTrouble();
  closeAlternatives();
  const dim = setTimeout(() => $("answer").classList.add("busy"), SOON);
  const done = () => { clearTimeout(dim); $("answer").classList.remove("busy"); };
  const word = (kind ?? kindOf(text)) === "word";
  answers.run(
    (signal) => (word
      ? ask("/api/translate", { ...direction, word: text, ...OTHERS }, signal)
      : ask("/api/sentence", { ...direction, text }, signal)),
    (found, signal) => { done(); return word ? tellWord(found, signal) : tellSentence(found); },
    (error) => { done(); fail(error, asked); },
  );
}

// The translations at once, then the neighbours and the place on the map.
async function tellWord(translated, signal) {
  answered = translated;
  $("answer").replaceChildren(showWord(translated, page));
  const [best] = translated.translations;
  tell(best ? `${translated.form} → ${best.word}` : translated.form);
  mark(translated, signal);
  const question = { src: translated.source, tgt: translated.target, word: translated.form, ...NEARBY };
  const near = await ask("/api/neighbours", question, signal);
  $("answer").append(showNeighbours(translated, near, page));
  if (best?.probability === null) rateLater(translated, signal);
}

// The probabilities of a space are computed when they are first needed: asks again until they are there.
async function rateLater({ source, target, form }, signal) {
  for (const pause of PAUSES) {
    await new Promise((resolve) => { setTimeout(resolve, pause); });
    if (signal.aborted) return;
    const translated = await ask("/api/translate", { src: source, tgt: target, word: form, ...OTHERS }, signal).catch(() => null);
    if (signal.aborted) return;
    if (!translated?.grade) continue;
    answered = translated;
    $("answer").firstChild.replaceWith(showWord(translated, page));
    return;
  }
}

function tellSentence(found) {
  answered = found;
  $("answer").replaceChildren(showSentence(found, page));
  tell(found.text);
  map.release();
}

function tell(text) {
  $("status").textContent = text;
  document.title = `${text} · muse`;
}

function fail(error, asked) {
  if (!answered || !(error instanceof Unreachable)) {
    answered = null;
    $("answer").replaceChildren();
    map.release();
  }
  showTrouble(error, asked, page, () => answer({ remember: false }));
}

function leaveTrack(asked) {
  const hash = address(asked, page.languages);
  if (hash !== location.hash) history.pushState(null, "", hash);
}

// Isolates the word on the map, once both are there.
async function mark({ source, target, form }, signal) {
  try {
    const place = await ask("/api/place", { src: source, tgt: target, word: form }, signal);
    if (place && !signal.aborted && drawn === page.languages.onMap.join()) map.isolate(place);
  } catch { /* the map is of use without this word */ }
}

function drawMap() {
  const [one, two] = page.languages.onMap;
  if (drawn === [one, two].join()) return; // the same in both directions
  drawn = "";
  map.show({ points: [], regions: [] }, one);
  map.say("Drawing the map…");
  drawings.run((signal) => pictureOf(one, two, signal), (picture) => {
    drawn = [one, two].join();
    map.show(picture, one);
    if (!picture.points.length) map.say("No two frequent words are mutual translations.");
    if (answered?.form) mark(answered, new AbortController().signal);
  }, (error) => map.say(error instanceof Unreachable ? "The explorer does not answer." : error.message, true));
}

async function pictureOf(src, tgt, signal) {
  for (;;) {
    const picture = await ask("/api/picture", { src, tgt }, signal);
    if (picture.ready) return picture;
    await new Promise((resolve) => { setTimeout(resolve, AGAIN); });
  }
}

function explain() {
  openEvidence(page.space, answered);
}

start();

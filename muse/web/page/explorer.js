// The page: a question from the box, a link or the map becomes an answer, an address and a place on the map.
import { Unreachable, ask } from "/page/api.js";
import { showExamples } from "/page/examples.js";
import { closeAlternatives } from "/page/alternatives.js";
import { Atlas } from "/page/atlas.js";
import { Box } from "/page/box.js";
import { $ } from "/page/dom.js";
import { openEvidence } from "/page/evidence.js";
import { Languages } from "/page/languages.js";
import { Latest } from "/page/latest.js";
import { showLinked } from "/page/linked.js";
import { WordMap } from "/page/map.js";
import { question, remember, strangers } from "/page/route.js";
import { showSentence } from "/page/sentence.js";
import { Tabs } from "/page/tabs.js";
import { clearTrouble, showStrangers, showTrouble } from "/page/trouble.js";
import { introduction, showDirection, showSpace } from "/page/welcome.js";
import { listed, showNeighbours, showWord } from "/page/word.js";

const SOON = 150; // milliseconds after which an answer that is awaited is dimmed
const PAUSES = [1, 2, 3, 5, 10, 20, 30, 60].map((seconds) => 1_000 * seconds); // while probabilities are computed
const LONGEST = 200; // characters of a word
const OTHERS = { top: 6 };
const NEARBY = { top: 20 };

const answers = new Latest();
const map = new WordMap((word, language) => lookUp(word, language));
const atlas = new Atlas(map);
const page = { space: null, links: false, examples: [], languages: null, lookUp, explain };
const box = new Box(() => page.languages?.source, (kind) => {
  if (page.languages) answer({ kind });
  else early = true;
});
let early = false; // whether a question was asked before the languages were known
let answered = null; // the answer shown
let dimming = null;
let tabs = null; // on a phone: the answer or the map

async function start() {
  try {
    const known = await ask("/api/spaces");
    ({ spaces: [page.space], links: page.links, examples: page.examples } = known);
    $("terms").hidden = !known.terms;
  } catch (error) {
    showTrouble(error, {}, page, () => { clearTrouble(); start(); });
    return;
  }
  clearTrouble();
  page.languages = new Languages(page.space, () => turned());
  showSpace(page.space);
  listen();
  const asked = question(location.hash, page.languages);
  if (asked && !box.text) restore(asked);
  else {
    turned(false);
    empty();
    if (early) answer();
    else if (!asked) atlas.introduce();
  }
}

function listen() {
  tabs = new Tabs(["answer", "map"], () => map.resized());
  $("swap").addEventListener("click", swap);
  $("how").addEventListener("click", explain);
  addEventListener("popstate", () => {
    const asked = question(location.hash, page.languages);
    if (asked) restore(asked);
    else { box.write(""); empty(); }
  });
}

// Exchanges the languages; what was found takes the place of what was asked.
function swap() {
  const best = answered?.translations ? answered.translations[0]?.word : answered?.text;
  if (box.translation !== null) box.write(box.translation, box.text);
  else if (best && answered.asked === box.text) box.write(best);
  page.languages.swap();
  turned();
}

// Looks up a word of a language, which becomes the source.
function lookUp(word, language) {
  page.languages.setSource(language);
  box.write(word);
  turned(false);
  answer({ kind: "word" });
}

// After a change of languages: the same text is translated in this direction, unless another question follows.
function turned(again = true) {
  closeAlternatives();
  showDirection(page);
  box.fit();
  if (!page.languages.mapped) tabs.show("answer");
  atlas.open(page.languages);
  if (!again) return;
  empty();
  if (box.text && box.translation !== "") answer();
}

function empty() {
  answers.cancel();
  clearTrouble();
  show(null, introduction(page));
  const missing = strangers(location.hash, page.languages);
  if (missing.length && !box.text) showStrangers(missing, page);
  atlas.release();
  document.title = "muse explorer";
}

function restore(asked) {
  page.languages.set(asked.source, asked.target);
  box.write(asked.text, asked.translation);
  turned(false);
  answer({ track: false });
}

// Whether a text is one word, or to be translated word by word, which only a language of words can be.
const kindOf = (text, noun) => (noun === "word" && (/\s/u.test(bare(text)) || text.length > LONGEST) ? "sentence" : "word");
const bare = (text) => text.replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, ""); // without quotes and signs around it

// Answers the text in the box; `kind` is known where a word was chosen, `track` adds it to the way back.
function answer({ kind = null, track = true } = {}) {
  const { text, translation } = box;
  const { source, target, question: direction } = page.languages;
  const asked = { source, target, text, translation };
  if (track) remember(asked, page.languages);
  clearTrouble();
  closeAlternatives();
  clearTimeout(dimming);
  dimming = setTimeout(() => $("answer").classList.add("busy"), SOON);
  const [path, parameters, tell] = translation !== null
    ? ["/api/link", { ...direction, source: text, target: translation }, tellLinked]
    : (kind ?? kindOf(text, page.languages.noun(source))) === "word"
    ? ["/api/translate", { ...direction, word: text, ...OTHERS }, tellWord]
    : ["/api/sentence", { ...direction, text }, tellSentence];
  const found = async (signal) => ({ ...await ask(path, parameters, signal), asked: text });
  answers.run(found, tell, (error) => fail(error, asked));
}

// Shows an answer; on a phone in its tab, unless it is on the map too.
function show(answer, ...elements) {
  if (answer && (!answer.translations || !map.points.length)) tabs.show("answer");
  clearTimeout(dimming);
  $("answer").classList.remove("busy");
  $("answer").replaceChildren(...elements);
  answered = answer;
}

// The translations at once, then the neighbours and the place on the map.
async function tellWord(translated, signal) {
  const { form, source, target, translations: [best] } = translated;
  show(translated, showWord(translated, page));
  announce(best ? `${form} → ${best.word}` : form);
  atlas.expect(translated);
  const near = listed(translated, await ask("/api/neighbours", { src: source, tgt: target, word: form, ...NEARBY }, signal));
  atlas.isolate(translated, near);
  $("answer").append(showNeighbours(translated, near, page));
  if (page.examples.includes(source) || (best && page.examples.includes(target))) {
    const asked = { src: source, tgt: target, word: form, ...(best ? { answer: best.word } : {}) };
    const sentences = showExamples(translated, await ask("/api/examples", asked, signal), page);
    if (sentences) $("answer").append(sentences);
  }
  if (best?.probability === null) rateLater(translated, signal);
}

// The probabilities of a space are computed when they are first needed: asks again until they are there.
async function rateLater({ source, target, form }, signal) {
  const again = { src: source, tgt: target, word: form, ...OTHERS };
  for (const pause of PAUSES) {
    await new Promise((resolve) => { setTimeout(resolve, pause); });
    const rated = signal.aborted ? null : await ask("/api/translate", again, signal).catch(() => null);
    if (signal.aborted) return;
    if (!rated?.grade) continue;
    answered = { ...rated, asked: answered.asked };
    $("answer").firstChild.replaceWith(showWord(rated, page));
    return;
  }
}

function tellSentence(found) {
  if (found.entry) { // a unit of several words
    answer({ kind: "word", track: false });
    return;
  }
  show(found, showSentence(found, page));
  announce(found.text);
  atlas.release();
}

async function tellLinked(found) {
  show(found, await showLinked(found, page));
  announce(`${found.source.text} → ${found.target.text}`);
  atlas.release();
}

function announce(text) {
  $("status").textContent = text;
  document.title = `${text} · muse`;
}

function fail(error, asked) {
  clearTimeout(dimming);
  $("answer").classList.remove("busy");
  if (!answered || !(error instanceof Unreachable)) {
    show(null);
    atlas.release();
  }
  tabs.show("answer");
  showTrouble(error, asked, page, () => { atlas.open(page.languages); answer({ track: false }); });
}

function explain() {
  openEvidence(page.space, answered);
}

start();

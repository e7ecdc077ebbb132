// The page: calls the API and shows its answers as text, never as HTML.
import { Picture } from "/page/picture.js";

const $ = (id) => document.getElementById(id);
const EXPLAINED = {
  csls: "CSLS, cosine similarity corrected for words that are close to everything. Higher is better; negative scores are normal.",
  nn: "cosine similarity; CSLS is not available because its hubness has not been computed for these languages.",
};
const picture = new Picture($("picture"), lookUpFromPicture);
let space = null;
let ready = null; // resolved once the languages are known, which a first query waits for
let asked = 0; // the number of the latest query: answers to older ones are not shown

async function ask(path, parameters) {
  const response = await fetch(`${path}?${new URLSearchParams(parameters)}`);
  const answer = await response.json();
  if (!response.ok) throw Object.assign(new Error(answer.error), { suggestions: answer.suggestions ?? [] });
  return answer;
}

function element(tag, text, attributes = {}) {
  const made = document.createElement(tag);
  made.textContent = text;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

function direction() {
  return { src: $("source").value, tgt: $("target").value };
}

function say(where, text, problem = false) {
  where.replaceChildren(text);
  where.classList.toggle("problem", problem);
}

// A button that looks up a word of a language.
function wordButton(word, language, style) {
  const button = element("button", word, { type: "button", class: style, lang: language });
  button.addEventListener("click", () => {
    if (language === $("target").value) swap(false);
    lookUp(word);
  });
  return button;
}

function fillScores(list, found, language) {
  const most = Math.max(...found.map((one) => one.score), 1e-6);
  list.replaceChildren(...found.map((one) => {
    const item = element("li", "");
    const share = Math.max(0, Math.min(100, (100 * one.score) / most));
    const end = `calc((100% - 4.5rem) * ${share / 100})`; // leaves space for the score
    item.style.background = `linear-gradient(to right, var(--bar) ${end}, transparent ${end})`;
    item.append(wordButton(one.word, language, ""), element("span", one.score.toFixed(3), { class: "score" }));
    return item;
  }));
}

async function lookUp(word) {
  $("word").value = word;
  if (!word) return;
  await ready;
  const number = ++asked;
  const question = { ...direction(), word };
  const { src, tgt } = question;
  say($("word-status"), "…");
  try {
    const [translated, near] = await Promise.all([
      ask("/api/translate", question), ask("/api/neighbours", question),
    ]);
    if (number !== asked) return;
    fillScores($("translations"), translated.translations, tgt);
    const words = Object.fromEntries(near.neighbours.map((one) => [one.language, one.words]));
    fillScores($("own"), words[src], src);
    fillScores($("other"), words[tgt], tgt);
    $("answers").hidden = false;
    const best = translated.translations[0];
    say($("word-status"), best ? `${word}: ${best.word}` : `${word}: no translation`);
    $("retrieval").textContent = `Scores (${translated.retrieval}): ${EXPLAINED[translated.retrieval.split(":")[0]] ?? ""}`;
    remember(word);
    mark(word);
  } catch (error) {
    if (number === asked) refuse(error, src);
  }
}

function refuse(error, language) {
  $("answers").hidden = true;
  $("retrieval").textContent = "";
  say($("word-status"), error.message, true);
  if (error.suggestions?.length) {
    $("word-status").append("; did you mean ", ...error.suggestions.flatMap((word) => [
      wordButton(word, language, "plain"), " ",
    ]), "?");
  }
}

async function translateSentence(text) {
  $("tokens").replaceChildren();
  closeAlternatives();
  if (!text.trim()) return;
  say($("sentence-status"), "…");
  await ready;
  try {
    const answer = await ask("/api/sentence", { ...direction(), text });
    say($("sentence-status"), "");
    $("tokens").lang = answer.target;
    showTokens(answer.tokens);
  } catch (error) {
    say($("sentence-status"), error.message, true);
  }
}

const TIGHT_BEFORE = /^[.,;:!?…)\]}»”%-]/;
const TIGHT_AFTER = /[(\[{«“'’-]$/;

function showTokens(tokens) {
  let before = "(";
  for (const { token, options } of tokens) {
    const text = options.length ? options[0].word : token;
    if (!TIGHT_BEFORE.test(text) && !TIGHT_AFTER.test(before)) $("tokens").append(" ");
    before = text;
    if (options.length < 2) {
      $("tokens").append(element("span", text));
      continue;
    }
    const button = element("button", text, {
      type: "button", class: "token", title: token, "aria-haspopup": "listbox", "aria-expanded": "false",
    });
    button.addEventListener("click", () => openAlternatives(button, options));
    $("tokens").append(button);
  }
}

function openAlternatives(button, options) {
  const open = button.getAttribute("aria-expanded") === "true";
  closeAlternatives();
  if (open) return;
  button.setAttribute("aria-expanded", "true");
  const choices = options.map(({ word, score }) => {
    const choice = element("div", `${word} ${score.toFixed(3)}`, {
      role: "option", tabindex: "-1", "aria-selected": String(word === button.textContent),
    });
    const choose = () => { button.textContent = word; closeAlternatives(); button.focus(); };
    choice.addEventListener("click", choose);
    choice.addEventListener("keydown", (event) => moveAmong(event, choices, choice, choose, button));
    return choice;
  });
  $("alternatives").replaceChildren(...choices);
  $("alternatives").hidden = false;
  (choices.find((one) => one.getAttribute("aria-selected") === "true") ?? choices[0]).focus();
}

function moveAmong(event, choices, choice, choose, button) {
  const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
  const place = choices.indexOf(choice);
  if (event.key in steps) choices[(place + steps[event.key] + choices.length) % choices.length].focus();
  else if (event.key === "Home") choices[0].focus();
  else if (event.key === "End") choices[choices.length - 1].focus();
  else if (event.key === "Enter" || event.key === " ") choose();
  else if (event.key === "Escape") { closeAlternatives(); button.focus(); }
  else return;
  event.preventDefault();
}

function closeAlternatives() {
  $("alternatives").hidden = true;
  for (const button of $("tokens").querySelectorAll("button")) button.setAttribute("aria-expanded", "false");
}

async function drawPicture() {
  const question = direction();
  picture.show([], question.src);
  say($("picture-status"), "Drawing the map…");
  try {
    for (let tries = 0; tries < 600; tries++) {
      const answer = await ask("/api/picture", question);
      const now = direction();
      if (now.src !== question.src || now.tgt !== question.tgt) return;
      if (answer.ready) {
        picture.show(answer.points, question.src);
        say($("picture-status"), answer.points.length ? "" : "No two frequent words are mutual translations.");
        if ($("word").value) mark($("word").value);
        return;
      }
      await new Promise((resolve) => setTimeout(resolve, 1000));
    }
  } catch (error) {
    say($("picture-status"), error.message, true);
  }
}

async function mark(word) {
  const { src } = direction();
  try {
    const place = await ask("/api/place", { ...direction(), word });
    if (place && src === $("source").value) picture.mark(place);
  } catch { /* the map is still useful without this word */ }
}

function lookUpFromPicture(word, language) {
  if (language !== $("source").value) swap(false);
  lookUp(word);
}

function swap(again = true) {
  [$("source").value, $("target").value] = [$("target").value, $("source").value];
  refresh(again);
}

// After a change of languages: update names and examples, and look up the best translation if requested.
function refresh(again = true) {
  const { src, tgt } = direction();
  for (const one of document.querySelectorAll(".source-name")) one.textContent = src;
  for (const one of document.querySelectorAll(".target-name")) one.textContent = tgt;
  const examples = space.languages.find((one) => one.name === src).examples;
  $("examples").replaceChildren(...(examples.length ? ["Try "] : []), ...examples.flatMap((word) => [
    wordButton(word, src, "plain"), " ",
  ]));
  closeAlternatives();
  $("tokens").replaceChildren();
  say($("sentence-status"), "");
  drawPicture();
  if (again && !$("answers").hidden) {
    const best = $("translations").querySelector("button");
    if (best) lookUp(best.textContent);
  }
}

function remember(word) {
  const { src, tgt } = direction();
  history.replaceState(null, "", `#${new URLSearchParams({ src, tgt, word })}`);
}

function keepApart(changed, other) {
  if (changed.value === other.value) {
    other.value = space.languages.map((one) => one.name).find((name) => name !== changed.value);
  }
  $("answers").hidden = true;
  say($("word-status"), "");
  refresh(false);
}

async function start() {
  [space] = (await ask("/api/spaces", {})).spaces;
  $("space").textContent = space.name;
  const verdict = space.verdict ? `, judged ${space.verdict}` : "";
  const sure = space.confidence === null ? "" : ` (confidence ${space.confidence.toFixed(2)})`;
  const words = space.languages.map((one) => `${one.words.toLocaleString("en")} words of ${one.name}`).join(", ");
  $("about").textContent = `${words}; ${space.dimension} dimensions${verdict}${sure}`;
  for (const select of [$("source"), $("target")]) {
    select.replaceChildren(...space.languages.map((one) => element("option", one.name, { value: one.name })));
  }
  const said = new URLSearchParams(location.hash.slice(1));
  const names = space.languages.map((one) => one.name);
  const given = (name, otherwise) => (names.includes(said.get(name)) ? said.get(name) : otherwise);
  $("source").value = given("src", names.find((name) => name !== space.pivot));
  $("target").value = given("tgt", space.pivot);
  if ($("source").value === $("target").value) $("target").value = names.find((name) => name !== $("source").value);
  refresh(false);
  if (said.get("word")) lookUp(said.get("word"));
}

$("swap").addEventListener("click", () => swap());
$("source").addEventListener("change", () => keepApart($("source"), $("target")));
$("target").addEventListener("change", () => keepApart($("target"), $("source")));
$("word-form").addEventListener("submit", (event) => { event.preventDefault(); lookUp($("word").value.trim()); });
$("sentence-form").addEventListener("submit", (event) => {
  event.preventDefault();
  translateSentence($("sentence").value);
});
$("sentence").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey) { event.preventDefault(); translateSentence($("sentence").value); }
});
$("direction").addEventListener("submit", (event) => event.preventDefault());
$("closer").addEventListener("click", () => picture.zoom(1.5));
$("farther").addEventListener("click", () => picture.zoom(1 / 1.5));
$("whole").addEventListener("click", () => picture.whole());
ready = start().catch((error) => say($("word-status"), error.message, true));

// The page: the reader of its pairs, how they are laid out, and a search that leaves the pairs that have a text.
const MARKED = 500; // pairs found, up to which the words that have the text are marked
const SOON = 150; // milliseconds after the last key
const $ = (id) => document.getElementById(id);
const [pairs, hint] = [$("pairs"), $("shown").textContent];
const total = pairs.children.length;

const reader = new Reader(pairs, (text) => {
  $("shown").textContent = text || hint;
  $("shown").classList.toggle("hint", !text);
}, (text) => { $("told").textContent = text; });

for (const name of ["below", "glossed"]) {
  $(name).addEventListener("click", () => {
    const pressed = document.body.classList.toggle(name);
    $(name).setAttribute("aria-pressed", String(pressed));
  });
}

const folded = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
let texts = null; // of every pair, once something is searched for
let soon = null;

function find() {
  const wanted = folded($("find").value.trim());
  texts ??= Array.from(pairs.children, (pair) => folded(Array.from(pair.querySelectorAll(".side"), (side) => side.textContent).join("\n")));
  for (const word of pairs.querySelectorAll(".hit")) word.classList.remove("hit");
  const found = [...pairs.children].filter((pair, place) => {
    pair.hidden = !texts[place].includes(wanted);
    return !pair.hidden;
  });
  const parts = wanted.split(/\s+/u).filter(Boolean);
  if (found.length <= MARKED && parts.length) {
    for (const word of found.flatMap((pair) => [...reader.words(pair, 0), ...reader.words(pair, 1)])) {
      word.classList.toggle("hit", parts.some((part) => folded(word.textContent).includes(part)));
    }
  }
  reader.pin(null);
  reader.restart();
  count(found.length);
}

function count(found) {
  const all = total.toLocaleString("en");
  $("count").textContent = found === total ? `${all} pairs` : `${found.toLocaleString("en")} of ${all} pairs`;
}

$("find").addEventListener("input", () => {
  clearTimeout(soon);
  soon = setTimeout(find, SOON);
});
count(total);

// The terms of a glossary: a part of those that are searched for, and the decisions on them, saved as a table.
const PART = 200; // rows that are shown at once
const SOON = 150; // milliseconds after the last key
const DECISIONS = { accepted: "Accept", rejected: "Reject" };
const $ = (id) => document.getElementById(id);
const { rows, rejected, sides } = JSON.parse($("data").textContent);
const folded = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
const wanted = {
  all: () => true, likely: (row) => !row.unsure, open: (row) => !row.decision,
  accepted: (row) => row.decision === "accepted", rejected: (row) => row.decision === "rejected",
};
let [found, shown, soon, unsaved] = [rows, 0, null, false];

function element(name, more = {}, ...parts) {
  const made = Object.assign(document.createElement(name), more);
  made.append(...parts);
  return made;
}

// A text in one of the languages, and how often it stands there.
const text = (side, what, count, name) =>
  element("p", { ...sides[side], className: name }, element("bdi", {}, what), " ", element("small", { lang: "en" }, `${count}×`));

function example(side, [what, places, where]) {
  const made = element("p", sides[side]);
  let last = 0;
  for (const [begin, end] of places) {
    made.append(what.slice(last, begin), element("mark", {}, what.slice(begin, end)));
    last = end;
  }
  made.append(what.slice(last), " ", element("small", { lang: "en" }, where));
  return made;
}

function item(row) {
  const percent = `${Math.round(100 * row.probability)} %`;
  const made = element("li", { className: row.unsure ? "unsure" : "" },
    text(0, row.term, row.counts[0], "term"), text(1, row.translation, row.counts[1], "translation"),
    element("p", { className: "share" }, row.unsure ? `${percent}, unsure` : percent));
  const buttons = Object.entries(DECISIONS).map(([decision, label]) => {
    const button = element("button", { type: "button", ariaLabel: `${label}: ${row.term} – ${row.translation}` }, label);
    button.addEventListener("click", () => {
      row.decision = row.decision === decision ? "" : decision;
      unsaved = true;
      press();
    });
    return [decision, button];
  });
  const press = () => buttons.forEach(([decision, button]) => button.setAttribute("aria-pressed", String(row.decision === decision)));
  press();
  made.append(element("div", {}, buttons[0][1], " ", buttons[1][1]));
  if (row.examples.some((some) => some.length)) {
    const both = row.examples.map((some, side) => element("div", { className: "side" }, ...some.map((one) => example(side, one))));
    made.append(element("details", {}, element("summary", {}, "Examples"), element("div", {}, ...both)));
  }
  return made;
}

function more() {
  $("terms").append(...found.slice(shown, shown + PART).map(item));
  shown = Math.min(shown + PART, found.length);
  $("more").hidden = shown === found.length;
}

function find() {
  const [text, which] = [folded($("find").value.trim()), wanted[$("which").value]];
  found = rows.filter((row) => which(row) && folded(`${row.term}\n${row.translation}`).includes(text));
  $("terms").replaceChildren();
  shown = 0;
  more();
  const all = rows.length.toLocaleString("en");
  $("count").textContent = found.length === rows.length ? `${all} pairs` : `${found.length.toLocaleString("en")} of ${all} pairs`;
}

function save() {
  const decided = rows.filter((row) => row.decision).map((row) => [row.term, row.translation, row.decision]);
  const before = rejected.map((pair) => [...pair, "rejected"]);
  const lines = [["term", "translation", "decision"], ...decided, ...before].map((cells) => `${cells.join("\t")}\n`);
  const href = URL.createObjectURL(new Blob(lines, { type: "text/tab-separated-values" }));
  element("a", { href, download: "decisions.tsv" }).click();
  URL.revokeObjectURL(href);
  unsaved = false;
}

// Up and down lead to the same button of the row before and of the next one.
$("terms").addEventListener("keydown", (event) => {
  const step = { ArrowUp: "previousElementSibling", ArrowDown: "nextElementSibling" }[event.key];
  const [row, button] = [event.target.closest("li"), event.target.closest("button")];
  if (!step || !button) return;
  event.preventDefault();
  const place = [...row.querySelectorAll("button")].indexOf(button);
  row[step]?.querySelectorAll("button")[place].focus();
});
$("find").addEventListener("input", () => {
  clearTimeout(soon);
  soon = setTimeout(find, SOON);
});
$("which").addEventListener("change", find);
$("more").addEventListener("click", more);
$("save").addEventListener("click", save);
addEventListener("beforeunload", (event) => { if (unsaved) event.preventDefault(); });
find();

// The terms of a glossary: a part of those that are searched for, and the decisions on them, saved as a table.
const PART = 200; // rows that are shown at once
const SOON = 150; // milliseconds after the last key
const DECISIONS = { accepted: "Accept", rejected: "Reject" };
const $ = (id) => document.getElementById(id);
const { rows, about: { kept, sides, decisions } } = JSON.parse($("data").textContent);
const key = (term, translation) => `${term}\n${translation}`;
const decided = new Map(decisions.map((one) => [key(...one), one])); // of other pairs too
rows.forEach((row) => { row.decision = decided.get(key(row.term, row.translation))?.[2] ?? ""; });
const folded = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
const wanted = {
  all: () => true, likely: (row) => !row.unsure, open: (row) => !row.decision,
  accepted: (row) => row.decision === "accepted", rejected: (row) => row.decision === "rejected",
};
let [found, shown, soon, unsaved, told] = [rows, 0, null, false, Promise.resolve()];

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
      const before = row.decision;
      decide(row, before === decision ? "" : decision);
      press();
      if (kept) told = told.then(() => tell(row)).catch(() => { decide(row, before); press(); });
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

function decide(row, decision) {
  row.decision = decision;
  decided.set(key(row.term, row.translation), [row.term, row.translation, decision]);
  unsaved = !kept;
}

// Has the explorer keep the decision on a row, one after the other.
async function tell({ term, translation, decision }) {
  const answer = await fetch(`/api/decisions?${new URLSearchParams({ term, translation, decision })}`, { method: "POST" }).catch(() => null);
  const why = answer?.ok ? "" : (await answer?.json().catch(() => null))?.error ?? "muse serve does not answer";
  $("trouble").textContent = why && `The decision on ${term} was not kept: ${why}`;
  if (why) throw new Error(why);
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
  const all = [...decided.values()].filter(([, , decision]) => decision);
  const lines = [["term", "translation", "decision"], ...all].map((cells) => `${cells.join("\t")}\n`);
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
if (kept) {
  $("kept").textContent = kept;
  $("served").hidden = false;
  $("alone").hidden = $("save").hidden = true;
}
find();

// Elements: made with text, never with HTML, since any word may stand in a vocabulary.
export const $ = (id) => document.getElementById(id);

// An element with attributes and children; a child that is text stays text, null is left out.
export function make(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value !== null && value !== false) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}

// Text for screen readers alone.
export const unseen = (text) => make("span", { class: "hidden" }, text);

// A drawing in lines on a square of 20.
export function icon(path) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  for (const [name, value] of Object.entries({ viewBox: "0 0 20 20", width: 18, height: 18, "aria-hidden": "true" })) {
    svg.setAttribute(name, value);
  }
  const line = document.createElementNS("http://www.w3.org/2000/svg", "path");
  line.setAttribute("d", path);
  svg.append(line);
  return svg;
}

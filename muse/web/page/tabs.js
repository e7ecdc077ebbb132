// Tabs, where the screen is too narrow for both panels; on a wide one both are shown, and are no tabs.
import { $ } from "/page/dom.js";

const WIDE = matchMedia("(min-width: 60rem)");

export class Tabs {
  constructor(names, shown) {
    this.names = names;
    this.shown = shown; // called when a panel may have become visible
    this.chosen = names[0];
    for (const name of names) {
      $(`${name}-tab`).addEventListener("click", () => this.show(name));
      $(`${name}-tab`).addEventListener("keydown", (event) => this.pressed(event));
    }
    WIDE.addEventListener("change", () => this.show(this.chosen));
    this.show(this.chosen);
  }

  show(name) {
    this.chosen = name;
    for (const one of this.names) {
      const [tab, panel] = [$(`${one}-tab`), $(`${one}-panel`)];
      tab.setAttribute("aria-selected", String(one === name));
      tab.tabIndex = one === name ? 0 : -1;
      panel.hidden = !WIDE.matches && one !== name;
      if (WIDE.matches) panel.removeAttribute("role");
      else panel.setAttribute("role", "tabpanel");
    }
    this.shown();
  }

  pressed(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const place = this.names.indexOf(this.chosen) + step + this.names.length;
    this.show(this.names[place % this.names.length]);
    $(`${this.chosen}-tab`).focus();
    event.preventDefault();
  }
}

// Search of the built site by file://, where Chromium starts no worker: a hidden frame runs the worker's script.
"use strict";

if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    #inside;
    #waiting = []; // messages from before the script was there

    constructor(address) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      this.#inside = frame.contentWindow;
      this.#inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      const script = this.#inside.document.createElement("script");
      script.src = address;
      script.addEventListener("load", () => {
        const waiting = this.#waiting;
        this.#waiting = null;
        waiting.forEach((data) => this.postMessage(data));
      });
      this.#inside.document.body.append(script);
    }

    postMessage(data) {
      if (this.#waiting) this.#waiting.push(data);
      else this.#inside.dispatchEvent(new this.#inside.MessageEvent("message", { data }));
    }
  };
}

// Gestures on the map. The page stays scrollable: the wheel zooms only with Ctrl or once the map has the focus, and a
// phone needs two fingers.
const STEP = 60; // pixels moved by an arrow key
const STILL = 4; // pixels that a click may move

// Calls the map: move(right, down), zoom(factor, at), whole(), tap(at), over(at), leave(), enter(), escape(), hint(text).
export function listen(canvas, map) {
  listenToWheel(canvas, map);
  listenToMouse(canvas, map);
  listenToFingers(canvas, map);
  listenToKeys(canvas, map);
}

function listenToWheel(canvas, map) {
  canvas.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey && document.activeElement !== canvas) {
      map.hint("Hold Ctrl to zoom, or click the map first");
      return;
    }
    event.preventDefault();
    map.zoom(Math.exp(-event.deltaY * (event.deltaMode ? 16 : 1) / 400), [event.offsetX, event.offsetY]);
  }, { passive: false });
}

function listenToMouse(canvas, map) {
  let last = null;
  let moved = 0;
  canvas.addEventListener("pointerdown", (event) => {
    if (event.pointerType === "touch" || event.button !== 0) return;
    canvas.setPointerCapture(event.pointerId);
    [last, moved] = [[event.clientX, event.clientY], 0];
  });
  canvas.addEventListener("pointermove", (event) => {
    if (event.pointerType === "touch") return;
    if (!last) {
      map.over([event.offsetX, event.offsetY]);
      return;
    }
    const [right, down] = [event.clientX - last[0], event.clientY - last[1]];
    last = [event.clientX, event.clientY];
    moved += Math.hypot(right, down);
    if (moved <= STILL) return;
    canvas.classList.add("dragged");
    map.leave();
    map.move(right, down);
  });
  const end = (event) => {
    if (last && moved <= STILL && event.type === "pointerup") map.tap([event.offsetX, event.offsetY]);
    last = null;
    canvas.classList.remove("dragged");
  };
  canvas.addEventListener("pointerup", end);
  canvas.addEventListener("pointercancel", end);
  canvas.addEventListener("pointerleave", () => map.leave());
}

function listenToFingers(canvas, map) {
  let before = null; // the middle of two fingers, and how far apart they are
  let still = null; // where a single finger began
  const seen = (touches) => {
    const { left, top } = canvas.getBoundingClientRect();
    const [one, other] = [...touches].map((touch) => [touch.clientX - left, touch.clientY - top]);
    if (!other) return { at: one };
    const apart = Math.hypot(one[0] - other[0], one[1] - other[1]) || 1;
    return { at: [(one[0] + other[0]) / 2, (one[1] + other[1]) / 2], apart };
  };
  canvas.addEventListener("touchstart", (event) => {
    [still, before] = [null, null];
    if (map.line) return; // a finger draws it
    if (event.touches.length === 2) {
      before = seen(event.touches);
      event.preventDefault();
    } else if (event.touches.length === 1) still = seen(event.touches);
  }, { passive: false });
  canvas.addEventListener("touchmove", (event) => {
    if (!before || event.touches.length !== 2) {
      const now = seen(event.touches);
      if (still && Math.hypot(now.at[0] - still.at[0], now.at[1] - still.at[1]) > 2 * STILL) {
        still = null;
        map.hint("Use two fingers to move the map");
      }
      return;
    }
    event.preventDefault();
    const now = seen(event.touches);
    map.move(now.at[0] - before.at[0], now.at[1] - before.at[1]);
    map.zoom(now.apart / before.apart, now.at);
    before = now;
  }, { passive: false });
  canvas.addEventListener("touchend", (event) => {
    if (still && !event.touches.length) {
      event.preventDefault(); // the click that would follow
      map.tap(still.at, 2);
    }
    [still, before] = [null, null];
  }, { passive: false });
  canvas.addEventListener("touchcancel", () => { [still, before] = [null, null]; });
}

function listenToKeys(canvas, map) {
  const moves = { ArrowLeft: [STEP, 0], ArrowRight: [-STEP, 0], ArrowUp: [0, STEP], ArrowDown: [0, -STEP] };
  canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key in moves) map.move(...moves[event.key]);
    else if (event.key === "+" || event.key === "=") map.zoom(1.4);
    else if (event.key === "-") map.zoom(1 / 1.4);
    else if (event.key === "0") map.whole();
    else if (event.key === "Enter" || event.key === " ") map.enter();
    else if (event.key === "Escape") map.escape();
    else return;
    event.preventDefault();
  });
  canvas.addEventListener("focus", () => map.draw());
  canvas.addEventListener("blur", () => map.draw());
}

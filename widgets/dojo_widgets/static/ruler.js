// The whole document in one line: labels above it, items below, and what is visible now.

import { drawing, element } from "./dom.js";
import { percent, whole } from "./numbers.js";

const LINE = 15;
const HEIGHT = 34;
const STEP = 0.01;

// Geometry of the marks on a ruler of some width in pixels: [{ x, width, y, height, role }], what is selected last.
export function ticks(marks, length, width, compared) {
  const scale = width / Math.max(1, length);
  const drawn = marks.map((mark) => {
    const selected = mark.kind === "label" ? mark.own : mark.key === compared;
    const [size, above] = [selected ? 13 : 9, mark.kind === "label"];
    const wide = Math.max(2, (mark.end - mark.start) * scale);
    const x = Math.min(mark.start * scale, Math.max(0, width - wide));
    const role = above ? (mark.matched ? "matched" : "missed") : selected ? "compared" : "item";
    return { x, width: wide, y: above ? LINE - 1 - size : LINE + 1, height: size, role, selected };
  });
  return drawn.sort((one, other) => one.selected - other.selected);
}

// Returns { node, draw(state), frame(from, to) }. `onJump(position)` hears clicks, drags and keys.
export function ruler({ onJump }) {
  const lines = drawing("g", {});
  const frame = drawing("rect", { class: "frame", y: 0, height: HEIGHT - 4 });
  const picture = drawing("svg", { "aria-hidden": "true" }, lines, frame);
  const node = element(
    "div",
    { class: "ruler", role: "slider", tabindex: 0, "aria-label": "Place in the document" },
    picture,
  );
  let state = { marks: [], chunks: [], length: 1, compared: null, start: 0, end: 1, position: 0, visible: 0 };

  const draw = (next = {}) => {
    state = { ...state, ...next };
    const width = node.clientWidth;
    const scale = width / Math.max(1, state.length);
    lines.replaceChildren(
      drawing("line", { class: "base", x1: 0, x2: width, y1: LINE, y2: LINE }),
      ...state.chunks.map((at) =>
        drawing("line", { class: "border", x1: at * scale, x2: at * scale, y1: 0, y2: HEIGHT - 4 }),
      ),
      ...ticks(state.marks, state.length, width, state.compared).map(({ role, x, y, width: wide, height }) =>
        drawing("rect", { class: role, x, y, width: wide, height }),
      ),
      ...state.marks.filter(({ own, part }) => own && part === 1).map(({ start }) => triangle(start * scale)),
    );
    node.setAttribute("aria-valuemin", state.start);
    node.setAttribute("aria-valuemax", state.end);
    move(state.position, state.position + state.visible);
  };

  const move = (from, to) => {
    state = { ...state, position: from, visible: to - from };
    const scale = node.clientWidth / Math.max(1, state.length);
    frame.setAttribute("x", from * scale - 1);
    frame.setAttribute("width", Math.max(5, state.visible * scale + 2));
    node.setAttribute("aria-valuenow", Math.round(from));
    node.setAttribute(
      "aria-valuetext",
      `${percent(from / Math.max(1, state.length))} of ${whole(state.length)} characters`,
    );
  };

  const jump = (position) => onJump(Math.round(Math.max(state.start, Math.min(state.end - 1, position))));
  const drag = (event) => {
    const box = node.getBoundingClientRect();
    jump(((event.clientX - box.left) / Math.max(1, box.width)) * state.length);
  };
  node.addEventListener("pointerdown", (event) => {
    node.setPointerCapture(event.pointerId);
    drag(event);
  });
  node.addEventListener("pointermove", (event) => event.buttons && drag(event));
  node.addEventListener("keydown", (event) => {
    const to = keyTarget(event.key, state);
    if (to == null) return;
    event.preventDefault();
    event.stopPropagation();
    jump(to);
  });
  return { node, draw, frame: move };
}

function keyTarget(key, { start, end, position, visible }) {
  const small = Math.max(visible * 0.8, 1);
  const large = Math.max((end - start) * 5 * STEP, small);
  return {
    ArrowLeft: position - small,
    ArrowUp: position - small,
    ArrowRight: position + small,
    ArrowDown: position + small,
    PageUp: position - large,
    PageDown: position + large,
    Home: start,
    End: end,
  }[key];
}

function triangle(x) {
  return drawing("path", { class: "here", d: `M${x - 5} -5 L${x + 5} -5 L${x} 1 Z` });
}

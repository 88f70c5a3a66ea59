// A histogram of similarities that is the slider of the match threshold.

import { drawing, element } from "./dom.js";
import { barsOf, nearestOf, slid, ticksOf } from "./histogram.js";
import { fixed, whole } from "./numbers.js";

const TOP = 14;
const FLOOR = 56;
const LEAST_BAR = 1.5;
const OUTLINED = { near: "var(--near-ink)" };

const percent = (share) => `${100 * share}%`;

// Returns { node, show({ histogram, values, threshold, before, near, words }), dispose() }.
//   values  thresholds that were computed, the only ones the slider stops at
//   before  the run's own threshold, a dashed line once the slider has left it
//   words   what the value means, for screen readers
// `onMove(threshold)` is called for every new value.
export function histogramSlider({ label, onMove }) {
  const chart = drawing("svg", { "aria-hidden": "true" });
  const node = element("div", { class: "slider", role: "slider", tabindex: 0, "aria-label": label }, chart);
  let shown = null;

  const moveTo = (value) => {
    if (shown && value != null && value !== shown.threshold) onMove(value);
  };
  const drag = (event) => {
    const box = chart.getBoundingClientRect();
    moveTo(nearestOf(shown.values, (event.clientX - box.left) / box.width));
  };
  node.addEventListener("pointerdown", (event) => {
    node.setPointerCapture(event.pointerId);
    node.focus({ preventScroll: true });
    drag(event);
    event.preventDefault();
  });
  node.addEventListener("pointermove", (event) => {
    if (event.buttons && node.hasPointerCapture(event.pointerId)) drag(event);
  });

  const draw = () => {
    if (!shown) return;
    chart.replaceChildren(...bars(shown), axis(), ...ticks(shown, chart.clientWidth), ...marks(shown));
  };
  const watch = new ResizeObserver(draw);
  watch.observe(node);

  return {
    node,
    show: (next) => {
      shown = next;
      node.setAttribute("aria-valuemin", fixed(next.values[0]));
      node.setAttribute("aria-valuemax", fixed(next.values[next.values.length - 1]));
      node.setAttribute("aria-valuenow", fixed(next.threshold));
      node.setAttribute("aria-valuetext", `${fixed(next.threshold)}, ${next.words}`);
      draw();
    },
    // Moves by a key; true when the key was one of the slider's.
    key: (key) => {
      const value = shown && slid(key, shown.values, shown.threshold);
      if (value == null) return false;
      moveTo(value);
      return true;
    },
    dispose: () => watch.disconnect(),
  };
}

function bars({ histogram, threshold, near }) {
  return barsOf(histogram, threshold, near).flatMap((bar) => {
    const height = Math.max(LEAST_BAR, bar.height * (FLOOR - TOP));
    const gap = 0.1 * (bar.to - bar.from);
    const drawn = bar.parts.map(({ from, to, kind }) => {
      const end = to === bar.to ? to - gap : to;
      const place = { x: percent(from), width: percent(end - from), y: FLOOR - height, height };
      const outline = { stroke: OUTLINED[kind] || "none", "stroke-width": 0.6 };
      return drawing("rect", { ...place, fill: `var(--${kind})`, ...outline });
    });
    return bar.cut ? [...drawn, ...broken(bar)] : drawn;
  });
}

// A bar too tall to be drawn is broken, and its count is printed beside it.
function broken({ from, to, count }) {
  const left = from > 0.5;
  return [
    drawing("rect", {
      x: percent(from - 0.003),
      width: percent(to - from + 0.004),
      y: TOP + 7,
      height: 3,
      fill: "var(--panel)",
    }),
    drawing(
      "text",
      {
        x: percent(left ? from - 0.006 : to + 0.006),
        y: TOP + 8,
        "text-anchor": left ? "end" : "start",
        class: "tick",
      },
      `${whole(count)} spans`,
    ),
  ];
}

function axis() {
  return drawing("line", { x1: 0, x2: "100%", y1: FLOOR, y2: FLOOR, stroke: "var(--line-strong)" });
}

function ticks({ threshold }, width) {
  return ticksOf(threshold, width).map((tick) => {
    const anchor = tick === 0 ? "start" : tick === 1 ? "end" : "middle";
    const text = tick === 0 || tick === 1 ? String(tick) : tick.toFixed(1);
    return drawing("text", { x: percent(tick), y: FLOOR + 16, "text-anchor": anchor, class: "tick" }, text);
  });
}

function marks({ threshold, before }) {
  const at = percent(threshold);
  const line = { x1: at, x2: at, y1: 0, y2: FLOOR + 3, stroke: "var(--ink)", "stroke-width": 2 };
  const old = {
    x1: percent(before),
    x2: percent(before),
    y1: 2,
    y2: FLOOR,
    stroke: "var(--ink-soft)",
    "stroke-dasharray": "3 3",
  };
  return [
    threshold === before ? null : drawing("line", old),
    drawing("line", line),
    drawing("circle", { cx: at, cy: FLOOR + 3, r: 5.5, fill: "var(--panel)", stroke: "var(--ink)", "stroke-width": 2 }),
    drawing("text", { x: at, y: FLOOR + 21, "text-anchor": "middle", class: "value" }, fixed(threshold)),
  ].filter(Boolean);
}

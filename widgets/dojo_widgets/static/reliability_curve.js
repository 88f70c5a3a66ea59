// Stated confidence against accuracy: a curve with intervals, and the same numbers as a table.
//
// `const end = mountReliability(host, model, { speak })` puts the view into a host inside a `.dojo` root; `end()`
// removes it. The model has the traits `data` and `bin`.

import { drawing, element, keys, put, view } from "./dom.js";
import { count, fixed, percent, whole } from "./numbers.js";

const SIZE = { least: 240, most: 460, left: 46, right: 14, top: 12, bars: 40, gap: 12, under: 40 };
const TICKS = [0, 0.2, 0.4, 0.6, 0.8, 1];

// Where things stand in a chart of some width. It is drawn at the width it has: scaled, its texts would get too small.
function scaleOf(width) {
  const side = width - SIZE.left - SIZE.right;
  const plot = Math.round(Math.min(268, side * 0.7));
  const base = SIZE.top + plot + SIZE.gap + SIZE.bars;
  return {
    width,
    base,
    height: base + SIZE.under,
    across: (value) => SIZE.left + value * side,
    up: (value) => SIZE.top + (1 - value) * plot,
  };
}

export function mountReliability(host, model, { speak = () => {} } = {}) {
  const title = element("div", { class: "title" });
  const chart = element("div", { class: "chart" });
  const table = element("div", { class: "numbers" });
  const foot = element("p", { class: "foot soft" });
  const body = element("div", { class: "both" }, chart, table);
  const root = element(
    "div",
    { class: "panel reliability", role: "group", "aria-label": "Reliability of stated confidence" },
    element("div", { class: "panel-head" }, title),
    body,
    foot,
  );

  const draw = () => {
    const data = model.get("data");
    title.textContent = data.finding;
    title.title = data.finding;
    foot.textContent = data.notes.map((note) => `${note}.`).join(" ");
    foot.hidden = !data.notes.length;
    if (data.error.value == null) {
      body.replaceChildren(
        element(
          "p",
          { class: "empty" },
          element("b", {}, "There is no curve to draw."),
          " It needs answered rows that state a confidence between 0 and 1 and have a verdict.",
        ),
      );
      return;
    }
    if (table.parentNode !== body) body.replaceChildren(chart, table);
    const width = Math.max(SIZE.least, Math.min(SIZE.most, chart.clientWidth));
    chart.replaceChildren(curve(data.bins, model.get("bin"), scaleOf(width)));
    const focused = table.contains(table.getRootNode().activeElement);
    table.replaceChildren(numbers(data.bins, model.get("bin")));
    if (focused) table.querySelector("[tabindex='0']")?.focus({ preventScroll: true });
  };
  const pick = (bin) => {
    put(model, { bin: model.get("bin") === bin ? -1 : bin });
    const one = model.get("data").bins[model.get("bin")];
    speak(one ? binWords(one) : "no bin selected");
  };
  root.addEventListener("click", (event) => {
    const one = event.target.closest("[data-bin]");
    if (one) pick(Number(one.dataset.bin));
  });
  keys(root, ({ key }) => {
    const { bins } = model.get("data");
    const filled = bins.map((_, at) => at).filter((at) => bins[at].n);
    const bin = model.get("bin");
    if (key === "Escape" && bin >= 0) {
      pick(bin);
      return true;
    }
    const step = { ArrowDown: 1, ArrowUp: -1, ArrowRight: 1, ArrowLeft: -1, Enter: 0 }[key];
    if (step == null || !filled.length) return false;
    const at = filled.indexOf(bin);
    const next = at < 0 ? filled[0] : filled[Math.max(0, Math.min(filled.length - 1, at + step))];
    if (next !== bin) pick(next);
    return true;
  });

  model.on("change:data", draw);
  model.on("change:bin", draw);
  host.append(root);
  let drawn = 0;
  const watch = new ResizeObserver(() => {
    if (root.clientWidth === drawn) return;
    drawn = root.clientWidth;
    draw();
  });
  watch.observe(root);
  draw();
  return () => {
    watch.disconnect();
    model.off("change:data", draw);
    model.off("change:bin", draw);
    root.remove();
  };
}

const range = ({ lo, hi }) => `${fixed(lo, 1)}\u2013${fixed(hi, 1)}`;

// "+0.05"; a gap that rounds to nothing has no sign.
function gapText(gap) {
  const size = fixed(Math.abs(gap));
  return Number(size) ? `${gap > 0 ? "+" : "\u2212"}${size}` : size;
}

function binWords(bin) {
  const size = fixed(Math.abs(bin.gap));
  const way = bin.gap > 0 ? "overconfident" : "underconfident";
  const gap = Number(size) ? `${way} by ${size}` : "no gap";
  const stated = `confidence ${fixed(bin.confidence)}, accuracy ${fixed(bin.accuracy)}`;
  const bounds = `[${fixed(bin.accuracy_lo)}, ${fixed(bin.accuracy_hi)}]`;
  return `${range(bin)}: ${stated} ${bounds}, ${count(bin.n, "answer")}, ${gap}`;
}

function curve(bins, selected, scale) {
  const { across, up, base, width, height } = scale;
  const filled = bins.map((bin, at) => ({ ...bin, at })).filter((bin) => bin.n);
  const points = filled.map((bin) => `${across(bin.confidence)},${up(bin.accuracy)}`).join(" ");
  const label = `Accuracy by stated confidence. ${filled.map(binWords).join(". ")}`;
  return drawing(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": label },
    TICKS.map((tick) => [
      drawing("line", { class: "grid-line", x1: across(0), x2: across(1), y1: up(tick), y2: up(tick) }),
      drawing("text", { class: "tick end", x: across(0) - 6, y: up(tick) + 4 }, fixed(tick, 1)),
      drawing("text", { class: "tick middle", x: across(tick), y: base + 15 }, fixed(tick, 1)),
    ]),
    drawing("text", { class: "axis middle", transform: `translate(12 ${up(0.5)}) rotate(-90)` }, "accuracy"),
    drawing("text", { class: "axis middle", x: across(0.5), y: base + 34 }, "stated confidence"),
    drawing("line", { class: "ideal", x1: across(0), y1: up(0), x2: across(1), y2: up(1) }),
    // Where answers of low confidence would be right nearly always: the corner that stays empty.
    drawing("line", { class: "ideal", x1: across(0.02), x2: across(0.09), y1: up(0.93), y2: up(0.93) }),
    drawing("text", { class: "axis", x: across(0.11), y: up(0.93) + 4 }, "accuracy = confidence"),
    drawing("polyline", { class: "curve", points }),
    filled.map((bin) => mark(bin, bin.at === selected, scale)),
    bars(filled, selected, scale),
  );
}

function mark(bin, isSelected, { across, up }) {
  const x = across(bin.confidence);
  const [top, bottom] = [up(bin.accuracy_hi), up(bin.accuracy_lo)];
  const cap = (y) => drawing("line", { class: "interval", x1: x - 4, x2: x + 4, y1: y, y2: y });
  return drawing(
    "g",
    { class: `mark ${isSelected ? "chosen" : ""}`, "data-bin": bin.at },
    drawing("title", {}, binWords(bin)),
    drawing("rect", { class: "target", x: x - 12, y: top - 4, width: 24, height: Math.max(24, bottom - top + 8) }),
    drawing("line", { class: "interval", x1: x, x2: x, y1: top, y2: bottom }),
    cap(top),
    cap(bottom),
    drawing("circle", { class: "point", cx: x, cy: up(bin.accuracy), r: isSelected ? 6 : 4.5 }),
  );
}

// Columns with the number of answers of each bin.
function bars(filled, selected, { across, base, width }) {
  const most = Math.max(...filled.map((bin) => bin.n));
  const room = (across(1) - across(0)) / 10;
  const isNarrow = filled.length > 3 && room < 7 * (2 + whole(most).length);
  const line = drawing("line", { class: "base", x1: across(0), x2: across(1), y1: base, y2: base });
  const columns = filled.map((bin) => {
    const height = Math.max(1, (bin.n / most) * (SIZE.bars - 12));
    const middle = (across(bin.lo) + across(bin.hi)) / 2;
    const words = isNarrow ? whole(bin.n) : `n ${whole(bin.n)}`;
    const half = 3.4 * words.length;
    return drawing(
      "g",
      { class: `bar ${bin.at === selected ? "chosen" : ""}`, "data-bin": bin.at },
      drawing("rect", { x: across(bin.lo) + 2, y: base - height, width: across(bin.hi) - across(bin.lo) - 4, height }),
      drawing("text", { class: "tick middle", x: Math.min(middle, width - half), y: base - height - 3 }, words),
    );
  });
  return [line, ...columns];
}

const HEADS = ["confidence", "n", "mean", "accuracy", "interval", "gap"];

function numbers(bins, selected) {
  const filled = bins.map((bin, at) => ({ ...bin, at })).filter((bin) => bin.n);
  const stop = filled.some(({ at }) => at === selected) ? selected : filled[0].at;
  const rows = filled.map((bin) =>
    element(
      "tr",
      { "data-bin": bin.at, class: bin.at === selected ? "chosen" : null },
      element(
        "th",
        { scope: "row" },
        element(
          "button",
          { type: "button", "aria-pressed": String(bin.at === selected), tabindex: bin.at === stop ? 0 : -1 },
          range(bin),
        ),
      ),
      [
        whole(bin.n),
        fixed(bin.confidence),
        fixed(bin.accuracy),
        `[${fixed(bin.accuracy_lo)}, ${fixed(bin.accuracy_hi)}]`,
        gapText(bin.gap),
      ].map((text) => element("td", {}, text)),
    ),
  );
  const empty = bins.length - filled.length;
  const said = [
    "gap: mean confidence minus accuracy; + is overconfident. ",
    empty ? `${whole(empty)} of ${whole(bins.length)} bins are empty. ` : "",
    rest(filled),
  ];
  return element(
    "div",
    {},
    element(
      "table",
      { "aria-label": "Accuracy by stated confidence" },
      element(
        "thead",
        {},
        element(
          "tr",
          {},
          HEADS.map((head) => element("th", { scope: "col" }, head)),
        ),
      ),
      element("tbody", {}, rows),
    ),
    element("p", { class: "soft said" }, said),
  );
}

// Most models state the same two or three values; a curve of one bin says little.
function rest(filled) {
  const total = filled.reduce((sum, bin) => sum + bin.n, 0);
  const largest = filled.reduce((best, bin) => (bin.n > best.n ? bin : best));
  return largest.n / total < 0.8
    ? ""
    : `${percent(largest.n / total)} of the answers state ${range(largest)}: little to tell them apart by.`;
}

function render({ model, el }) {
  const { root, live, dispose } = view(el, "reliability-curve");
  const end = mountReliability(root, model, { speak: live });
  return () => {
    end();
    dispose();
  };
}

export default { render };

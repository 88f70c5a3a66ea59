// Metrics before and after, with intervals and the difference in points.

import { element } from "./dom.js";
import { UNKNOWN, fixed, whole } from "./numbers.js";
import { estimateOf, missedIn, points, signed } from "./threshold_states.js";

const METRICS = [
  ["recall", "recall"],
  ["precision", "precision"],
  ["score", "field score"],
];

// Returns { node, show(before, after, { before, after }) }; states hold numbers or estimates.
export function metricTable() {
  const [before, after] = [
    element("th", { scope: "col", class: "number" }),
    element("th", { scope: "col", class: "number" }),
  ];
  const head = element(
    "tr",
    {},
    element("th", { scope: "col" }, "metric"),
    before,
    after,
    element("th", { scope: "col", class: "number" }, "change"),
    element("th", { scope: "col", class: "number n" }, "n"),
  );
  const body = element("tbody");
  const node = element("table", { class: "metrics" }, element("thead", {}, head), body);
  return {
    node,
    show: (from, to, headings) => {
      before.textContent = headings.before;
      after.textContent = headings.after;
      body.replaceChildren(
        countRow(missedIn(from), missedIn(to)),
        ...METRICS.map(([name, words]) => metricRow(words, from?.[name], to?.[name])),
      );
    },
  };
}

function metricRow(words, before, after) {
  const change = points(before, after);
  const n = estimateOf(after).n;
  return element(
    "tr",
    {},
    element("th", { scope: "row" }, words),
    estimateCell(before),
    estimateCell(after, "after"),
    element(
      "td",
      { class: `number change ${change == null || Math.abs(change) < 0.05 ? "soft" : ""}` },
      signed(change),
    ),
    element("td", { class: "number n soft" }, n == null ? "" : whole(n)),
  );
}

function countRow(before, after) {
  const change = before == null || after == null ? UNKNOWN : signedCount(after - before);
  const cells = [whole(before), whole(after), change, ""].map((text, at) =>
    element("td", { class: `number ${at === 1 ? "after" : ""}` }, text),
  );
  return element("tr", { class: "counts" }, element("th", { scope: "row" }, "spans missed"), cells);
}

function signedCount(n) {
  return n === 0 ? "0" : `${n < 0 ? "\u2212" : "+"}${whole(Math.abs(n))}`;
}

function estimateCell(value, kind = "before") {
  const { value: point, lo, hi, note } = estimateOf(value);
  if (point == null) return element("td", { class: `number ${kind}`, title: note || "not computed" }, UNKNOWN);
  const interval =
    lo == null || hi == null
      ? null
      : element("span", { class: "interval soft" }, ` [${fixed(lo, 3)}, ${fixed(hi, 3)}]`);
  return element("td", { class: `number ${kind}`, title: note || null }, fixed(point, 3), interval);
}

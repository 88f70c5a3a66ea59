// A grid of scores on paper: plain tables with every document and, a few at a time, every field.

import { element } from "./dom.js";
import { loss } from "./grid_layout.js";
import { UNKNOWN, count, fixed, whole } from "./numbers.js";

// What fits across a sheet of paper held upright, and what somebody may still want to have on paper.
const FIELDS = 7;
const DOCUMENTS = 500;

// Returns { node, dispose() }: empty on the screen. `read()` gives { data, documents, isApart } as they are shown.
export function gridPrint(read) {
  const node = element("div", { class: "printed" });
  const print = matchMedia("print");
  const onPrint = ({ matches }) => node.replaceChildren(...(matches ? printedTables(read()) : []));
  print.addEventListener("change", onPrint);
  return { node, dispose: () => print.removeEventListener("change", onPrint) };
}

function printedTables({ data, documents, isApart }) {
  const printed = documents.slice(0, DOCUMENTS);
  const tables = isApart
    ? [table(["document", "why it has no scores"], printed.map((one) => [one.short, `${one.status}: ${one.why}`]))]
    : chunks(data.fields.length).map(([from, to]) => scoreTable(data, printed, from, to));
  if (printed.length < documents.length) tables.push(rest(printed, documents));
  return tables;
}

function rest(printed, documents) {
  const words = `The first ${whole(printed.length)} of ${count(documents.length, "document")} are printed.`;
  return element("p", { class: "soft" }, words);
}

function chunks(n) {
  const tables = Math.max(1, Math.ceil(n / FIELDS));
  const each = Math.ceil(n / tables);
  return Array.from({ length: tables }, (_, at) => [at * each, Math.min(n, (at + 1) * each)]);
}

function scoreTable(data, documents, from, to) {
  const fields = data.fields.slice(from, to);
  const means = ["mean", data.overall, ...fields.map(({ mean }) => mean)].map((one) =>
    typeof one === "string" ? one : fixed(one.value, 3),
  );
  const rows = documents.map((one) => [one.short, fixed(one.overall), ...one.scores.slice(from, to).map(score)]);
  return table(["document", "overall", ...fields.map(({ words }) => words)], [means, ...rows]);
}

function score(value) {
  if (value == null) return UNKNOWN;
  return element("span", { class: loss(value) ? "lost" : null }, fixed(value));
}

function table(heads, rows) {
  const cells = (tag, row) => row.map((one, at) => element(at ? tag : "th", at ? {} : { scope: "row" }, one));
  return element(
    "table",
    {},
    element("thead", {}, element("tr", {}, heads.map((one) => element("th", { scope: "col" }, one)))),
    element("tbody", {}, rows.map((row) => element("tr", {}, cells("td", row)))),
  );
}

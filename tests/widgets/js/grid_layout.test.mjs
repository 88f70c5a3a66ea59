import assert from "node:assert/strict";
import test from "node:test";

import {
  columnPlan,
  firstColumn,
  loss,
  matching,
  moved,
  ordered,
  rowsThatFit,
  scrollToRow,
  toggledSort,
  visibleRange,
} from "../../../widgets/dojo_widgets/static/grid_layout.js";

test("only the rows in sight are drawn, some to spare", () => {
  assert.deepEqual(visibleRange(0, 240, 24, 5000, 2), { from: 0, to: 12 });
  assert.deepEqual(visibleRange(2400, 240, 24, 5000, 2), { from: 98, to: 112 });
  assert.deepEqual(visibleRange(0, 240, 24, 3, 2), { from: 0, to: 3 });
  assert.deepEqual(visibleRange(9999, 240, 24, 3, 2), { from: 3, to: 3 });
  assert.deepEqual(visibleRange(0, 0, 24, 0), { from: 0, to: 0 });
});

test("a row comes into sight with the least movement", () => {
  assert.equal(scrollToRow(5, 0, 240, 24), 0);
  assert.equal(scrollToRow(10, 0, 240, 24), 24);
  assert.equal(scrollToRow(0, 100, 240, 24), 0);
});

test("columns that do not fit are left for paging, and one always fits", () => {
  assert.equal(columnPlan(1180, 9).shown, 9);
  const narrow = columnPlan(478, 9);
  assert.equal(narrow.shown, 4);
  assert.ok(narrow.name + narrow.overall + narrow.shown * narrow.cell <= 478);
  assert.equal(columnPlan(100, 9).shown, 1);
  assert.equal(columnPlan(1180, 2).shown, 2);
  for (let width = 300; width < 1500; width += 7) {
    const { name, overall, shown, cell } = columnPlan(width, 40);
    assert.ok(name + overall + shown * cell <= width, String(width));
  }
});

test("the selected column is among those shown, the others move as little as possible", () => {
  assert.equal(firstColumn(0, 2, 4, 9), 0);
  assert.equal(firstColumn(0, 6, 4, 9), 3);
  assert.equal(firstColumn(5, 1, 4, 9), 1);
  assert.equal(firstColumn(8, null, 4, 9), 5);
  assert.equal(firstColumn(-4, null, 4, 9), 0);
});

test("as many rows as fit, at least a few, never more than there are", () => {
  assert.equal(rowsThatFit(250, 24, 4, 509), 10);
  assert.equal(rowsThatFit(10, 24, 4, 509), 4);
  assert.equal(rowsThatFit(250, 24, 4, 1), 1);
});

test("arrows, Page, Home and End move within the grid", () => {
  const at = { row: 3, column: 1 };
  assert.deepEqual(moved("ArrowDown", at, 10, 4, 5), { row: 4, column: 1 });
  assert.deepEqual(moved("ArrowRight", { row: 3, column: 3 }, 10, 4, 5), { row: 3, column: 3 });
  assert.deepEqual(moved("PageDown", at, 10, 4, 50), { row: 9, column: 1 });
  assert.deepEqual(moved("PageUp", at, 10, 4, 2), { row: 1, column: 1 });
  assert.deepEqual(moved("Home", at, 10, 4, 5), { row: 3, column: 0 });
  assert.deepEqual(moved("End", at, 10, 4, 5), { row: 3, column: 3 });
  assert.equal(moved("x", at, 10, 4, 5), null);
});

const FIELDS = [{ name: "law" }, { name: "date" }];
const DOCUMENTS = [
  { name: "c", short: "Ceres", overall: 0.5, scores: [1, null] },
  { name: "a", short: "Acme", overall: 0.5, scores: [null, 0] },
  { name: "b", short: "Beta", overall: 0.2, scores: [0.5, 0.4] },
];
const names = (documents) => documents.map((one) => one.name).join("");

test("documents are sorted by mean, name or any field; what has no score comes last both ways", () => {
  assert.equal(names(ordered(DOCUMENTS, "overall", FIELDS)), "bac");
  assert.equal(names(ordered(DOCUMENTS, "-overall", FIELDS)), "acb");
  assert.equal(names(ordered(DOCUMENTS, "document", FIELDS)), "abc");
  assert.equal(names(ordered(DOCUMENTS, "-document", FIELDS)), "cba");
  assert.equal(names(ordered(DOCUMENTS, "law", FIELDS)), "bca");
  assert.equal(names(ordered(DOCUMENTS, "-law", FIELDS)), "cba");
  assert.equal(names(ordered(DOCUMENTS, "-date", FIELDS)), "bac");
  assert.equal(names(DOCUMENTS), "cab");
});

test("a second click on a header turns the order round", () => {
  assert.equal(toggledSort("overall", "law"), "law");
  assert.equal(toggledSort("law", "law"), "-law");
  assert.equal(toggledSort("-law", "law"), "law");
});

test("the filter wants every word, in whatever case", () => {
  assert.equal(names(matching(DOCUMENTS, "")), "cab");
  assert.equal(names(matching(DOCUMENTS, "  ACM ")), "a");
  assert.equal(names(matching(DOCUMENTS, "e c")), "ca");
  assert.equal(names(matching(DOCUMENTS, "zzz")), "");
});

test("only a full score looks full", () => {
  assert.equal(loss(1), 0);
  assert.equal(loss(0.999), 1);
  assert.equal(loss(0.5), 5);
  assert.equal(loss(0), 10);
});

import assert from "node:assert/strict";
import { test } from "node:test";

import {
  cellId,
  cellText,
  columnPlan,
  confusions,
  headHeight,
  leastCell,
  namesWidth,
  ordered,
  placeOf,
  readMatrix,
  rowPlan,
  shareOf,
  shareText,
  strength,
  tailWidth,
  untilWord,
} from "../../../widgets/dojo_widgets/static/confusion_layout.js";

// Three labels: 8 of 10 supply right, 1 of 2 license, nothing expected of other; 3 license rows without an answer.
const data = {
  labels: [
    { key: "supply", name: "Supply", short: "Supply" },
    { key: "license", name: "License", short: "License" },
    { key: "other", name: "Abroad", short: "Abroad", outside: true },
  ],
  cells: [
    [0, 0, 8],
    [0, 1, 2],
    [1, 1, 1],
    [1, 2, 1],
  ],
  failed: [0, 3, 0],
  equivalent: [],
};
const matrix = readMatrix(data);

test("totals leave rows without an answer out", () => {
  assert.deepEqual(matrix.rows, [10, 2, 0]);
  assert.deepEqual(matrix.columns, [8, 3, 1]);
  assert.equal(matrix.total, 12);
  assert.equal(matrix.right, 9);
  assert.equal(matrix.at(1, 3), 3);
  assert.equal(matrix.at(2, 2), 0);
});

test("an id leads back to its cell, also with bars in the labels", () => {
  assert.equal(cellId(data, 1, 2), "license|other");
  assert.equal(cellId(data, 1, 3), "license|");
  assert.deepEqual(placeOf(data, "license|other"), { row: 1, column: 2 });
  assert.deepEqual(placeOf(data, "license|"), { row: 1, column: 3 });
  assert.equal(placeOf(data, ""), null);
  assert.equal(placeOf(data, "license|unknown"), null);
  const barred = { labels: [{ key: "a|b" }, { key: "c" }] };
  assert.deepEqual(placeOf(barred, "a|b|c"), { row: 0, column: 1 });
  assert.deepEqual(placeOf(barred, "c|a|b"), { row: 1, column: 0 });
  assert.deepEqual(placeOf(barred, "a|b|"), { row: 0, column: 2 });
});

test("labels are ordered; what is no label stays last", () => {
  assert.deepEqual(ordered(data, matrix, "support"), [0, 1, 2]);
  assert.deepEqual(ordered(data, matrix, "name"), [1, 0, 2]);
  assert.deepEqual(ordered(data, matrix, "errors"), [0, 1, 2]);
  assert.deepEqual(ordered(data, matrix, "no such order"), [0, 1, 2]);
});

test("labels without answers are ordered by their failed rows", () => {
  const labels = ["a", "b"].map((key) => ({ key, name: key, short: key }));
  const failed = { labels, cells: [], failed: [1, 4], equivalent: [] };
  assert.deepEqual(ordered(failed, readMatrix(failed), "support"), [1, 0]);
});

test("shares are of the row, the column, or of nothing", () => {
  const place = { row: 0, column: 1 };
  assert.equal(shareOf(matrix, place, "none"), 0.2);
  assert.equal(shareOf(matrix, place, "row"), 0.2);
  assert.equal(shareOf(matrix, place, "column"), 2 / 3);
  assert.equal(shareOf(matrix, { row: 1, column: 3 }, "row"), 3 / 5);
  assert.equal(shareOf(matrix, { row: 2, column: 2 }, "row"), null);
});

test("a part never reads as none or as all", () => {
  assert.equal(shareText(0), "0");
  assert.equal(shareText(0.001), "<1");
  assert.equal(shareText(0.999), "99");
  assert.equal(shareText(1), "100");
  assert.equal(shareText(null), "");
  assert.equal(cellText(matrix, { row: 0, column: 1 }, "none"), "2");
  assert.equal(cellText(matrix, { row: 0, column: 1 }, "row"), "20");
  assert.equal(cellText(matrix, { row: 2, column: 0 }, "row"), "");
  assert.equal(cellText(matrix, { row: 1, column: 3 }, "row"), "3");
});

test("colour is the share of the row on one scale for every matrix, and a single row is seen", () => {
  assert.equal(strength(matrix, { row: 0, column: 1 }, "none"), 4);
  assert.equal(strength(matrix, { row: 0, column: 1 }, "row"), 4);
  assert.equal(strength(matrix, { row: 1, column: 2 }, "none"), 7);
  assert.equal(strength(matrix, { row: 1, column: 2 }, "column"), 10);
  const other = readMatrix({ ...data, cells: [...data.cells, [2, 0, 50]] });
  assert.equal(strength(other, { row: 0, column: 1 }, "none"), 4);
  assert.equal(strength(matrix, { row: 0, column: 2 }, "none"), 0);
  const large = {
    labels: data.labels,
    cells: [
      [0, 1, 1],
      [0, 0, 99999],
    ],
    failed: [0, 0, 0],
  };
  assert.equal(strength(readMatrix(large), { row: 0, column: 1 }, "row"), 1);
});

test("confusions are the wrong cells, largest first", () => {
  const found = confusions(matrix, data);
  assert.deepEqual(
    found.map(({ row, column, count }) => [row, column, count]),
    [
      [0, 1, 2],
      [1, 2, 1],
    ],
  );
  assert.equal(found[1].share, 0.5);
  assert.equal(confusions(matrix, data, 1).length, 1);
});

test("26 columns fit 800 pixels; at 480 some are left for the pager", () => {
  assert.equal(columnPlan(800, 26, 60).shown, 26);
  const narrow = columnPlan(464, 26, 60);
  assert.ok(narrow.shown < 26 && narrow.cell >= 20);
  for (const width of [464, 752, 1011, 1440]) {
    const { label, shown, cell } = columnPlan(width, 26, 60, { names: 140 });
    assert.ok(label + shown * cell + 60 <= width);
  }
  assert.equal(columnPlan(50, 26, 60).shown, 1);
});

test("names get the room that few columns leave, but no more than they need", () => {
  assert.equal(columnPlan(464, 3, 30).label, 92);
  assert.equal(columnPlan(464, 3, 30, { names: 170 }).label, 170);
  assert.equal(columnPlan(464, 3, 30, { names: 900 }).label, 464 - 30 - 3 * 58);
  assert.equal(namesWidth(["IP"]), 92);
  assert.ok(namesWidth(["Articles of Incorporation"]) > 150);
});

test("sums under narrow columns do not run into one another", () => {
  assert.equal(leastCell({ columns: [31, 4] }), 20);
  assert.equal(leastCell({ columns: [507, 4] }), 24);
  assert.equal(tailWidth({ total: 12, failed: [0] }), 30);
  assert.equal(tailWidth({ total: 12345, failed: [0] }), 50);
});

test("a text is cut at the end of a word", () => {
  assert.equal(untilWord("pay the rent", 50), "pay the rent");
  assert.equal(untilWord("pay the rent", 9), "pay the");
  assert.equal(untilWord("pay the rent", 7), "pay the");
  assert.equal(untilWord("x".repeat(30), 9), "x".repeat(9));
});

test("rows shrink to what stays readable, then scroll", () => {
  assert.deepEqual(rowPlan(400, 26), { height: 15, shown: 26 });
  assert.deepEqual(rowPlan(400, 5), { height: 28, shown: 5 });
  assert.deepEqual(rowPlan(390, 100), { height: 15, shown: 26 });
  assert.deepEqual(rowPlan(10, 26), { height: 15, shown: 4 });
  assert.equal(headHeight([]), 60);
  assert.equal(headHeight(["a".repeat(60)]), 124);
  assert.equal(headHeight(new Array(26).fill("a".repeat(60))), 90);
});

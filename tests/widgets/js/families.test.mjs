import assert from "node:assert/strict";
import test from "node:test";

import {
  aboveAverage,
  barOf,
  familiesSay,
  keptFamilies,
  nextSort,
  overallRate,
  readSort,
  sortedFamilies,
  worstFamily,
} from "../../../widgets/dojo_widgets/static/families.js";

const family = (short, expected, unmatched, more = {}) => ({
  category: `The ${short} clause`,
  short,
  expected,
  unmatched,
  rate: unmatched / expected,
  lo: 0,
  hi: 1,
  ranked: expected >= 5,
  ...more,
});
const CAP = family("Cap", 25, 17, { lo: 0.48, hi: 0.83 });
const AUDIT = family("Audit", 20, 17, { lo: 0.64, hi: 0.95 });
const ASSIGN = family("assign", 40, 3, { lo: 0.03, hi: 0.2 });
const PRICE = family("Price", 2, 2, { lo: 0.34, hi: 1 });
const ALL = [ASSIGN, PRICE, CAP, AUDIT];
const names = (families) => families.map(({ short }) => short);

test("by count the most missed comes first, ties by rate, and small families stand apart", () => {
  const { ranked, unranked } = sortedFamilies(ALL, "count:desc");
  assert.deepEqual(names(ranked), ["Audit", "Cap", "assign"]);
  assert.deepEqual(names(unranked), ["Price"]);
});

test("by name nothing stands apart and case does not count", () => {
  const { ranked, unranked } = sortedFamilies(ALL, "name:asc");
  assert.deepEqual(names(ranked), ["assign", "Audit", "Cap", "Price"]);
  assert.deepEqual(unranked, []);
});

test("sorting leaves the table as it is", () => {
  const before = [...ALL];
  sortedFamilies(ALL, "rate:asc");
  assert.deepEqual(ALL, before);
});

test("a head sorts its way first and the other way next", () => {
  assert.equal(nextSort("count:desc", "rate", "desc"), "rate:desc");
  assert.equal(nextSort("rate:desc", "rate", "desc"), "rate:asc");
  assert.deepEqual(readSort("name:asc"), { by: "name", down: false });
});

test("a filter needs all its words, in the short or the full name", () => {
  assert.deepEqual(names(keptFamilies(ALL, "the CAP")), ["Cap"]);
  assert.deepEqual(keptFamilies(ALL, "  "), ALL);
  assert.deepEqual(keptFamilies(ALL, "nothing"), []);
});

test("the worst family is ranked and has misses", () => {
  assert.equal(worstFamily(ALL), AUDIT.category);
  assert.equal(worstFamily([PRICE, family("Fine", 9, 0)]), "");
});

test("by count a bar is as long as its family, whiskers are Wilson times n", () => {
  assert.deepEqual(barOf(CAP, false, 50), { track: 0.5, value: 0.34, lo: 0.24, hi: 0.415 });
  assert.deepEqual(barOf(CAP, true, 50), { track: 1, value: 17 / 25, lo: 0.48, hi: 0.83 });
});

test("only ranked families whose interval clears the average are said to stick out", () => {
  assert.equal(overallRate(ALL), 39 / 87);
  assert.deepEqual(names(aboveAverage(ALL)), ["Audit", "Cap"]);
  assert.match(familiesSay(ALL, 1), /beyond chance: Audit and 1 more\./);
  assert.match(familiesSay([ASSIGN]), /^No family is missed more/);
  assert.match(familiesSay([family("Fine", 9, 0)]), /^No family has a missed span/);
  assert.equal(overallRate([]), null);
  assert.match(familiesSay([]), /nothing is expected/);
});

import assert from "node:assert/strict";
import test from "node:test";

import { causeColour, causeCounts, causeName } from "../../../widgets/dojo_widgets/static/causes.js";
import {
  countsIn,
  emptyWords,
  firstSpan,
  foldedWords,
  heading,
  listed,
  settled,
  similarityWords,
} from "../../../widgets/dojo_widgets/static/span_rows.js";
import { SPANS, span, tableOf } from "./miss_records.mjs";

const TABLE = tableOf(SPANS);
const CHOICE = { family: "", cause: "", show: "missed", span: "", sort: "similarity:desc", family_sort: "count:desc" };
const ids = (table, changes) =>
  listed(table, { ...CHOICE, ...changes })
    .rows.map(({ id }) => id)
    .join("");

test("taken, near and missed are all missed; matches to check are matches too", () => {
  assert.equal(ids(TABLE, {}), "dba");
  assert.equal(ids(TABLE, { show: "matched" }), "ec");
  assert.equal(ids(TABLE, { show: "check" }), "c");
  assert.equal(ids(tableOf([span("t", "Cap", "taken")]), {}), "t");
});

test("families and causes filter together", () => {
  assert.equal(ids(TABLE, { family: "Cap" }), "ba");
  assert.equal(ids(TABLE, { family: "Cap", cause: "split" }), "b");
  assert.equal(ids(TABLE, { family: "Audit", cause: "split" }), "");
});

test("every column sorts both ways, equal spans by similarity", () => {
  assert.equal(ids(TABLE, { sort: "similarity:asc" }), "abd");
  assert.equal(ids(TABLE, { sort: "document:asc" }), "adb");
  assert.equal(ids(TABLE, { sort: "document:desc" }), "dba");
  assert.equal(ids(TABLE, { sort: "label:desc" }), "dba");
  assert.equal(ids(TABLE, { sort: "place:asc" }), "bda");
  assert.equal(ids(TABLE, { sort: "cause:asc" }), "dab");
});

test("a span without similarity comes last", () => {
  const table = tableOf([
    span("none", "Cap", "missed", { similarity: null }),
    span("zero", "Cap", "missed", { similarity: 0 }),
  ]);
  assert.equal(listed(table, CHOICE).rows.at(-1).id, "none");
});

const silent = (n) =>
  Array.from({ length: n }, (_, at) =>
    span(`s${at}`, "Cap", "missed", { cause: "empty_prediction", similarity: null, document: at % 2 }),
  );

test("many spans of documents without items are one line, unless they are asked for or all there is", () => {
  const table = tableOf([...SPANS, ...silent(9)]);
  const { rows, folded } = listed(table, CHOICE);
  assert.deepEqual([rows.length, folded.length], [3, 9]);
  assert.equal(foldedWords(folded), "9 more spans of 2 documents without any item");
  assert.equal(listed(table, { ...CHOICE, cause: "empty_prediction" }).rows.length, 9);
  assert.equal(listed(tableOf(silent(9)), CHOICE).rows.length, 9);
  assert.equal(listed(tableOf([...SPANS, ...silent(3)]), CHOICE).rows.length, 6);
});

test("what is selected first belongs to the family missed most", () => {
  assert.equal(firstSpan(TABLE, CHOICE), "b");
  assert.equal(firstSpan(TABLE, { ...CHOICE, family: "Audit" }), "d");
  assert.equal(firstSpan(TABLE, { ...CHOICE, family: "Audit", cause: "split" }), "");
});

test("filters win over the span, unless somebody asked for the span", () => {
  const filtered = { ...CHOICE, family: "Audit", cause: "omission", span: "b" };
  assert.equal(settled(TABLE, filtered, false).span, "d");
  assert.deepEqual(settled(TABLE, filtered, true), { ...CHOICE, span: "b" });
  assert.deepEqual(settled(TABLE, { ...CHOICE, family: "Cap", span: "c" }, true), {
    ...CHOICE,
    family: "Cap",
    span: "c",
    show: "matched",
  });
});

test("a consistent choice stays as it is, an unknown family is dropped, a cause shows what is missed", () => {
  const choice = { ...CHOICE, family: "Cap", span: "a" };
  assert.deepEqual(settled(TABLE, choice, false), choice);
  assert.equal(settled(TABLE, { ...choice, family: "Gone" }, false).family, "");
  assert.equal(settled(TABLE, { ...choice, cause: "split", show: "matched" }, false).show, "missed");
});

test("asking for a folded span unfolds it", () => {
  const table = tableOf([...SPANS, ...silent(9)]);
  const next = settled(table, { ...CHOICE, span: "s3" }, true);
  assert.deepEqual([next.cause, next.span], ["empty_prediction", "s3"]);
});

test("counts of a family add up", () => {
  assert.deepEqual(countsIn(TABLE, ""), { expected: 5, missed: 3, matched: 2, check: 1 });
  assert.deepEqual(countsIn(TABLE, "Audit"), { expected: 2, missed: 1, matched: 1, check: 0 });
});

test("the heading says what is selected and where", () => {
  const rows = listed(TABLE, CHOICE).rows;
  const of = (changes, at, list = rows) => heading(TABLE, { ...CHOICE, ...changes }, at, list);
  assert.equal(of({ family: "Cap", cause: "omission" }, 2), "Cap \u00b7 omission \u00b7 span 3 of 3");
  assert.equal(of({}, 0), "All families \u00b7 span 1 of 3 \u00b7 Audit");
  assert.equal(of({}, -1, []), "All families \u00b7 no spans");
  assert.equal(of({ show: "check" }, -1, [SPANS[2]]), "All families \u00b7 matches to check \u00b7 1 span");
});

test("an empty list says why and what to do", () => {
  const all = tableOf([span("m", "Cap", "matched"), span("n", "Cap", "matched")]);
  const words = emptyWords(all, { ...CHOICE, family: "Cap" });
  assert.equal(words.finding, "Nothing is missed here.");
  assert.equal(words.next, "All 2 expected spans of Cap reach coverage 0.60.");
  assert.match(
    emptyWords(TABLE, { ...CHOICE, family: "Audit", cause: "split" }).next,
    /^1 span of Audit is missed for other/,
  );
  assert.match(emptyWords(tableOf([]), CHOICE).next, /No document of this run has a labelled terms span/);
  assert.equal(emptyWords(all, { ...CHOICE, show: "check" }).finding, "No match needs a second look.");
});

test("a similarity never rounds across the threshold", () => {
  assert.equal(similarityWords(0.596, 0.6), "0.596");
  assert.equal(similarityWords(0.59996, 0.6), "0.59996");
  assert.equal(similarityWords(0.6, 0.6), "0.60");
  assert.equal(similarityWords(0.58, 0.6), "0.58");
  assert.equal(similarityWords(0.6649, 0.665), "0.66");
  assert.equal(similarityWords(null, 0.6), "\u2013");
});

test("causes come in one order and one hue, with the table's own words", () => {
  assert.deepEqual(causeCounts({ causes: { wording: 1, omission: 2, split: 0 } }), [
    { cause: "omission", n: 2 },
    { cause: "wording", n: 1 },
  ]);
  assert.match(causeColour("omission"), /var\(--missed\) 100%/);
  assert.equal(causeName({ cause_names: { shifted: "off the place" } }, "shifted"), "off the place");
  assert.equal(causeName({}, "over_quote"), "over-quote");
});

import assert from "node:assert/strict";
import test from "node:test";

import {
  asJsonl,
  judgedCount,
  neighbour,
  nextOpen,
  queueOf,
  withNote,
  withVerdict,
} from "../../../widgets/dojo_widgets/static/label_queue.js";

const SPANS = ["a", "b", "c"].map((id) => ({
  id,
  document: `doc ${id}`,
  field: "law",
  category: "Law",
  text: `text ${id}`,
}));
const JUDGED = { b: { verdict: "true_miss", note: "" } };
const ids = (spans) => spans.map(({ id }) => id).join("");

test("a verdict is given, changed, and taken back by a second press", () => {
  const once = withVerdict({}, "a", "true_miss");
  assert.deepEqual(once, { a: { verdict: "true_miss", note: "" } });
  assert.deepEqual(withVerdict(once, "a", "label_wrong"), { a: { verdict: "label_wrong", note: "" } });
  assert.deepEqual(withVerdict(once, "a", "true_miss"), {});
  assert.deepEqual(once, { a: { verdict: "true_miss", note: "" } });
});

test("a note outlives a verdict taken back, and an emptied note is none", () => {
  const noted = withNote(JUDGED, "b", "  look again ");
  assert.deepEqual(noted.b, { verdict: "true_miss", note: "look again" });
  assert.deepEqual(withVerdict(noted, "b", "true_miss").b, { verdict: "", note: "look again" });
  assert.deepEqual(withNote(withNote({}, "a", "x"), "a", " "), {});
});

test("the span at hand stays in a filtered queue", () => {
  assert.equal(ids(queueOf(SPANS, JUDGED, "all", "b")), "abc");
  assert.equal(ids(queueOf(SPANS, JUDGED, "open", "a")), "ac");
  assert.equal(ids(queueOf(SPANS, JUDGED, "open", "b")), "abc");
  assert.equal(ids(queueOf(SPANS, JUDGED, "judged", "")), "b");
  assert.equal(judgedCount(SPANS, { ...JUDGED, c: { verdict: "", note: "x" } }), 1);
});

test("next and previous stay within the queue", () => {
  assert.equal(neighbour(SPANS, "a", 1), "b");
  assert.equal(neighbour(SPANS, "a", -1), "a");
  assert.equal(neighbour(SPANS, "a", Infinity), "c");
  assert.equal(neighbour(SPANS, "gone", 1), "a");
  assert.equal(neighbour(SPANS, "gone", -1), "c");
  assert.equal(neighbour([], "a", 1), "");
});

test("the next open span comes round again, and none is left when all are judged", () => {
  assert.equal(nextOpen(SPANS, JUDGED, "a"), "c");
  assert.equal(nextOpen(SPANS, JUDGED, "c"), "a");
  assert.equal(nextOpen(SPANS, JUDGED, "gone"), "a");
  const all = Object.fromEntries(SPANS.map(({ id }) => [id, { verdict: "true_miss", note: "" }]));
  assert.equal(nextOpen(SPANS, all, "a"), "");
});

test("records are copied in the form of a file of annotations", () => {
  const data = { spans: SPANS, who: "Ada", recipe: { spans: "first" } };
  const noted = { ...JUDGED, a: { verdict: "", note: "line\nbreak" } };
  const lines = asJsonl(data, noted, "2026-01-31T09:00:00.000Z").split("\n");
  assert.equal(lines.length, 3);
  assert.equal(JSON.parse(lines[0]).verdict, null);
  assert.deepEqual(JSON.parse(lines[1]), {
    span: "b",
    document: "doc b",
    field: "law",
    category: "Law",
    text: "text b",
    verdict: "true_miss",
    note: "",
    who: "Ada",
    when: "2026-01-31T09:00:00.000Z",
    recipe: { spans: "first" },
  });
});

import assert from "node:assert/strict";
import test from "node:test";

import {
  axisOf,
  bounds,
  drawn,
  grouped,
  idAfter,
  matchingChanges,
  nextSort,
  position,
  signed,
  tickText,
  verdictMark,
  VERDICTS,
  withAxes,
} from "../../../widgets/dojo_widgets/static/delta_forest_layout.js";
import {
  bandText,
  chanceText,
  changeText,
  copiedRows,
  factsOf,
  movedWords,
} from "../../../widgets/dojo_widgets/static/delta_forest_facts.js";

const row = (name, delta, more = {}) => ({
  id: name,
  name,
  group: "Overall",
  scale: "metrics",
  delta,
  lo: delta == null ? null : delta - 0.01,
  hi: delta == null ? null : delta + 0.01,
  band: null,
  verdict: "inconclusive",
  ...more,
});

test("a change is printed with its sign, and as nothing when it rounds to nothing", () => {
  assert.equal(signed(0.01012), "+0.0101");
  assert.equal(signed(-0.0031), "\u22120.0031");
  assert.equal(signed(-0.00001), "0.0000");
  assert.equal(signed(null), "\u2013");
  assert.equal(signed(-0.125, 3), "\u22120.125");
  assert.equal(bounds({ lo: -0.0031, hi: 0.0257 }), "[\u22120.0031, +0.0257]");
  assert.equal(bounds({ lo: null, hi: null }), "");
});

test("every verdict has a sign of its own; the hollow ones tell the direction", () => {
  const icons = VERDICTS.map((verdict) => verdictMark(verdict, 1).icon);
  assert.equal(new Set(icons).size, VERDICTS.length);
  assert.notEqual(
    verdictMark("inconclusive: rerun noise not measured", 1).icon,
    verdictMark("inconclusive: rerun noise not measured", -1).icon,
  );
  assert.deepEqual(verdictMark("never heard of"), { kind: "never heard of", icon: "" });
});

test("0 is in the middle and better is at the right", () => {
  const axis = axisOf([row("a", 0.02), row("b", -0.04)]);
  assert.equal(position(0, axis), 50);
  assert.ok(position(0.02, axis) > 50 && position(-0.02, axis) < 50);
  assert.ok(axis.limit >= 0.05);
  assert.deepEqual([...axis.ticks].reverse().map((tick) => -tick + 0), axis.ticks.map((tick) => tick + 0));
});

test("ticks are round and lie well inside", () => {
  for (const reach of [0.0007, 0.013, 0.05, 0.3, 1, 40]) {
    const { limit, ticks } = axisOf([row("a", reach, { lo: reach, hi: reach })]);
    assert.ok(ticks.length === 5 || ticks.length === 3, String(reach));
    for (const tick of ticks) {
      assert.ok(Math.abs(tick) <= 0.81 * limit, `${tick} of ${limit}`);
      assert.match(tickText(tick), /^(0|[+\u2212]\d+(\.\d+)?(e-\d+)?)$/);
    }
  }
  assert.equal(tickText(-0.025), "\u22120.025");
});

test("one wild interval does not flatten the others, and never the row that counts most", () => {
  const usual = [1, 2, 3, 4, 5, 6].map((n) => row(`m${n}`, n / 1000, { lo: -0.01, hi: 0.01 }));
  const wild = row("wild", 0.3, { lo: -0.5, hi: 1 });
  const axis = axisOf([...usual, wild]);
  assert.ok(axis.limit < 0.05);
  const cut = drawn(wild, axis);
  assert.deepEqual(cut.cut, { left: true, right: true });
  assert.equal(cut.point, null);
  assert.deepEqual(cut.interval, { from: 0, to: 100 });
  assert.ok(axisOf([...usual, { ...wild, chief: true }], ({ chief }) => chief).limit >= 1);
});

test("an axis without anything on it is an axis all the same", () => {
  assert.equal(axisOf([]).limit, 1);
  assert.equal(axisOf([row("a", 0, { lo: 0, hi: 0 })]).limit, 1);
  assert.equal(axisOf([row("a", null)]).limit, 1);
  const nothing = drawn(row("a", null), axisOf([]));
  assert.equal(nothing.point, null);
  assert.equal(nothing.interval, null);
});

test("the band is a zone around 0; without one single differences are shown, but not those of 0", () => {
  const axis = axisOf([row("a", 0.02, { band: 0.01 })]);
  const { zone, single } = drawn(row("a", 0.02, { band: 0.01, single: [0.01] }), axis);
  assert.ok(Math.abs(zone.from + zone.to - 100) < 1e-9);
  assert.deepEqual(single, []);
  assert.deepEqual(drawn(row("a", 0.02, { single: [0, 0.01] }), axis).single, [position(0.01, axis)]);
});

test("classes of few documents get an axis of their own only where they need it", () => {
  const overall = { group: "Overall", rows: [row("a", 0.01)] };
  const classes = (delta) => ({ group: "Classes", rows: [row("c", delta, { scale: "classes" })] });
  const apart = withAxes([overall, classes(0.4)]);
  assert.notEqual(apart[0].axis, apart[1].axis);
  const together = withAxes([overall, classes(0.012)]);
  assert.equal(together[0].axis, together[1].axis);
  assert.deepEqual(withAxes([]), []);
});

test("rows sort within their groups, unknown ones last both ways", () => {
  const rows = [
    row("b", 0.01),
    row("a", null),
    row("c", -0.02, { verdict: "loss" }),
    row("d", 0.03, { verdict: "win" }),
    row("z", 0.5, { group: "Fields" }),
  ];
  const order = (sort) => grouped(rows, sort).map(({ rows: found }) => found.map(({ id }) => id).join(""));
  assert.deepEqual(order("given"), ["bacd", "z"]);
  assert.deepEqual(order("change"), ["dbca", "z"]);
  assert.deepEqual(order("-change"), ["cbda", "z"]);
  assert.deepEqual(order("name"), ["bcda", "z"]);
  assert.deepEqual(order("verdict"), ["dcba", "z"]);
  assert.deepEqual(rows.map(({ id }) => id).join(""), "bacdz");
});

test("a heading sorts, turns round, and lets go", () => {
  assert.equal(nextSort("given", "change"), "change");
  assert.equal(nextSort("change", "change"), "-change");
  assert.equal(nextSort("-change", "change"), "given");
  assert.equal(nextSort("-change", "name"), "name");
});

test("keys move within the rows", () => {
  const ids = ["a", "b", "c"];
  assert.equal(idAfter("ArrowDown", ids, "a"), "b");
  assert.equal(idAfter("ArrowUp", ids, "a"), "a");
  assert.equal(idAfter("End", ids, "a"), "c");
  assert.equal(idAfter("Home", ids, "c"), "a");
  assert.equal(idAfter("End", ids, ""), "c");
  assert.equal(idAfter("ArrowUp", ids, ""), "a");
  assert.equal(idAfter("x", ids, "a"), "");
  assert.equal(idAfter("ArrowDown", [], ""), "");
});

const changes = [
  { id: "1", short: "Loop", document: "Loop 2001", direction: "worse", answer_a: "May 8", answer_b: "" },
  { id: "2", short: "Ceres", document: "Ceres 2012", direction: "better", answer_a: "", answer_b: "Delaware" },
];

test("documents are narrowed by direction and by every word typed", () => {
  const ids = (how) => matchingChanges(changes, how).map(({ id }) => id);
  assert.deepEqual(ids({}), ["1", "2"]);
  assert.deepEqual(ids({ way: "better" }), ["2"]);
  assert.deepEqual(ids({ text: "DELA ceres" }), ["2"]);
  assert.deepEqual(ids({ text: "dela loop" }), []);
});

test("a copied cell never is a formula", () => {
  const [head, line] = copiedRows([{ document: "=cmd()", a: 1, b: 0, change: -1, answer_a: "a\tb\nc" }]).split("\n");
  assert.equal(head.split("\t").length, 7);
  assert.deepEqual(line.split("\t"), ["'=cmd()", "1", "0", "-1", "a b c", "", ""]);
});

const metric = {
  label: "overall",
  a: { value: 0.913, lo: 0.879, hi: 0.941, n: 50 },
  b: { value: 0.923, lo: null, hi: null, n: 50 },
  delta: 0.0101,
  lo: -0.0035,
  hi: 0.025,
  n: 50,
  p: 0.0004,
  p_holm: 0.0032,
  p_win: 0.92,
  p_tie: 0,
  p_loss: 0.08,
  mde: 0.0204,
  required_n: 203,
  band: { value: null, m: 2, deltas: [0.0059, -0.004], reason: "2 pairs" },
};
const fact = (name, more = {}) => factsOf({ ...metric, ...more }, "document").find((one) => one.name === name)?.text;

test("figures that do not fit a row", () => {
  assert.equal(changeText(metric), "+0.0101 [\u22120.0035, +0.0250]");
  assert.equal(fact("A"), "0.913 [0.879, 0.941]");
  assert.equal(fact("B"), "0.923");
  assert.equal(fact("p"), "< 0.001; 0.003 by Holm");
  assert.equal(fact("p", { p: 0.2, p_holm: null }), "0.200");
  assert.equal(fact("band"), "unknown; 2 reruns: +0.0059, \u22120.0040");
  assert.equal(fact("band", { band: { value: 0.006, m: 4 } }), "\u00b10.0060 (4 reruns)");
  assert.equal(bandText({ value: null, m: 0 }), "not measured");
  assert.equal(fact("detectable"), "from \u00b10.0204");
  assert.equal(fact("to be sure"), "203 documents");
  assert.equal(fact("to be sure", { required_n: 12 }), "12, enough here");
  assert.equal(fact("to be sure", { required_n: null, delta: 0 }), "none: the change is 0");
  assert.equal(fact("B better in"), "92%");
  assert.equal(fact("B better in", { p_win: null }), "\u2013");
  assert.equal(fact("failed as worst"), undefined);
  assert.equal(fact("failed as worst", { worst: { delta: 0.125, lo: 0.1, hi: 0.2 } }), "+0.1250 [+0.1000, +0.2000]");
  assert.equal(fact("direction", { higher: false }), "lower is better");
  assert.equal(chanceText(null), "\u2013");
});

test("what moved, counts first", () => {
  assert.equal(
    movedWords({ better: 18, worse: 10, equal: 22 }, "document"),
    "B is better in 18, worse in 10, equal in 22 of 50 documents.",
  );
  assert.equal(movedWords({ better: 0, worse: 0, equal: 50 }, "document"), "No document of 50 changed.");
});

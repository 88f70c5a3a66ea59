import assert from "node:assert/strict";
import test from "node:test";

import {
  baseState,
  flipsAt,
  gatesOf,
  hasGates,
  hasPartial,
  missedIn,
  nearestGate,
  placeAfter,
  placeOf,
  points,
  signed,
  stateAt,
  thresholdsOf,
} from "../../../widgets/dojo_widgets/static/threshold_states.js";

const states = (more) =>
  [0.5, 0.6, 0.7].map((threshold) => ({ threshold, matched: 100 * (1 - threshold), expected: 100, ...more }));
const PLAIN = { base: { threshold: 0.6, rescue_below: null, partial: true }, states: states({}) };
const FULL = {
  base: { threshold: 0.6, rescue_below: 0.7, partial: true },
  states: states({ score: 0.5 }),
  gates: [
    { rescue_below: 0.5, threshold: 0.6, matched: 1, expected: 100 },
    { rescue_below: 0.9, states: states({ score: 0.9 }) },
  ],
  partial: { on: states({ score: 0.5 }), off: states({ score: 0.1 }) },
};

test("what a run does not have is not offered", () => {
  assert.equal(hasGates(PLAIN), false);
  assert.equal(hasPartial(PLAIN), false);
  assert.deepEqual(thresholdsOf(PLAIN), [0.5, 0.6, 0.7]);
  assert.equal(baseState(PLAIN).threshold, 0.6);
  assert.equal(stateAt(PLAIN, { threshold: 0.6, gate: 0.4, partial: true }), null);
});

test("the state of every place that was computed", () => {
  const at = (threshold, gate, partial) => stateAt(FULL, { threshold, gate, partial });
  assert.equal(at(0.5, 0.7, true).score, 0.5);
  assert.equal(at(0.5, 0.7, false).score, 0.1);
  assert.equal(at(0.6, 0.5, true).matched, 1);
  assert.equal(at(0.5, 0.5, true), null);
  assert.equal(at(0.5, 0.9, true).score, 0.9);
  assert.deepEqual(gatesOf(FULL), [0.5, 0.7, 0.9]);
  assert.equal(nearestGate(gatesOf(FULL), 0.57), 0.5);
  assert.equal(missedIn(at(0.6, 0.5, true)), 99);
});

test("a control that is moved wins over those that were not computed together with it", () => {
  const base = placeOf(FULL, {});
  const low = { ...base, threshold: 0.5 };
  assert.deepEqual(placeAfter(FULL, base, { threshold: 0.5 }), low);
  assert.deepEqual(placeAfter(FULL, low, { gate: 0.5 }), { ...base, gate: 0.5 });
  assert.deepEqual(placeAfter(FULL, low, { gate: 0.9 }), { ...low, gate: 0.9 });
  assert.deepEqual(placeAfter(FULL, { ...base, gate: 0.5 }, { threshold: 0.7 }), { ...base, threshold: 0.7 });
  assert.deepEqual(placeAfter(FULL, { ...low, gate: 0.9 }, { threshold: 0.7 }), { ...base, gate: 0.9, threshold: 0.7 });
  assert.deepEqual(placeAfter(FULL, low, { partial: false }), { ...low, partial: false });
  assert.deepEqual(placeAfter(FULL, base, { gate: 0.33 }), base);
});

const FLIPS = [
  { id: "a", at: 0.55, to: "matched" },
  { id: "b", at: 0.5, to: "matched", until: 0.4 },
  { id: "c", at: 0.65, to: "missed" },
];

test("a flip counts from its threshold on, away from the run's, until it turns back", () => {
  const ids = (threshold) =>
    flipsAt({ ...PLAIN, flips: FLIPS }, threshold)
      .map(({ id }) => id)
      .join("");
  assert.equal(ids(0.6), "");
  assert.equal(ids(0.56), "");
  assert.equal(ids(0.55), "a");
  assert.equal(ids(0.45), "ab");
  assert.equal(ids(0.4), "a");
  assert.equal(ids(0.64), "");
  assert.equal(ids(0.65), "c");
  assert.deepEqual(flipsAt(PLAIN, 0.5), []);
});

test("differences are in points, unknown ones are no zero", () => {
  assert.equal(signed(points({ value: 0.548 }, { value: 0.58 })), "+3.2 pp");
  assert.equal(signed(points(0.5, 0.45)), "\u22125.0 pp");
  assert.equal(signed(points(0.5, 0.5)), "0.0 pp");
  assert.equal(signed(points({ value: null }, 0.5)), "\u2013");
  assert.equal(signed(points(undefined, 0.5)), "\u2013");
});

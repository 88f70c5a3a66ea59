import assert from "node:assert/strict";
import test from "node:test";

import { barsOf, capOf, nearestOf, slid, ticksOf } from "../../../widgets/dojo_widgets/static/histogram.js";

const EDGES = Array.from({ length: 51 }, (_, index) => index / 50);
const counted = (pairs) => Array.from({ length: 50 }, (_, index) => pairs[index] || 0);

test("the tallest bar is cut when it would flatten all others", () => {
  assert.equal(capOf([149, 20, 3]), 25);
  assert.equal(capOf([50, 20]), 50);
  assert.equal(capOf([7]), 7);
  assert.equal(capOf([0, 0]), 0);
  const [low, high] = barsOf({ edges: EDGES, counts: counted({ 10: 20, 49: 149 }) }, 0.6, 0.35);
  assert.deepEqual([low.cut, low.height, high.cut, high.height], [false, 0.8, true, 1]);
});

test("bars are matched from the threshold on, near from the near bound, else missed", () => {
  const counts = counted({ 10: 1, 20: 1, 30: 1 });
  const kinds = (threshold) =>
    barsOf({ edges: EDGES, counts }, threshold, 0.35).map((bar) => bar.parts.map((part) => part.kind).join());
  assert.deepEqual(kinds(0.6), ["missed", "near", "matched"]);
  assert.deepEqual(kinds(0.3), ["missed", "matched", "matched"]);
  assert.deepEqual(kinds(0.95), ["missed", "near", "near"]);
});

test("a bar the threshold runs through changes colour where the line stands", () => {
  const [bar] = barsOf({ edges: EDGES, counts: counted({ 30: 4 }) }, 0.61, 0.35);
  assert.deepEqual(
    bar.parts.map(({ kind }) => kind),
    ["near", "matched"],
  );
  assert.equal(bar.parts[0].to, 0.61);
});

test("empty bins have no bar", () => {
  assert.deepEqual(barsOf({ edges: EDGES, counts: counted({}) }, 0.6, 0.35), []);
});

const VALUES = Array.from({ length: 66 }, (_, index) => (30 + index) / 100);

test("the slider stops at computed values", () => {
  assert.equal(nearestOf(VALUES, 0.556), 0.56);
  assert.equal(nearestOf(VALUES, -3), 0.3);
  assert.equal(nearestOf(VALUES, 2), 0.95);
});

test("keys move the slider, and stay on it", () => {
  assert.equal(slid("ArrowRight", VALUES, 0.6), 0.61);
  assert.equal(slid("ArrowDown", VALUES, 0.6), 0.59);
  assert.equal(slid("PageUp", VALUES, 0.6), 0.65);
  assert.equal(slid("[", VALUES, 0.3), 0.3);
  assert.equal(slid("Home", VALUES, 0.6), 0.3);
  assert.equal(slid("End", VALUES, 0.6), 0.95);
  assert.equal(slid("a", VALUES, 0.6), null);
});

test("ticks leave room for the threshold, and are fewer where it is narrow", () => {
  assert.ok(!ticksOf(0.6, 900).includes(0.6));
  assert.equal(ticksOf(0.65, 900).length, 11);
  assert.ok(ticksOf(0.65, 300).length <= 6);
});

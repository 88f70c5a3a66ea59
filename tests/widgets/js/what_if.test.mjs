import assert from "node:assert/strict";
import test from "node:test";

import { accuracyAxis, areaPath, labelPlaces, scaleOf, spaced } from "../../../widgets/dojo_widgets/static/what_if_layout.js";
import {
  ACCURACIES,
  between,
  byShare,
  byVotes,
  nearest,
  outcomeAt,
  placeOf,
  samePlace,
} from "../../../widgets/dojo_widgets/static/what_if_states.js";
import {
  caveats,
  conclusionWords,
  costWords,
  documentsWords,
  outcomeRows,
  pointsWords,
  rangeWords,
  shareWords,
  signedWords,
  titleWords,
} from "../../../widgets/dojo_widgets/static/what_if_words.js";

// Ten documents, of which 8 are right; the least sure half of them is right in 3 of 5.
const estimate = (value) => ({ value, lo: value - 0.1, hi: value + 0.1, n: 10 });
const rowOf = (k, gain) => ({
  k,
  accuracy: estimate(0.8 + gain),
  kept: [8 + 10 * gain, 5 + 5 * gain],
  lo: [
    [0.7, 0.7],
    [0.6, 0.8],
  ],
  hi: [
    [0.9, 0.9],
    [0.8, 1.0],
  ],
  real: [0.8 + gain, 0.9],
  real_lo: [0.7, 0.8],
  real_hi: [0.9, 1.0],
});
const pool = (key, more) => ({
  key,
  says: "every run",
  held: "prompt v9",
  n: 10,
  votes: 40,
  runs: 4,
  models: 2,
  prompts: 2,
  unknown: 1,
  per_document: "4.0",
  answered: 7,
  notes: [],
  left_out: {},
  limit: estimate(0.9),
  escalated: [0, 5],
  rows: [rowOf(1, 0), rowOf(5, 0.05)],
  stronger_tail: [null, 0.8],
  ...more,
});
const base = {
  pool: "all",
  votes: 1,
  alpha: 0,
  escalated_accuracy: 0.9,
  use_stronger: false,
  escalated_cost: 3,
  tries: 1,
  fallback: false,
};
const cell = (tries, fallback, rate, clustered, attempts) => ({ tries, fallback, rate, clustered, attempts });
const data = {
  task: "subtype",
  base,
  start: { ...base, votes: 5, alpha: 0.5 },
  sizes: [1, 5],
  shares: [0, 0.5],
  assumed: [0.5, 1],
  tries: [1, 3],
  pools: [pool("all"), pool("rerun", { models: 1, prompts: 1 })],
  missing: { model: "no votes" },
  failures: {
    rows: 100,
    failed: 2,
    disguised: 1,
    runs: 4,
    fallback: 0.97,
    sweep: [
      cell(1, false, 0.02, 0.02, 1),
      cell(1, true, 0.0006, 0.0006, 1.02),
      cell(3, false, 0.000008, 0.002, 1.02),
      cell(3, true, 2.4e-7, 0.00006, 1.02),
    ],
  },
  band: { value: 0.03, m: 3 },
  scale: 1000,
  spread: 0.05,
  call_usd: null,
  stronger: "lab/large",
  level: 0.95,
};

test("a place goes to the nearest stops, and what is missing is taken from the start", () => {
  const place = placeOf(data, { votes: 4, alpha: 0.3, tries: 99, pool: "nobody" });
  assert.deepEqual([place.votes, place.alpha, place.tries, place.pool], [5, 0.5, 3, "all"]);
  assert.equal(placeOf(data, {}).votes, 5);
  assert.equal(placeOf({ ...data, stronger: null }, { use_stronger: true }).use_stronger, false);
  assert.ok(samePlace(place, { ...place }));
  assert.ok(!samePlace(place, { ...place, votes: 1 }));
  assert.equal(ACCURACIES[0], 0.5);
  assert.equal(ACCURACIES.at(-1), 1);
  assert.equal(nearest([1, 2, 4], 3), 2);
});

test("accuracy is what is kept and what the stronger model adds", () => {
  const here = outcomeAt(data, { ...base, alpha: 0.5 });
  assert.ok(Math.abs(here.accuracy - (5 + 5 * 0.9) / 10) < 1e-12);
  assert.ok(Math.abs(here.low - (5 + 5 * 0.85) / 10) < 1e-12);
  assert.ok(Math.abs(here.lo - 0.76) < 1e-12);
  assert.equal(here.tail, 0.6);
  assert.equal(here.cost, 1 + 0.5 * 2);
  assert.equal(outcomeAt(data, base).tail, null);
  assert.equal(outcomeAt(data, { ...base, votes: 5, tries: 3 }).cost, 5 * 1.02);
});

test("real answers have their own interval and no assumption", () => {
  const real = outcomeAt(data, { ...base, alpha: 0.5, use_stronger: true });
  assert.deepEqual([real.accuracy, real.lo, real.hi, real.low, real.high], [0.9, 0.8, 1.0, 0.9, 0.9]);
  assert.equal(real.strongerTail, 0.8);
});

test("an assumed accuracy never leaves 0 to 1", () => {
  const here = outcomeAt(data, { ...base, alpha: 0.5, escalated_accuracy: 0.98 });
  assert.ok(Math.abs(here.high - 1) < 1e-12);
});

test("between two knots values lie on a line, beyond them they stay", () => {
  assert.equal(between([0, 1], [10, 20], 0.25), 12.5);
  assert.equal(between([0, 1], [10, 20], -1), 10);
  assert.equal(between([0, 1], [10, 20], 2), 20);
});

test("curves run over every stop", () => {
  assert.deepEqual(
    byVotes(data, base).map(({ x }) => x),
    [1, 5],
  );
  assert.deepEqual(
    byShare(data, base).map(({ escalated }) => escalated),
    [0, 5],
  );
});

test("the title says what was done, what it gives and what it costs", () => {
  assert.equal(
    titleWords(data, { ...base, votes: 5 }),
    "5 votes, nothing escalated: accuracy 0.850 [0.700, 0.900], +5.0 pp for 5.00 \u00d7 the cost",
  );
  assert.equal(titleWords(data, base), "One vote, nothing escalated: accuracy 0.800 [0.700, 0.900]");
});

test("a change is held against the rerun band", () => {
  assert.match(conclusionWords(data, { ...base, votes: 5 }), /tends to 0\.900.*larger than what reruns differ by/);
  const wide = { ...data, band: { value: 0.2, m: 3 } };
  assert.match(conclusionWords(wide, { ...base, votes: 5 }), /within what reruns differ by \(\u00b120\.0 pp\)/);
  assert.doesNotMatch(conclusionWords(data, base), /reruns/);
});

test("caveats name what votes, what is assumed and what intervals leave out", () => {
  const said = caveats(data, { ...base, votes: 5, alpha: 0.5 }).join("\n");
  assert.match(said, /5 random pairs of 2 models and 2 prompts, not one model asked 5 times/);
  assert.match(said, /0\.90 is an assumption.* large really got 0\.800/);
  assert.match(said, /It answered 7 of 10 documents/);
  assert.match(said, /95\u00a0% intervals over 10 documents, too few to rely on/);
  assert.match(said, /rests on all stored votes, 4\.0 a document; 5 paid votes cannot give it/);
  assert.match(said, /All votes are paid for before .* which costs 2 calls more/);
  assert.match(caveats(data, { ...base, alpha: 0.5 }).join("\n"), /one paid vote cannot give it/);
  const single = { ...data, pools: [pool("all", { single: true, models: 1, prompts: 1, runs: 1 })] };
  assert.match(caveats(single, { ...base, votes: 5 }).join("\n"), /One run, drawn from again.*\n.*is an artefact/);
  assert.match(caveats(data, { ...base, votes: 5, pool: "rerun" })[0], /^One model and one prompt, asked again/);
  const unknown = { ...data, band: { value: null, m: 1, reason: "1 pair, 3 needed" } };
  assert.match(caveats(unknown, base).at(-1), /band is unknown \(1 pair, 3 needed\)/);
});

test("shares keep the digits that count", () => {
  assert.deepEqual([0, 0.005, 0.15, 0.995].map(shareWords), ["0\u00a0%", "0.5\u00a0%", "15\u00a0%", "99.5\u00a0%"]);
});

test("numbers are written so that small ones do not vanish", () => {
  assert.deepEqual([0, 0.01, 0.6, 7583.2].map(documentsWords), ["0", "under 0.1", "0.6", "7,583"]);
  assert.equal(rangeWords(103, 0.1), "0.1 to 103");
  assert.equal(rangeWords(7, 7), "7.0");
  assert.equal(pointsWords(-0.012), "\u22121.2 pp");
  assert.equal(pointsWords(0.0001), "0.0 pp");
  assert.equal(signedWords(-15948), "\u221215,948");
  assert.equal(costWords(data, 5.427), "5.43 calls");
  assert.equal(costWords({ ...data, call_usd: 0.002 }, 5), "$0.0100");
});

test("the outcome has a row for dollars only where a call has a price", () => {
  assert.deepEqual(
    outcomeRows(data, base).map(({ name }) => name),
    ["accuracy", "wrong", "cost a document", "no answer"],
  );
  const [, , , cost] = outcomeRows({ ...data, call_usd: 0.002 }, { ...base, votes: 5 });
  assert.deepEqual([cost.after, cost.change], ["$10.00", "+$8.00"]);
  assert.equal(outcomeRows({ ...data, call_usd: 0.002 }, base)[3].change, "$0");
  assert.equal(
    outcomeRows({ ...data, call_usd: 0.002 }, { ...base, alpha: 0.5, escalated_cost: 0 })[3].change,
    "\u2212$1.00",
  );
});

test("the axis holds all values with at most six ticks, within 0 and 1", () => {
  const axis = accuracyAxis([0.889, 0.983, null, 0.908]);
  assert.ok(axis.low < 0.889 && axis.high > 0.983 && axis.high <= 1);
  assert.ok(axis.ticks.length >= 2 && axis.ticks.length <= 6);
  assert.equal(axis.digits, 2);
  assert.equal(accuracyAxis([1, 1]).high, 1);
  assert.equal(accuracyAxis([0.9501, 0.9519]).digits, 3);
});

test("numbers of votes stand on a scale of equal ratios", () => {
  const across = scaleOf([1, 25], [0, 100], { log: true });
  assert.ok(Math.abs(across(5) - 50) < 1e-9);
  assert.equal(scaleOf([0, 0], [0, 100])(0), 50);
});

test("labels leave each other room and the last one stays", () => {
  assert.deepEqual(
    spaced([0, 1, 2, 3, 4], (tick) => 20 * tick, 45),
    [0, 4],
  );
  assert.deepEqual(labelPlaces(50, 100), [63, 96]);
  assert.deepEqual(labelPlaces(50, 60), [46, 73]);
  assert.deepEqual(labelPlaces(60, 50), [73, 46]);
  assert.equal(
    areaPath(
      [
        [0, 0],
        [1, 0],
      ],
      [
        [0, 1],
        [1, 1],
      ],
    ),
    "M0 0L1 0L1 1L0 1Z",
  );
});

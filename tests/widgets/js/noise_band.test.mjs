import assert from "node:assert/strict";
import test from "node:test";

import {
  bandWords,
  factsOfPair,
  flipCounts,
  flipWords,
  pairWords,
  reasonCounts,
  rowsOfBands,
  shortened,
} from "../../../widgets/dojo_widgets/static/noise_band_facts.js";

const pair = {
  id: "1:063|104",
  a: "063",
  b: "104",
  prompt: "v9",
  n: 509,
  delta: 0.0059,
  lo: -0.0039,
  hi: 0.0157,
  p: 0.453,
  better: 5,
  worse: 2,
  flips: 8,
  identity: "prompt name only",
  notes: [],
};
const band = { group: "qwen, 509 documents", value: 0.0177, m: 3, pairs: [pair] };

test("a band says from how much it is known, or how much is missing", () => {
  assert.equal(bandWords(band), "band \u00b10.0177, from 3 reruns");
  assert.equal(bandWords({ value: null, m: 1 }), "band unknown: 1 rerun, 3 needed");
});

test("pairs become rows that know their band", () => {
  const [row] = rowsOfBands([band]);
  assert.equal(row.band, 0.0177);
  assert.equal(row.name, "063 \u2192 104");
  assert.equal(row.verdict, "rerun");
  assert.equal(
    row.title,
    "063 to 104, v9: +0.0059 [\u22120.0039, +0.0157], 8 answers flip of 509, " +
      "band \u00b10.0177, from 3 reruns",
  );
  assert.equal(pairWords({ ...pair, known: { value: null, m: 1 }, flips: null }).includes("flip"), false);
  assert.equal(flipWords({ flips: 1, n: 5 }), "1 answer flips of 5");
});

test("a rerun is called by what its name adds", () => {
  assert.equal(shortened("subtype_small", "subtype_small_rerun"), "\u2026_rerun");
  assert.equal(shortened("063", "104"), "104");
  assert.equal(shortened("extraction_v1", "extraction_v2"), "extraction_v2");
  assert.equal(shortened("subtype_small", "subtype_small"), "subtype_small");
});

test("flips are counted by who was right", () => {
  const rows = [{ right: "a" }, { right: "b" }, { right: "b" }, { right: "" }];
  assert.deepEqual(flipCounts(rows), { won: 2, lost: 1, neither: 1 });
});

test("reasons are counted, the commonest first", () => {
  const excluded = ["repeat", "other settings", "other settings"].map((reason) => ({ reason }));
  assert.deepEqual(reasonCounts(excluded), [
    ["other settings", 2],
    ["repeat", 1],
  ]);
});

test("how the prompt is known to be the same is said", () => {
  const said = factsOfPair(pair).find(({ name }) => name === "same prompt").text;
  assert.equal(said, "by its name only");
});

import assert from "node:assert/strict";
import test from "node:test";

import {
  difference,
  gapsOf,
  MAX_CELLS,
  reflowed,
  unmarked,
  wordsOf,
} from "../../../widgets/dojo_widgets/static/difference.js";

const marked = (text, segments, kind) =>
  segments.filter((segment) => segment.kind === kind).map(({ start, end }) => text.slice(start, end));

// A small generator with a seed, so that failures come back.
function random(seed) {
  let state = seed;
  return (n) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
}

const ALPHABET = [
  ..."the of and party fee notice territory licensee royalty term breach not pay due".split(" "),
  "e\u0301quipe",
  "\u{1d49c}\u{1d4b7}",
  "\u{1f600}",
  "\ufb01ne",
  "\u00bd",
  "<omitted>",
  "[ Omitted ]",
  "<img src=x onerror=alert(1)>",
  "***",
  "\n\n",
  "\u2029",
  "\ud83d",
];

function randomText(next, size) {
  const separators = [" ", " ", "  ", ", ", "\n", ""];
  return Array.from({ length: next(size) }, () => ALPHABET[next(ALPHABET.length)] + separators[next(6)]).join("");
}

function assertWhole(text, segments) {
  let at = 0;
  for (const { start, end } of segments) {
    assert.equal(start, at);
    assert.ok(end > start, "no empty segment");
    at = end;
  }
  assert.equal(at, text.length);
  assert.equal(segments.map(({ start, end }) => text.slice(start, end)).join(""), text);
  const words = segments.reduce((total, segment) => total + segment.words, 0);
  assert.equal(words, wordsOf(text).length);
}

test("segments are the text, character by character, and their words add up", () => {
  const next = random(1);
  for (let round = 0; round < 400; round += 1) {
    const [label, item] = [randomText(next, round), randomText(next, 2 * round)];
    for (const fold of [true, false]) {
      const found = difference(label, item, { fold });
      assertWhole(label, found.label);
      assertWhole(item, found.item);
    }
    assertWhole(label, unmarked(label));
  }
});

test("as many words of the label as of the item are aligned", () => {
  const next = random(2);
  for (let round = 0; round < 300; round += 1) {
    const { counts, mode, share } = difference(randomText(next, 60), randomText(next, 60));
    assert.equal(counts.label - counts.missing, counts.aligned);
    assert.equal(counts.item - counts.extra, counts.aligned);
    assert.ok(counts.aligned <= Math.min(counts.label, counts.item));
    assert.ok(counts.runs <= counts.aligned && counts.lone <= counts.missing);
    assert.equal(mode, share >= 0.4 ? "missing" : "shared");
  }
});

test("nothing is missing of a text compared with itself", () => {
  const next = random(3);
  for (let round = 0; round < 200; round += 1) {
    const text = `fee ${randomText(next, 80)}`;
    const { mode, share, counts, label } = difference(text, text);
    assert.deepEqual([mode, share, counts.missing, counts.extra], ["missing", 1, 0, 0]);
    assert.deepEqual(marked(text, label, "missing"), []);
  }
});

test("texts without a common word share no run", () => {
  const { mode, share, counts, label } = difference("Licensee pays a royalty.", "Notices go to the seller");
  assert.deepEqual([mode, share, counts.aligned, counts.runs], ["shared", 0, 0, 0]);
  assert.deepEqual(
    label.map(({ kind }) => kind),
    ["plain"],
  );
});

test("without words nothing is shared, and nothing fails", () => {
  for (const [label, item] of [
    ["", ""],
    ["", "a fee"],
    ["a fee", ""],
    ["***", "***"],
    ["<omitted>", "a fee"],
  ]) {
    assert.deepEqual([difference(label, item).mode, difference(label, item).share], ["shared", 0]);
  }
});

test("what is missing is marked as one run through its spaces, without the marks around it", () => {
  const label = "Licensee shall pay all fees, promptly and in full, to Licensor.";
  const item = "Licensee shall pay all fees to Licensor";
  const found = difference(label, item);
  assert.equal(found.mode, "missing");
  assert.deepEqual(marked(label, found.label, "missing"), ["promptly and in full"]);
  assert.deepEqual([found.counts.missing, found.counts.label, found.counts.extra], [4, 11, 0]);
});

test("runs win over the same words scattered", () => {
  const label = "notice of default";
  const item = "notice is given of any breach; a notice of default is given";
  assert.deepEqual(
    difference(label, item)
      .item.filter(({ kind }) => kind === "plain")
      .map(({ start, end }) => item.slice(start, end)),
    ["notice of default"],
  );
});

test("of different texts only runs that say something are marked", () => {
  const label = "The Franchisee acknowledges that we have no liability for failure to obtain licenses required";
  const item =
    "The parties agree that notices of the failure to obtain licenses go to the agent, and that we have time";
  const found = difference(label, item);
  assert.equal(found.mode, "shared");
  assert.deepEqual(marked(label, found.label, "shared"), ["failure to obtain licenses"]);
  assert.deepEqual(marked(item, found.item, "shared"), ["failure to obtain licenses"]);
  assert.ok(!found.label.some(({ kind }) => kind === "missing"));
});

test("function words alone are never marked", () => {
  const next = random(4);
  for (let round = 0; round < 300; round += 1) {
    const [label, item] = [randomText(next, 50), randomText(next, 50)];
    const found = difference(label, item);
    for (const [text, segments] of [
      [label, found.label],
      [item, found.item],
    ]) {
      for (const kind of ["missing", "shared"]) {
        for (const run of marked(text, segments, kind))
          assert.ok(
            wordsOf(run).some(({ says }) => says),
            run,
          );
      }
    }
  }
  const label = "The fee is due to the Licensor upon any breach of the Agreement";
  const found = difference(label, "Fee is due to the Licensor upon breach of Agreement");
  assert.equal(found.counts.lone, found.counts.missing);
  assert.equal(found.counts.lone, 4);
});

test("a missing not is marked", () => {
  const label = "Licensee shall not sublicense the software";
  const found = difference(label, "Licensee shall sublicense the software");
  assert.deepEqual(marked(label, found.label, "missing"), ["not"]);
});

test("case, ligatures and composed letters make no difference", () => {
  const found = difference("The \ufb01nal \u00c9quipe pays", "the FINAL e\u0301quipe pays");
  assert.deepEqual([found.mode, found.counts.missing], ["missing", 0]);
});

test("marks of omission are gaps, not words", () => {
  const text = "Fees are due. <omitted> Notice [ OMITTED ] is given";
  assert.deepEqual(
    gapsOf(text).map(({ start, end }) => text.slice(start, end)),
    ["<omitted>", "[ OMITTED ]"],
  );
  assert.deepEqual(
    wordsOf(text).map(({ word }) => word),
    ["fees", "are", "due", "notice", "is", "given"],
  );
  const found = difference(text, "omitted Notice is given");
  assert.deepEqual(marked(text, found.label, "gap"), ["<omitted>", "[ OMITTED ]"]);
  assert.deepEqual(marked(text, found.label, "missing"), ["Fees are due"]);
  assert.equal(difference(text, text).counts.missing, 0);
});

const numbered = (word, n) => Array.from({ length: n }, (_, at) => `${word}${at}`).join(" ");

test("long runs of long texts are folded, ten words kept on each side", () => {
  const label = numbered("shared", 100) + " missing words here " + numbered("tail", 40);
  const item = numbered("shared", 100) + " " + numbered("extra", 80) + " " + numbered("tail", 40);
  const found = difference(label, item);
  const folds = (segments) => segments.filter(({ kind }) => kind === "fold").map(({ of, words }) => [of, words]);
  assert.deepEqual(folds(found.label), [["plain", 80]]);
  assert.deepEqual(folds(found.item), [
    ["plain", 80],
    ["extra", 60],
  ]);
  assert.equal(wordsOf(label.slice(0, found.label[0].end)).length, 10);
  assert.deepEqual(folds(difference(label, item, { fold: false }).label), []);
});

test("short texts are not folded, nor the label of a different text", () => {
  const folds = (segments) => segments.some(({ kind }) => kind === "fold");
  const short = numbered("word", 140);
  assert.ok(!folds(difference(short, short).label));
  const found = difference(numbered("label", 200), numbered("item", 200));
  assert.deepEqual([folds(found.label), folds(found.item)], [false, true]);
});

test("grey runs over the marks round what only the item has", () => {
  const item = "(Wholly other words!)";
  assert.deepEqual(
    difference("A fee is due", item).item.map(({ kind, words }) => [kind, words]),
    [["extra", 3]],
  );
});

test("beyond the limit nothing is compared, and that is said", () => {
  const [label, item] = [numbered("word", 2_400), numbered("word", MAX_CELLS / 2_400 + 1)];
  const found = difference(label, item);
  assert.deepEqual([found.mode, found.share, found.counts.aligned], ["skipped", null, null]);
  assertWhole(label, found.label);
  assertWhole(item, found.item);
  assert.ok(found.label.every(({ kind }) => kind === "plain"));
});

test("the largest texts that are compared are aligned wholly", () => {
  const label = numbered("word", 2_400);
  const found = difference(label, `${numbered("before", 99)} ${label}`);
  assert.deepEqual([found.counts.aligned, found.counts.runs, found.counts.extra], [2_400, 1, 99]);
});

test("reflowing changes nothing but white space", () => {
  const next = random(5);
  for (let round = 0; round < 100; round += 1) {
    const text = randomText(next, 40);
    assert.equal(reflowed(text).replace(/\s/g, ""), text.replace(/\s/g, ""));
  }
  assert.equal(reflowed("a   b\nc \n \n d"), "a b c\nd");
});

import assert from "node:assert/strict";
import test from "node:test";

import {
  blockAt,
  blocksOf,
  marksInside,
  marksOf,
  piecesOf,
  squeezed,
  tagsOf,
} from "../../../widgets/dojo_widgets/static/blocks.js";
import { captionOf, nameOf, noteOf } from "../../../widgets/dojo_widgets/static/document_words.js";
import { ticks } from "../../../widgets/dojo_widgets/static/ruler.js";

const VIEW = {
  span: "a:clauses:1",
  length: 300,
  label: {
    at: [
      [20, 40],
      [60, 80],
    ],
    how: "exact",
  },
  labels: [
    { id: "a:clauses:0", family: "Audit", status: "matched", at: [[20, 30]] },
    {
      id: "a:clauses:1",
      family: "Cap",
      status: "missed",
      at: [
        [20, 40],
        [60, 80],
      ],
      pieces: true,
    },
    { id: "a:clauses:2", family: "Insurance", status: "near", at: [[20, 25]] },
    { id: "a:clauses:3", family: "Notice", status: "missed", at: [] },
  ],
  items: [
    { index: 4, at: [[30, 70]] },
    {
      index: 2,
      at: [
        [30, 35],
        [290, 300],
      ],
    },
  ],
};

function random(seed) {
  let state = seed;
  return (n) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
}

test("blocks are the whole text, in order, wherever it starts", () => {
  const next = random(1);
  for (let round = 0; round < 200; round += 1) {
    const parts = ["word ", "\n", "\u{1f600}", "longerword", "\r\n", " "];
    const text = Array.from({ length: next(300) }, () => parts[next(parts.length)]).join("");
    const start = next(1_000);
    const blocks = blocksOf(text, start, 1 + next(50));
    assert.equal(blocks.map((block) => text.slice(block.start - start, block.end - start)).join(""), text);
    assert.ok(blocks.every((block) => block.end > block.start));
    for (const { start: at } of blocks.slice(1)) assert.ok(blocks[blockAt(blocks, at)].start === at);
  }
  assert.deepEqual(blocksOf(""), []);
});

test("blocks end after a line, else after a word, and never inside a character", () => {
  const ends = (text, size) => blocksOf(text, 0, size).map(({ start, end }) => text.slice(start, end));
  assert.deepEqual(ends("one two\nthree four five", 12), ["one two\n", "three four ", "five"]);
  assert.deepEqual(ends("\u{1f600}\u{1f601}\u{1f602}", 3), ["\u{1f600}", "\u{1f601}", "\u{1f602}"]);
});

test("a position beyond the text belongs to the last block", () => {
  const blocks = blocksOf("x".repeat(30), 100, 10);
  assert.deepEqual(
    [0, 100, 109, 110, 129, 500].map((at) => blockAt(blocks, at)),
    [0, 0, 0, 1, 2, 2],
  );
  assert.equal(blockAt([], 3), -1);
});

test("squeezing changes nothing but white space", () => {
  assert.equal(squeezed("a  b   c\u00a0\t d\n\n\n \n e\nf"), "a  b  c  d\n\n e\nf");
  const text = "1.1 Fees.\r\n\r\n\r\n   The   fee\n\n\n";
  assert.equal(squeezed(text).replace(/\s/g, ""), text.replace(/\s/g, ""));
});

test("marks are all places in reading order, the longer first", () => {
  const marks = marksOf(VIEW);
  const starts = marks.map(({ start }) => start);
  assert.deepEqual(
    starts,
    starts.toSorted((one, other) => one - other),
  );
  assert.deepEqual(
    marks.slice(0, 3).map(({ key }) => key),
    ["a:clauses:1", "a:clauses:0", "a:clauses:2"],
  );
  assert.deepEqual(
    marks.filter(({ own }) => own).map(({ part, parts }) => [part, parts]),
    [
      [1, 2],
      [2, 2],
    ],
  );
  assert.equal(marks.filter(({ matched }) => matched).length, 1);
});

test("a label that is not among the labels is marked all the same", () => {
  const marks = marksOf({ ...VIEW, labels: [], items: [] });
  assert.deepEqual(
    marks.map(({ start, own, family }) => [start, own, family]),
    [
      [20, true, ""],
      [60, true, ""],
    ],
  );
  assert.deepEqual(marksOf({ span: "a", label: { at: [] } }), []);
  assert.deepEqual(marksOf({}), []);
});

test("marks that overlap cut the text into pieces that know all of them", () => {
  const pieces = piecesOf(0, 100, marksOf(VIEW));
  assert.deepEqual(
    pieces.map(({ start, end, marks }) => [start, end, marks.length]),
    [
      [0, 20, 0],
      [20, 25, 3],
      [25, 30, 2],
      [30, 35, 3],
      [35, 40, 2],
      [40, 60, 1],
      [60, 70, 2],
      [70, 80, 1],
      [80, 100, 0],
    ],
  );
  assert.deepEqual(
    pieces[3].begins.map(({ key }) => key),
    [4, 2],
  );
});

test("pieces are the block for any marks, and a mark that began above has no tag", () => {
  const next = random(2);
  for (let round = 0; round < 200; round += 1) {
    const marks = Array.from({ length: next(12) }, (_, key) => {
      const start = next(100);
      return { kind: "item", key, start, end: start + 1 + next(40) };
    });
    const [start, end] = [20, 21 + next(80)];
    const pieces = piecesOf(start, end, marks);
    assert.equal(pieces[0].start, start);
    assert.equal(pieces.at(-1).end, end);
    pieces.slice(1).forEach((piece, at) => assert.equal(piece.start, pieces[at].end));
    const begun = pieces.flatMap(({ begins }) => begins);
    assert.deepEqual(
      begun.map(({ key }) => key).sort(),
      marks
        .filter((mark) => mark.start >= start && mark.start < end)
        .map(({ key }) => key)
        .sort(),
    );
  }
});

test("labels that begin together share a tag, the label of the view first", () => {
  const begins = marksOf(VIEW).filter(({ start }) => start === 20);
  assert.deepEqual(
    tagsOf(begins).map(({ kind, text }) => [kind, text]),
    [
      ["missed", "missed label 1/2: Cap + Insurance"],
      ["matched", "matched label: Audit"],
    ],
  );
  const many = ["A", "B", "C", "D"].map((family) => ({ kind: "label", family, matched: false, parts: 1 }));
  assert.deepEqual(
    tagsOf(many).map(({ text, title }) => [text, title]),
    [["missed label: A + B + 2 more", "A, B, C, D"]],
  );
});

test("a tag tells pieces from places, and what was found approximately", () => {
  const label = { kind: "label", family: "Cap", matched: true, part: 2, parts: 3 };
  assert.equal(tagsOf([{ ...label, pieces: true }])[0].text, "matched label 2/3: Cap");
  assert.equal(tagsOf([{ ...label, near: true }])[0].text, "matched label, place 2 of 3, approximately: Cap");
  const own = marksOf({ ...VIEW, label: { ...VIEW.label, how: "approximate" } }).filter(({ near }) => near);
  assert.deepEqual(
    own.map(({ key }) => key),
    ["a:clauses:1", "a:clauses:1"],
  );
  assert.ok(tagsOf([{ ...label, family: "x".repeat(90), parts: 1 }])[0].text.length < 60);
});

test("items that begin together share a tag", () => {
  const items = [7, 7, 3, 4, 5].map((key) => ({ kind: "item", key }));
  assert.deepEqual(
    tagsOf(items.slice(0, 2)).map(({ text }) => text),
    ["item 7"],
  );
  assert.deepEqual(
    tagsOf(items).map(({ text }) => text),
    ["items 7, 3, 4 + 1"],
  );
});

test("only marks inside a window are visited", () => {
  assert.deepEqual(
    marksInside(marksOf(VIEW), 70, 290).map(({ start }) => start),
    [60],
  );
});

test("the ruler draws every mark inside its width, the selected last", () => {
  const drawn = ticks(marksOf(VIEW), VIEW.length, 150, 2);
  assert.equal(drawn.length, 7);
  assert.ok(drawn.every(({ x, width }) => x >= 0 && width >= 2 && x + width <= 150));
  assert.deepEqual(
    drawn.map(({ selected }) => selected),
    [false, false, false, true, true, true, true],
  );
  assert.deepEqual(new Set(drawn.map(({ role }) => role)), new Set(["missed", "matched", "item", "compared"]));
  const [above, below] = [drawn.find(({ role }) => role === "missed"), drawn.find(({ role }) => role === "item")];
  assert.ok(above.y + above.height < below.y);
});

test("a view says what it shows", () => {
  assert.equal(
    captionOf({ ...VIEW, chunks: [200] }, marksOf(VIEW), 57),
    "view at 19% of 300 characters \u00b7 above the line 3 labels, below it 2 items \u00b7 dashes: chunk borders",
  );
  const windowed = {
    ...VIEW,
    windowed: true,
    start: 10,
    text: "x".repeat(75),
    label: {
      at: [
        [20, 40],
        [250, 260],
      ],
    },
  };
  assert.match(captionOf(windowed, marksOf(VIEW), 10), /window of \u00b145 characters round the label; positions/);
  assert.match(captionOf({ ...windowed, label: { at: [] } }, [], 10), /window of 75 characters; positions/);
  assert.deepEqual(marksOf(VIEW).slice(0, 2).map(nameOf), ["missed label Cap", "matched label Audit"]);
});

test("a label that stands nowhere is said to", () => {
  assert.equal(noteOf(VIEW), null);
  assert.deepEqual(noteOf({ label: { at: [], how: "none" } }), [
    "This label is not in the text.",
    "Shown from the start.",
  ]);
  assert.match(noteOf({ label: { at: [], how: null } })[0], /not known/);
  assert.match(noteOf({ label: { at: [], how: "none" }, windowed: true })[1], /start of the document/);
});

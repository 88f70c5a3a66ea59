// Which words a label and an item share in the same order, and how to show it. No DOM here.
//
// difference(label, item) aligns the words of two texts and returns
//   mode     "missing": much is shared, so what the label has and the item lacks is marked;
//            "shared": little is shared, so the shared runs are marked in both; "skipped": too long to compare
//   share    words of the label that stand in the item in the same order, as a share
//   counts   { label, item, aligned, missing, lone, extra, runs }; `lone` are missing function words left unmarked
//   label, item   segments [{ kind, start, end, words }], which together are the text, character by character;
//            kinds: plain, missing, shared, extra (only the item has it), gap (<omitted>), fold (hidden words,
//            `of` tells the kind they have when shown)

const WORD = /[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu;
const GAP = /[<[]\s*omitted\s*[>\]]/gi;

// Words that say nothing about which clause a text is; the last line holds those of contracts.
// "not" and "no" are absent on purpose: a missing "not" must be seen.
const FUNCTION_WORDS = new Set(
  [
    "a an the this that these those any all each every some such both either neither other same own",
    "and or but nor if then else than so as while when where whether because until unless since though",
    "of to in on at by for from with without within into onto upon under over between among through during",
    "before after above below against about per via is are was were be been being am do does did has have had having",
    "will would shall should may might can could must it its he him his she her they them their theirs i me my mine",
    "who whom whose which what there here also more most only very",
    "agreement party parties section hereof herein hereto hereby hereunder thereof therein thereto you your we our us",
  ]
    .join(" ")
    .split(" "),
);
const FUNCTION_WEIGHT = 1;
const CONTENT_WEIGHT = 3;

export const MAX_CELLS = 6_000_000;
const MARK_MISSING_FROM = 0.4;
const FOLD_TEXTS_OVER = 140;
const FOLD_ALIGNED_OVER = 44;
const FOLD_EXTRA_OVER = 60;
const KEPT_WORDS = 10;

const SKIP_LABEL = 0;
const SKIP_ITEM = 1;
const MATCH = 2;

export function gapsOf(text) {
  return [...text.matchAll(GAP)].map((mark) => ({ start: mark.index, end: mark.index + mark[0].length }));
}

// The words of a text with their places; marks of omission are no words. `gap` counts the gaps before a word.
export function wordsOf(text, gaps = gapsOf(text)) {
  const words = [];
  let gap = 0;
  for (const found of text.matchAll(WORD)) {
    while (gap < gaps.length && gaps[gap].end <= found.index) gap += 1;
    if (gap < gaps.length && found.index >= gaps[gap].start) continue;
    const word = found[0].normalize("NFKC").toLowerCase();
    words.push({ word, says: !FUNCTION_WORDS.has(word), start: found.index, end: found.index + found[0].length, gap });
  }
  return words;
}

export function difference(label, item, { fold = true } = {}) {
  const left = side(label);
  const right = side(item);
  const counts = { label: left.words.length, item: right.words.length };
  if (left.words.length * right.words.length > MAX_CELLS) {
    Object.assign(counts, { aligned: null, missing: null, lone: null, extra: null, runs: null });
    const [whole, other] = [left, right].map((text) => segments(text, plain(text)));
    return { mode: "skipped", share: null, counts, label: whole, item: other };
  }
  const runs = tellingRuns(runsOf(align(left.words, right.words)), left.words);
  const aligned = runs.reduce((total, run) => total + run.size, 0);
  const share = aligned / Math.max(1, left.words.length);
  const mode = share >= MARK_MISSING_FROM ? "missing" : "shared";
  const kinds = mode === "missing" ? missingKinds(left, right, runs) : sharedKinds(left, right, runs);
  const lone = unmarkLoneFunctionWords(left, kinds.label, mode);
  unmarkLoneFunctionWords(right, kinds.item, mode === "missing" ? "extra" : "shared");
  Object.assign(counts, {
    aligned,
    missing: left.words.length - aligned,
    lone: mode === "missing" ? lone : 0,
    extra: right.words.length - aligned,
    runs: runs.length,
  });
  return {
    mode,
    share,
    counts,
    label: segments(left, kinds.label, fold && mode === "missing" ? FOLD_ALIGNED_OVER : Infinity),
    item: segments(right, kinds.item, fold ? (mode === "missing" ? FOLD_ALIGNED_OVER : FOLD_EXTRA_OVER) : Infinity),
  };
}

// The segments of a text that is compared with nothing.
export function unmarked(text) {
  const only = side(text);
  return segments(only, plain(only));
}

// Runs of spaces, and single line breaks, as one space: for texts that are read, not searched for a place.
export function reflowed(text) {
  return text
    .replace(/[^\S\n]{2,}/g, " ")
    .replace(/\s*\n\s*\n\s*/g, "\u2029")
    .replace(/[^\S\u2029]*\n[^\S\u2029]*/g, " ")
    .replaceAll("\u2029", "\n");
}

function side(text) {
  const gaps = gapsOf(text);
  return { text, gaps, words: wordsOf(text, gaps) };
}

// The heaviest common subsequence of words. A word followed by a common word weighs a little more, so that runs win
// over scattered words. Returns pairs [word of the label, word of the item].
function align(label, item) {
  const [n, m] = [label.length, item.length];
  const numbers = new Map();
  const numberOf = (word) => numbers.get(word) ?? numbers.set(word, numbers.size).size - 1;
  const numbered = (words) => Int32Array.from(words, ({ word }) => numberOf(word));
  const [a, b] = [numbered(label), numbered(item)];
  const steps = new Uint8Array(n * m);
  let [row, below] = [new Int32Array(m + 1), new Int32Array(m + 1)];
  for (let i = n - 1; i >= 0; i -= 1) {
    const weight = label[i].says ? CONTENT_WEIGHT : FUNCTION_WEIGHT;
    const next = i + 1 < n ? a[i + 1] : -1;
    for (let j = m - 1; j >= 0; j -= 1) {
      let [best, step] = below[j] >= row[j + 1] ? [below[j], SKIP_LABEL] : [row[j + 1], SKIP_ITEM];
      if (a[i] === b[j]) {
        const value = below[j + 1] + weight + (j + 1 < m && b[j + 1] === next ? 1 : 0);
        if (value >= best) [best, step] = [value, MATCH];
      }
      row[j] = best;
      steps[i * m + j] = step;
    }
    [row, below] = [below, row];
  }
  const pairs = [];
  for (let i = 0, j = 0; i < n && j < m;) {
    const step = steps[i * m + j];
    if (step === MATCH) pairs.push([i, j]);
    if (step !== SKIP_ITEM) i += 1;
    if (step !== SKIP_LABEL) j += 1;
  }
  return pairs;
}

function runsOf(pairs) {
  const runs = [];
  for (const [i, j] of pairs) {
    const last = runs.at(-1);
    if (last && last.i + last.size === i && last.j + last.size === j) last.size += 1;
    else runs.push({ i, j, size: 1 });
  }
  return runs;
}

// Leave out the runs that any two texts share by chance. The less two texts have in common, the more a run must say.
function tellingRuns(runs, label) {
  const aligned = runs.reduce((total, run) => total + run.size, 0) / Math.max(1, label.length);
  const telling = (run) => label.slice(run.i, run.i + run.size).filter((word) => word.says).length;
  if (aligned < 0.5) return runs.filter((run) => telling(run) >= (run.size >= 4 ? 1 : 2));
  if (aligned >= 0.9) return runs;
  const kept = runs.filter((run) => run.size >= 3 || telling(run) >= 1);
  const left = kept.reduce((total, run) => total + run.size, 0) / label.length;
  return left >= MARK_MISSING_FROM ? kept : kept.filter((run) => telling(run) >= 1);
}

const plain = ({ words }) => words.map(() => "plain");

function missingKinds(left, right, runs) {
  const kinds = { label: left.words.map(() => "missing"), item: right.words.map(() => "extra") };
  return painted(kinds, runs, "plain");
}

function sharedKinds(left, right, runs) {
  return painted({ label: plain(left), item: right.words.map(() => "extra") }, runs, "shared");
}

function painted(kinds, runs, kind) {
  for (const { i, j, size } of runs) {
    kinds.label.fill(kind, i, i + size);
    kinds.item.fill(kind, j, j + size);
  }
  return kinds;
}

// A mark under "of the" alone tells nothing. Returns how many words lost their mark.
function unmarkLoneFunctionWords(text, kinds, kind) {
  let unmarkedWords = 0;
  for (const [first, beyond] of stretches(text, kinds)) {
    if (kinds[first] !== kind || text.words.slice(first, beyond).some((word) => word.says)) continue;
    kinds.fill("plain", first, beyond);
    unmarkedWords += beyond - first;
  }
  return unmarkedWords;
}

// Words of one kind that follow each other, without a gap between them: [first, beyond].
function stretches({ words }, kinds) {
  const found = [];
  for (let first = 0, at = 1; at <= kinds.length; at += 1) {
    if (kinds[at] === kinds[first] && words[at].gap === words[first].gap) continue;
    found.push([first, at]);
    first = at;
  }
  return found;
}

// Cut a text where the kind of its words changes and at its gaps. What stands between two stretches is plain, or
// greyed with what is only in the item.
function segments({ text, gaps, words }, kinds, foldOver = Infinity) {
  const pieces = gaps.map((gap) => ({ kind: "gap", ...gap, words: 0 }));
  const folds = words.length > FOLD_TEXTS_OVER;
  for (const [first, beyond] of stretches({ words }, kinds)) {
    const part = words.slice(first, beyond);
    const hides = folds && part.length > foldOver && (kinds[first] === "plain" || kinds[first] === "extra");
    pieces.push(...(hides ? folded(part, kinds[first]) : [piece(part, kinds[first])]));
  }
  pieces.sort((one, other) => one.start - other.start);
  const whole = [];
  let at = 0;
  const fill = (end, next) => {
    const kind = whole.at(-1)?.kind === "extra" || next?.kind === "extra" ? "extra" : "plain";
    if (at < end) append(whole, { kind, start: at, end, words: 0 });
  };
  for (const next of pieces) {
    fill(next.start, next);
    append(whole, next);
    at = next.end;
  }
  fill(text.length);
  return whole;
}

function append(whole, segment) {
  const last = whole.at(-1);
  const joins = last?.kind === segment.kind && (segment.kind === "plain" || segment.kind === "extra");
  if (joins) Object.assign(last, { end: segment.end, words: last.words + segment.words });
  else whole.push(segment);
}

const piece = (words, kind) => ({ kind, start: words[0].start, end: words.at(-1).end, words: words.length });

function folded(words, kind) {
  const tail = words.length - KEPT_WORDS;
  const [from, to] = [words[KEPT_WORDS].start, words[tail].start];
  return [
    { kind, start: words[0].start, end: from, words: KEPT_WORDS },
    { kind: "fold", of: kind, start: from, end: to, words: tail - KEPT_WORDS },
    { kind, start: to, end: words.at(-1).end, words: KEPT_WORDS },
  ];
}

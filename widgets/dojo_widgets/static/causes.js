// Why spans are missed: names and sentences as the table has them, and strengths of the one colour of misses.

import { causeWords } from "./meanings.js";

const ORDER = [
  "omission",
  "wrong_field",
  "merged",
  "split",
  "boundary",
  "truncation",
  "shifted",
  "over_quote",
  "wording",
  "gold_suspect",
  "empty_prediction",
  "unknown_place",
];
const WEAKEST = 18;

export const NO_ITEMS = "empty_prediction";

export function causeName(table, cause) {
  return table.cause_names?.[cause] ?? causeWords(cause);
}

export function causeSays(table, cause) {
  return table.cause_says?.[cause] ?? causeName(table, cause);
}

export function causeRank(cause) {
  const at = ORDER.indexOf(cause);
  return at < 0 ? ORDER.length : at;
}

// A cause keeps its strength in every run: the same meaning, the same colour.
export function causeColour(cause) {
  const strength = Math.round(100 - ((100 - WEAKEST) * causeRank(cause)) / ORDER.length);
  return `color-mix(in srgb, var(--missed) ${strength}%, var(--panel))`;
}

// Causes that occur, with their counts, strongest colour first.
export function causeCounts(table) {
  return Object.entries(table.causes)
    .filter(([, n]) => n)
    .map(([cause, n]) => ({ cause, n }))
    .sort((a, b) => causeRank(a.cause) - causeRank(b.cause));
}

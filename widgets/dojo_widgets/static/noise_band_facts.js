// What is known of pairs of reruns, in words and figures: no DOM, only texts.

import { chanceText, changeText } from "./delta_forest_facts.js";
import { CHANGE_DIGITS } from "./delta_forest_layout.js";
import { count, fixed, whole } from "./numbers.js";

const NEEDED = 3;
const SHARED = 8;

// Bands with their pairs as rows of one list; `known` is the band a row belongs to.
export function rowsOfBands(bands) {
  return bands.flatMap((known) =>
    known.pairs.map((pair) => ({
      ...pair,
      name: `${pair.a} \u2192 ${shortened(pair.a, pair.b)}`,
      group: known.group,
      band: known.value,
      known,
      verdict: "rerun",
      title: pairWords({ ...pair, known }),
    })),
  );
}

// What a name says beyond another one: reruns are often called alike.
export function shortened(before, name) {
  const differ = [...name].findIndex((letter, at) => letter !== before[at]);
  const at = differ < 0 ? name.length : differ;
  const rest = name.slice(at);
  return at >= SHARED && rest && /[^a-z0-9]/i.test(rest[0]) ? `\u2026${rest}` : name;
}

export function bandWords({ value, m }) {
  if (value == null) return `band unknown: ${count(m, "rerun")}, ${NEEDED} needed`;
  return `band \u00b1${fixed(value, CHANGE_DIGITS)}, from ${count(m, "rerun")}`;
}

export function flipWords({ flips, n }) {
  return flips == null ? "" : `${count(flips, "answer flips", "answers flip")} of ${whole(n)}`;
}

export function pairWords({ a, b, prompt, known, ...pair }) {
  const flips = flipWords(pair);
  return [`${a} to ${b}, ${prompt}: ${changeText(pair)}`, flips, bandWords(known)].filter(Boolean).join(", ");
}

// [{ name, text, title, kind }]: what stands over the documents of a pair.
export function factsOfPair(pair) {
  return [
    { name: "difference", text: changeText(pair), kind: "wide" },
    { name: "p", text: chanceText(pair.p) },
    { name: "documents", text: whole(pair.n), title: "that both answered" },
    { name: "later better", text: whole(pair.better) },
    { name: "later worse", text: whole(pair.worse) },
    { name: "same prompt", text: pair.identity === "prompt hash" ? "by its hash" : "by its name only", kind: "wide" },
  ];
}

// What flips, and who was right: { right, wrong } count documents whose right answer was won or lost.
export function flipCounts(rows) {
  const won = rows.filter(({ right }) => right === "b").length;
  const lost = rows.filter(({ right }) => right === "a").length;
  return { won, lost, neither: rows.length - won - lost };
}

// Why pairs are no reruns, the commonest reason first.
export function reasonCounts(excluded) {
  const counts = new Map();
  for (const { reason } of excluded) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  return [...counts].sort((one, other) => other[1] - one[1]);
}

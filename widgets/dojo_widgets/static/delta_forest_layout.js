// Where changes, intervals and rerun bands stand on one axis, and in which order: no DOM, only numbers and texts.
//
// A row is { id, name, group, scale, delta, lo, hi, band, single, verdict }, with `band` null where rerun noise is not
// known, and `single` the differences of the few pairs of reruns there are.
// Positions are in percent of the width of the axis, which is the same to both sides of 0.

import { fixed, UNKNOWN } from "./numbers.js";

// Best news first; what cannot be told comes last.
export const VERDICTS = [
  "win",
  "loss",
  "within rerun noise",
  "inconclusive: rerun noise not measured",
  "inconclusive",
  "rerun",
];

// Class names are shared with the host: marimo, for one, has a class "noise" that covers the page.
const KINDS = { "within rerun noise": "within-band", "inconclusive: rerun noise not measured": "unmeasured" };
const ICONS = { win: "\u25b2", loss: "\u25bc", "within-band": "\u2248", inconclusive: "?", rerun: "\u21bb" };

// "win" -> { kind: "win", icon }; the kind is a class name. A change that is beyond sampling, but not known to be
// beyond rerun noise, has the hollow sign of its direction.
export function verdictMark(verdict, delta) {
  const kind = KINDS[verdict] ?? verdict;
  if (kind === "unmeasured") return { kind, icon: delta < 0 ? "\u25bd" : "\u25b3" };
  return { kind, icon: ICONS[kind] ?? "" };
}

const MINUS = "\u2212";

// A change as it is printed: always with its sign, a change that rounds to nothing without one. Changes of means have
// one digit more than the means, because bands are small.
export const CHANGE_DIGITS = 4;

export function signed(value, digits = CHANGE_DIGITS) {
  if (value == null || Number.isNaN(value)) return UNKNOWN;
  const size = fixed(Math.abs(value), digits);
  if (Number(size) === 0) return size;
  return `${value < 0 ? MINUS : "+"}${size}`;
}

export function bounds({ lo, hi }) {
  return lo == null || hi == null ? "" : `[${signed(lo)}, ${signed(hi)}]`;
}

// How far a row reaches from 0.
function reach({ delta, lo, hi, band }) {
  return Math.max(...[delta, lo, hi, band].map((value) => Math.abs(value ?? 0)));
}

const STRETCH = 2.5;
const ROOM = 1.08;
const LEAST_LIMIT = 1e-6;
const APART = 1.6;
const EDGE = 0.8;

// { limit, ticks }: an axis from -limit to limit. A few intervals of tiny samples must not flatten all others, so rows
// that reach far beyond the upper quartile are cut off at the edge; `whole` names rows that never are.
export function axisOf(rows, whole = () => false) {
  const reaches = rows.map(reach).sort((a, b) => a - b);
  if (!reaches.length || reaches.at(-1) === 0) return { limit: 1, ticks: [-0.5, 0, 0.5] };
  const usual = reaches[Math.floor((reaches.length - 1) * 0.75)];
  const kept = Math.max(0, ...rows.filter(whole).map(reach));
  const limit = Math.max(LEAST_LIMIT, ROOM * Math.max(kept, Math.min(reaches.at(-1), STRETCH * usual || Infinity)));
  return { limit, ticks: ticksOf(limit) };
}

// Groups with the axis of each. Rows that say the same `scale` share one, so that they can be compared; those of another
// scale get their own only where one axis would leave too little of the first.
export function withAxes(groups, whole = () => false) {
  const scales = new Map();
  for (const { rows } of groups)
    for (const row of rows) scales.set(row.scale, [...(scales.get(row.scale) ?? []), row]);
  const [first, ...others] = [...scales];
  if (!first) return [];
  const main = axisOf(first[1], whole);
  const axes = new Map([[first[0], main]]);
  for (const [scale, rows] of others) {
    const own = axisOf(rows, whole);
    axes.set(scale, own.limit > APART * main.limit || own.limit < main.limit / APART ? own : main);
  }
  return groups.map((group) => ({ ...group, axis: axes.get(group.rows[0].scale) }));
}

// Two round values to each side of 0, or one where two would come too near the edge.
function ticksOf(limit) {
  const power = 10 ** Math.floor(Math.log10(limit / 2));
  const step = [5, 2.5, 2, 1].map((part) => part * power).find((one) => 2 * one <= limit * EDGE) ?? power;
  const positive = [step, 2 * step].filter((tick) => tick <= limit * EDGE);
  return [...positive.map((tick) => -tick).reverse(), 0, ...positive];
}

export function tickText(tick) {
  if (tick === 0) return "0";
  return `${tick < 0 ? MINUS : "+"}${Number(Math.abs(tick).toPrecision(2))}`;
}

export function position(value, { limit }) {
  return 50 + 50 * Math.max(-1, Math.min(1, value / limit));
}

// What is drawn of a row; parts that are unknown are null. `cut` tells at which ends the interval goes on.
export function drawn({ delta, lo, hi, band, single = [] }, axis) {
  const cut = (value) => value != null && Math.abs(value) > axis.limit * 1.0001;
  return {
    point: delta == null || cut(delta) ? null : position(delta, axis),
    interval: lo == null || hi == null ? null : { from: position(lo, axis), to: position(hi, axis) },
    cut: { left: [lo, delta].some((v) => cut(v) && v < 0), right: [hi, delta].some((v) => cut(v) && v > 0) },
    zone: band == null ? null : { from: position(-band, axis), to: position(band, axis) },
    // Where a band is not known, the differences of single pairs of reruns are shown, later less earlier.
    single: band == null ? single.filter((one) => one !== 0).map((one) => position(one, axis)) : [],
  };
}

const BY = {
  change: (a, b) => unknownLast(a.delta, b.delta, (x, y) => y - x),
  verdict: (a, b) => rank(a.verdict) - rank(b.verdict) || BY.change(a, b),
  flips: (a, b) => unknownLast(a.flips, b.flips, (x, y) => y - x),
  name: (a, b) => a.name.localeCompare(b.name),
};

function rank(verdict) {
  const at = VERDICTS.indexOf(verdict);
  return at < 0 ? VERDICTS.length : at;
}

function unknownLast(a, b, compare) {
  if (a == null || b == null) return (a == null) - (b == null);
  return compare(a, b);
}

// Rows in their groups, which keep the order in which they first appear; "given" keeps that of the rows, too, and a
// minus turns an order round, unknown values last all the same.
export function grouped(rows, sort = "given") {
  const groups = new Map();
  for (const row of rows) {
    if (!groups.has(row.group)) groups.set(row.group, []);
    groups.get(row.group).push(row);
  }
  const down = sort.startsWith("-");
  const compare = BY[down ? sort.slice(1) : sort];
  const ordered = (found) => {
    if (!compare) return found;
    const known = found.filter((row) => row.delta != null).sort(compare);
    const unknown = found.filter((row) => row.delta == null).sort(BY.name);
    return [...(down ? known.reverse() : known), ...unknown];
  };
  return [...groups].map(([group, found]) => ({ group, rows: ordered(found) }));
}

// A click on a heading sorts, another one turns it round, a third goes back to the order given.
export function nextSort(sort, by) {
  if (sort === by) return `-${by}`;
  return sort === `-${by}` ? "given" : by;
}

const STEPS = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8, Home: -Infinity, End: Infinity };

// The id a key leads to from `id`, "" when the key does not move.
export function idAfter(key, ids, id) {
  const step = STEPS[key];
  if (!step || !ids.length) return "";
  const at = ids.indexOf(id);
  if (at < 0) return step === Infinity ? ids.at(-1) : ids[0];
  return ids[Math.max(0, Math.min(ids.length - 1, at + step))];
}

// The documents to list: those that moved the way that is asked for, and whose name or answers hold every word typed.
export function matchingChanges(rows, { way = "all", text = "" } = {}) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return rows.filter((row) => {
    if (way !== "all" && row.direction !== way) return false;
    if (!words.length) return true;
    const held = [row.short, row.document, row.answer_a, row.answer_b, row.expected].join(" ").toLowerCase();
    return words.every((word) => held.includes(word));
  });
}

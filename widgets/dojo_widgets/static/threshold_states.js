// Looking up what was computed for every place of the controls, no DOM.

import { fixed } from "./numbers.js";

const EPSILON = 1e-9;

export function same(a, b) {
  return a == null || b == null ? a == null && b == null : Math.abs(a - b) < EPSILON;
}

// The value of a trait, or the run's own where the trait says nothing.
export function placeOf(data, { threshold, gate, partial }) {
  return {
    threshold: threshold ?? data.base.threshold,
    gate: gate ?? data.base.rescue_below ?? null,
    partial: partial ?? data.base.partial ?? null,
  };
}

export function hasGates(data) {
  return Boolean(data.gates?.length);
}

export function hasPartial(data) {
  return Boolean(data.partial?.on?.length && data.partial?.off?.length);
}

// States by threshold that belong to a place of the other two controls; null when that was not computed.
export function statesAt(data, gate, partial) {
  const isOwnRule = partial == null || partial === (data.base.partial ?? null);
  if (!same(gate, data.base.rescue_below)) {
    if (!isOwnRule) return null;
    const found = (data.gates || []).find((one) => same(one.rescue_below, gate));
    return found ? found.states || [found] : null;
  }
  if (!isOwnRule && hasPartial(data)) return partial ? data.partial.on : data.partial.off;
  return data.states;
}

// The state of a place, or null when it was not computed.
export function stateAt(data, { threshold, gate, partial }) {
  return (statesAt(data, gate, partial) || []).find((state) => same(state.threshold, threshold)) || null;
}

// The state the run was scored at.
export function baseState(data) {
  return stateAt(data, placeOf(data, {}));
}

export function thresholdsOf(data) {
  return data.states.map((state) => state.threshold);
}

export function gatesOf(data) {
  const gates = (data.gates || []).map((one) => one.rescue_below);
  const base = data.base.rescue_below;
  const all = base == null || gates.some((gate) => same(gate, base)) ? gates : [...gates, base];
  return all.sort((a, b) => a - b);
}

// The gate nearest to a value among those that were computed.
export function nearestGate(gates, value) {
  return gates.reduce((best, gate) => (Math.abs(gate - value) < Math.abs(best - value) ? gate : best), gates[0]);
}

// The controls after one of them was moved. Combinations that were not computed are left, the control just moved
// first: what else has to give way returns to the run's own value, of the others as little as possible.
export function placeAfter(data, place, change) {
  const next = { ...place, ...change };
  const base = placeOf(data, {});
  const own = "gate" in change ? { partial: base.partial } : { gate: base.gate };
  const found = [next, { ...next, ...own }, { ...base, ...change }].find((one) => stateAt(data, one));
  if (found || !("gate" in change)) return found || place;
  const [first] = statesAt(data, next.gate, base.partial) || [];
  return first ? { ...base, gate: next.gate, threshold: first.threshold } : place;
}

// Spans on another side than in the run, at this threshold. A flip lasts from `at` on, away from the run's threshold,
// or up to `until` where the span changes back.
export function flipsAt(data, threshold) {
  const base = data.base.threshold;
  const away = threshold - base;
  if (Math.abs(away) < EPSILON) return [];
  return (data.flips || []).filter((flip) => {
    const distance = (flip.at - base) * Math.sign(away);
    const end = flip.until == null ? Infinity : (flip.until - base) * Math.sign(away);
    return distance > EPSILON && distance <= Math.abs(away) + EPSILON && Math.abs(away) < end - EPSILON;
  });
}

export function missedIn(state) {
  return state == null || state.expected == null ? null : state.expected - state.matched;
}

// An estimate or a plain number as { value, lo, hi, n, note }.
export function estimateOf(value) {
  return value != null && typeof value === "object" ? value : { value: value ?? null };
}

// The difference of two numbers between 0 and 1 in points, signed; null when one is unknown.
export function points(before, after) {
  const [a, b] = [estimateOf(before).value, estimateOf(after).value];
  return a == null || b == null ? null : 100 * (b - a);
}

export function signed(pp) {
  if (pp == null) return "\u2013";
  const text = fixed(Math.abs(pp), 1);
  return text === "0.0" ? "0.0 pp" : `${pp < 0 ? "\u2212" : "+"}${text} pp`;
}

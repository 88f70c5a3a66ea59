// Where things stand in the charts of a what-if, no DOM.

const STEPS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5];
const PADDING = 0.1;

// Ends and ticks of the axis of accuracy: every value in sight, at most six ticks, never beyond 0 and 1.
export function accuracyAxis(values) {
  const known = values.filter((value) => value != null && Number.isFinite(value));
  let [low, high] = [Math.min(...known), Math.max(...known)];
  const air = Math.max(0.004, PADDING * (high - low));
  [low, high] = [Math.max(0, low - air), Math.min(1, high + air)];
  const step = STEPS.find((one) => (high - low) / one <= 5.5) ?? 1;
  const ticks = [];
  for (let at = Math.ceil(low / step - 1e-9); at * step <= high + 1e-9; at++) ticks.push(at * step);
  return { low, high, ticks, digits: step >= 0.1 ? 1 : step >= 0.01 ? 2 : 3 };
}

// A scale from a domain to pixels; `log` for numbers of votes.
export function scaleOf([from, to], [start, end], { log = false } = {}) {
  const along = log ? Math.log : (value) => value;
  const width = along(to) - along(from);
  return (value) => (width ? start + ((along(value) - along(from)) / width) * (end - start) : (start + end) / 2);
}

// A line through points, as the `d` of a path.
export function linePath(points) {
  return points.map(([x, y], at) => `${at ? "L" : "M"}${round(x)} ${round(y)}`).join("");
}

// An area between two lines, as the `d` of a path.
export function areaPath(upper, lower) {
  return `${linePath(upper)}L${[...lower].reverse().map(([x, y]) => `${round(x)} ${round(y)}`).join("L")}Z`;
}

// Base lines of the labels of two level lines: between the lines where there is room for both, else outside of them.
export function labelPlaces(one, other) {
  const near = Math.abs(one - other) < 30;
  const above = (y) => y - 4;
  const below = (y) => y + 13;
  const isUpper = one <= other;
  return [isUpper === near ? above(one) : below(one), isUpper === near ? below(other) : above(other)];
}

function round(value) {
  return Math.round(100 * value) / 100;
}

// Labels that leave each other room: of those nearer than `room` pixels the later ones go, the last one stays.
export function spaced(ticks, across, room) {
  const kept = [];
  for (const tick of ticks) if (!kept.length || across(tick) - across(kept.at(-1)) >= room) kept.push(tick);
  const last = ticks.at(-1);
  if (kept.at(-1) !== last) {
    if (across(last) - across(kept.at(-1)) < room && kept.length > 1) kept.pop();
    kept.push(last);
  }
  return kept;
}

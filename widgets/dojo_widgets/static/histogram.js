// The histogram of similarities that is a slider: bars, colours and keys, no DOM.

const TALLER = 2.5;
const CAP = 1.25;
const EPSILON = 1e-9;

// The count at which bars are cut: the tallest, unless it would flatten all others.
export function capOf(counts) {
  const [first = 0, second = 0] = [...counts].sort((a, b) => b - a);
  return second > 0 && first > TALLER * second ? Math.ceil(CAP * second) : first;
}

// Bars as { from, to, count, height (0 to 1), cut, parts }; a bar the threshold runs through has two parts, so that
// colour changes where the line stands.
export function barsOf({ edges, counts }, threshold, near) {
  const cap = capOf(counts);
  return counts.flatMap((count, index) => {
    if (!count) return [];
    const [from, to] = [edges[index], edges[index + 1]];
    return [
      {
        from,
        to,
        count,
        height: Math.min(1, count / cap),
        cut: count > cap,
        parts: partsOf(from, to, threshold, near),
      },
    ];
  });
}

function partsOf(from, to, threshold, near) {
  const cuts = [near, threshold].filter((cut) => cut > from + EPSILON && cut < to - EPSILON).sort((a, b) => a - b);
  const edges = [from, ...cuts, to];
  return edges.slice(0, -1).map((start, index) => ({
    from: start,
    to: edges[index + 1],
    kind: kindOf(start, threshold, near),
  }));
}

function kindOf(similarity, threshold, near) {
  if (similarity >= threshold - EPSILON) return "matched";
  return similarity >= near - EPSILON ? "near" : "missed";
}

// The values a slider can stand at: those that were computed.
export function nearestOf(values, value) {
  return values.reduce((best, one) => (Math.abs(one - value) < Math.abs(best - value) - EPSILON ? one : best));
}

const STEPS = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -5, PageUp: 5, "[": -1, "]": 1 };

// The value a key leads to, or null when it is no key of a slider.
export function slid(key, values, value) {
  if (key === "Home") return values[0];
  if (key === "End") return values[values.length - 1];
  if (!(key in STEPS)) return null;
  const index = values.indexOf(nearestOf(values, value)) + STEPS[key];
  return values[Math.max(0, Math.min(values.length - 1, index))];
}

const TICKS = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1];
const NARROW = 420;
const LABEL = 28;

// Tick labels that leave room for the threshold's own; every second one when there is little room.
export function ticksOf(threshold, width) {
  const every = width < NARROW ? 2 : 1;
  return TICKS.filter((tick, index) => index % every === 0 && Math.abs(tick - threshold) * width > LABEL);
}

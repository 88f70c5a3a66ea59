// Families of spans: their order, which of them a filter keeps, and the geometry of their bars.

export const FILTER_FROM = 40;

const ORDERS = {
  count: (a, b) => a.unmatched - b.unmatched || a.rate - b.rate,
  rate: (a, b) => a.rate - b.rate || a.expected - b.expected,
  name: (a, b) => compareText(a.short, b.short),
};

function compareText(a, b) {
  return a.toLowerCase().localeCompare(b.toLowerCase(), "en");
}

// "count:desc" -> { by: "count", down: true }
export function readSort(sort) {
  const [by, direction] = sort.split(":");
  return { by, down: direction === "desc" };
}

// The sort after a click on a column's head: the other direction, or the natural one of another column.
export function nextSort(sort, by, natural) {
  const now = readSort(sort);
  if (now.by !== by) return `${by}:${natural}`;
  return `${by}:${now.down ? "asc" : "desc"}`;
}

// { ranked, unranked }: families too small to rank stand apart unless the order is by name.
export function sortedFamilies(families, sort) {
  const { by, down } = readSort(sort);
  const sign = down ? -1 : 1;
  const all = [...families].sort((a, b) => sign * ORDERS[by](a, b) || compareText(a.short, b.short));
  if (by === "name") return { ranked: all, unranked: [] };
  return { ranked: all.filter((family) => family.ranked), unranked: all.filter((family) => !family.ranked) };
}

export function keptFamilies(families, words) {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  const has = (family) => {
    const name = `${family.category} ${family.short}`.toLowerCase();
    return wanted.every((word) => name.includes(word));
  };
  return families.filter(has);
}

// The ranked family with most missed spans; "" when nothing is missed in a ranked family.
export function worstFamily(families) {
  const missed = families.filter((family) => family.ranked && family.unmatched);
  return sortedFamilies(missed, "count:desc").ranked[0]?.category ?? "";
}

// Bar of a family in shares of the drawing's width: by count the track is as long as the family is large, by rate
// all tracks are equal. `largest` is the size of the largest family.
export function barOf({ expected, unmatched, rate, lo, hi }, byRate, largest) {
  if (byRate) return { track: 1, value: rate, lo, hi };
  const scale = expected / Math.max(1, largest);
  return { track: scale, value: unmatched / Math.max(1, largest), lo: lo * scale, hi: hi * scale };
}

export function overallRate(families) {
  const sum = (key) => families.reduce((total, family) => total + family[key], 0);
  return sum("expected") ? sum("unmatched") / sum("expected") : null;
}

// Ranked families whose whole interval lies above the rate of all spans, most missed first.
export function aboveAverage(families) {
  const rate = overallRate(families);
  return sortedFamilies(
    families.filter((family) => family.ranked && family.lo > rate),
    "count:desc",
  ).ranked;
}

// One sentence that concludes from the families.
export function familiesSay(families, names = 3) {
  if (!families.length) return "No family: nothing is expected.";
  if (!families.some((family) => family.unmatched)) return "No family has a missed span. Whiskers: 95 %.";
  const above = aboveAverage(families);
  if (!above.length) return "No family is missed more than the average beyond chance. Whiskers: 95 %.";
  const listed = above
    .slice(0, names)
    .map((family) => family.short)
    .join(", ");
  const rest = above.length > names ? ` and ${above.length - names} more` : "";
  return `Missed more than the average beyond chance: ${listed}${rest}. Whiskers: 95 %.`;
}

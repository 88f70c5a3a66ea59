// A small table of misses for the tests.

const CATEGORIES = ["Cap", "Audit"];

export function span(id, category, status, more = {}) {
  const cause = status === "matched" ? null : "omission";
  return {
    id,
    document: 0,
    category,
    text: `label ${id}`,
    status,
    cause,
    similarity: 0.5,
    place: "elsewhere",
    check: false,
    ...more,
  };
}

export function tableOf(spans, more = {}) {
  const n = (test) => spans.filter(test).length;
  const families = CATEGORIES.map((category) => {
    const own = spans.filter((one) => one.category === category);
    const unmatched = own.filter(({ status }) => status !== "matched").length;
    return {
      category,
      short: category,
      expected: own.length,
      unmatched,
      rate: unmatched / own.length,
      lo: 0,
      hi: 1,
      ranked: true,
    };
  });
  const counts = Object.fromEntries(
    ["matched", "taken", "near", "missed"].map((name) => [name, n(({ status }) => status === name)]),
  );
  const causes = {};
  for (const { cause } of spans) if (cause) causes[cause] = (causes[cause] || 0) + 1;
  return {
    field: "terms",
    measure: "coverage",
    threshold: 0.6,
    has_places: true,
    expected: spans.length,
    counts,
    causes,
    untestable: {},
    families,
    documents: [
      { name: "Bravo Inc", short: "Bravo" },
      { name: "Alpha Inc", short: "Alpha" },
    ],
    spans,
    notes: [],
    ...more,
  };
}

export const SPANS = [
  span("a", "Cap", "near", { similarity: 0.4, document: 1 }),
  span("b", "Cap", "missed", { similarity: 0.55, cause: "split", place: "same place" }),
  span("c", "Cap", "matched", { similarity: 0.9, check: true }),
  span("d", "Audit", "missed", { similarity: 0.58 }),
  span("e", "Audit", "matched", { similarity: 1, place: "same place" }),
];

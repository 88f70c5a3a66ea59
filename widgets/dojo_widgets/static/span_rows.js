// Which spans a list shows, in which order, which of them are in sight, and what is said about them.

import { NO_ITEMS, causeName, causeRank } from "./causes.js";
import { readSort, worstFamily } from "./families.js";
import { isMatched } from "./meanings.js";
import { count, fixed, whole } from "./numbers.js";

// More spans of documents without any item than this are folded into one line.
export const FOLDED_ABOVE = 6;

const PLACES = ["same place", "elsewhere", "not verbatim", "label not in text", "no item", "unknown"];
const MEASURES = { coverage: "coverage", token_f1: "token F1", scorer: "similarity" };

const KEYS = {
  similarity: (span) => span.similarity ?? -1,
  document: (span, table) => table.documents[span.document].short.toLowerCase(),
  label: (span) => span.text.toLowerCase(),
  place: (span) => PLACES.indexOf(span.place),
  cause: (span) => (span.cause ? causeRank(span.cause) : Infinity),
};

export const measureWords = (measure) => MEASURES[measure] || measure;

function isShown(span, show) {
  if (show === "missed") return !isMatched(span.status);
  return show === "check" ? span.check : isMatched(span.status);
}

// { rows, folded }: the spans of a list in their order, and those folded into one line because the model returned
// nothing at all for their documents.
export function listed(table, { family, cause, show, sort }) {
  const chosen = table.spans.filter(
    (span) => (!family || span.category === family) && isShown(span, show) && (!cause || span.cause === cause),
  );
  const empty = cause ? [] : chosen.filter((span) => span.cause === NO_ITEMS);
  const folds = empty.length > FOLDED_ABOVE && empty.length < chosen.length;
  const rows = folds ? chosen.filter((span) => span.cause !== NO_ITEMS) : chosen;
  return { rows: sortedSpans(rows, table, sort), folded: folds ? empty : [] };
}

function sortedSpans(spans, table, sort) {
  const { by, down } = readSort(sort);
  const sign = down ? -1 : 1;
  const keyed = spans.map((span) => ({ span, key: KEYS[by](span, table), similarity: KEYS.similarity(span) }));
  const order = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
  // The sort is stable: equal spans stay in the order of the table.
  keyed.sort((a, b) => sign * order(a.key, b.key) || b.similarity - a.similarity);
  return keyed.map(({ span }) => span);
}

// The span selected when nothing else says which: the first of the worst family, or of the list.
export function firstSpan(table, choice) {
  const { rows } = listed(table, choice);
  const worst = choice.family ? "" : worstFamily(table.families);
  return (rows.find((span) => span.category === worst) ?? rows[0])?.id ?? "";
}

// The choice made consistent: its span is one of the spans listed. A span somebody asked for wins over the filters,
// otherwise the filters win over the span.
export function settled(table, choice, asksForSpan) {
  const known = table.families.some((family) => family.category === choice.family);
  const next = { ...choice, family: known ? choice.family : "", show: choice.cause ? "missed" : choice.show };
  if (listed(table, next).rows.some((span) => span.id === next.span)) return next;
  const span = asksForSpan && table.spans.find(({ id }) => id === next.span);
  if (!span) return { ...next, span: firstSpan(table, next) };
  if (next.family !== span.category) next.family = "";
  if (!isShown(span, next.show)) next.show = isMatched(span.status) ? "matched" : "missed";
  if (next.cause !== span.cause || next.show !== "missed") next.cause = "";
  const isFolded = !listed(table, next).rows.includes(span);
  return isFolded ? { ...next, cause: NO_ITEMS } : next;
}

// A similarity with two digits, or as many as it takes to stand on the right side of the threshold.
export function similarityWords(similarity, threshold) {
  if (similarity == null) return fixed(null);
  const reaches = similarity >= threshold;
  const digits = [2, 3, 4, 5].find((n) => Number(fixed(similarity, n)) >= threshold === reaches);
  return fixed(similarity, digits ?? 6);
}

export function countsIn(table, family) {
  const spans = table.spans.filter((span) => !family || span.category === family);
  const n = (show) => spans.filter((span) => isShown(span, show)).length;
  return { expected: spans.length, missed: n("missed"), matched: n("matched"), check: n("check") };
}

const familyName = (table, family) =>
  table.families.find(({ category }) => category === family)?.short || family || "All families";

// "Cap On Liability · omission · span 3 of 17"; of all families, the family of the span is named last.
export function heading(table, { family, cause, show }, at, rows) {
  const kind = { missed: cause && causeName(table, cause), matched: "matched", check: "matches to check" }[show];
  const position = at < 0 ? count(rows.length, "span") : `span ${whole(at + 1)} of ${whole(rows.length)}`;
  const own = !family && at >= 0 && familyName(table, rows[at].category);
  return [familyName(table, family), kind, rows.length ? position : "no spans", own].filter(Boolean).join(" \u00b7 ");
}

// What an empty list says: { finding, next }.
export function emptyWords(table, { family, cause, show }) {
  const { expected, missed } = countsIn(table, family);
  const name = familyName(table, family);
  const of = family ? ` of ${name}` : "";
  if (!expected)
    return {
      finding: "There is nothing to find.",
      next: `No document of this run has a labelled ${table.field} span.`,
    };
  if (cause)
    return {
      finding: `No missed span${of} is put down to ${causeName(table, cause)}.`,
      next: `${count(missed, "span")}${of} ${missed === 1 ? "is" : "are"} missed for other reasons.`,
    };
  if (show === "check")
    return {
      finding: "No match needs a second look.",
      next: `Every matched span${of} has its item at its own place, as far as places are known.`,
    };
  if (show === "matched")
    return { finding: "Nothing is matched here.", next: `All ${count(expected, "expected span")}${of} are missed.` };
  const reach = expected === 1 ? "The one expected span" : `All ${whole(expected)} expected spans`;
  const verb = expected === 1 ? "reaches" : "reach";
  return {
    finding: "Nothing is missed here.",
    next: `${reach}${of} ${verb} ${measureWords(table.measure)} ${fixed(table.threshold)}.`,
  };
}

// "1,234 spans of 296 documents for which the model returned no items"
export function foldedWords(folded) {
  const documents = new Set(folded.map((span) => span.document)).size;
  return `${count(folded.length, "more span")} of ${count(documents, "document")} without any item`;
}

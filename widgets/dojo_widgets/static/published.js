// What a page without Python can do, and what it says where it cannot.

import { causeSays } from "./causes.js";
import { element } from "./dom.js";
import { isMatched, placeWords, statusWords } from "./meanings.js";
import { measureWords, similarityWords } from "./span_rows.js";

const TEXT = 160;

export const KEPT = "kept until you close this page: copy them";

export function isPublished(model) {
  return Array.isArray(model.tables) || Boolean(model.get("_tables")?.length);
}

// The ids of the spans a published page can open; null where Python runs, or nothing says which they are.
export function carriedSpans(model) {
  const tables = [...(model.tables || []), ...(model.get("_tables") || [])];
  const records = tables.find(({ source, target }) => source === "span" && target === "record");
  return records ? new Set(Object.keys(records.values)) : null;
}

// What the table knows of a span that has no record here, as nodes; `why` says what to do about it.
export function spanOfTable(table, span, why) {
  const reason = span.cause && !isMatched(span.status) ? ` \u00b7 ${causeSays(table, span.cause)}.` : "";
  const facts = [
    statusWords(span.status),
    `${measureWords(table.measure)} ${similarityWords(span.similarity, table.threshold)}`,
    table.has_places && `the nearest item: ${placeWords(span.place)}`,
  ];
  return [
    element("p", { class: "known-label" }, span.text.slice(0, TEXT), span.text.length >= TEXT ? " \u2026" : ""),
    element("p", {}, element("b", {}, facts.filter(Boolean).join(" \u00b7 ")), reason),
    element("p", {}, why),
  ];
}

// What a document view says in words. No DOM here.

import { count, percent, whole } from "./numbers.js";

export function nameOf(mark) {
  if (mark.kind === "item") return `item ${mark.key}`;
  return `${mark.matched ? "matched" : "missed"} label${mark.family ? ` ${mark.family}` : ""}`;
}

// Why the text does not begin at the label; null when it does: [strong, more].
export function noteOf({ label, windowed }) {
  if (label?.at?.length) return null;
  const missing = label?.how == null ? "Where this label stands is not known." : "This label is not in the text.";
  return [missing, windowed ? "What follows is the start of the document." : "Shown from the start."];
}

export function captionOf(view, marks, from) {
  const distinct = (kind) => new Set(marks.filter((mark) => mark.kind === kind).map(({ key }) => key)).size;
  const parts = [
    `view at ${percent(from / Math.max(1, view.length))} of ${count(view.length, "character")}`,
    `above the line ${count(distinct("label"), "label")}, below it ${count(distinct("item"), "item")}`,
  ];
  if (view.windowed) parts.push(windowOf(view));
  else if (view.chunks?.length) parts.push("dashes: chunk borders");
  return parts.join(" \u00b7 ");
}

function windowOf({ label, text, start }) {
  const end = start + text.length;
  const at = (label?.at || []).filter(([from, to]) => from < end && to > start);
  const around = at.length ? Math.max(at[0][0] - start, end - at.at(-1)[1]) : text.length;
  const what = at.length ? `\u00b1${whole(around)} characters round the label` : `${whole(around)} characters`;
  return `window of ${what}; positions on the ruler are of the whole contract`;
}

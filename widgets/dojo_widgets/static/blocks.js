// A long text cut into blocks, and the labels and items that stand in it. No DOM here.
//
// All positions are offsets into the whole document; a view may hold only a window of it that begins at `start`.

export const BLOCK_SIZE = 2_400;
const TAG_LENGTH = 40;

// Blocks [start, end) of about BLOCK_SIZE characters: cut after a line, else after a word, else anywhere but inside
// a character.
export function blocksOf(text, start = 0, size = BLOCK_SIZE) {
  const blocks = [];
  for (let at = 0; at < text.length;) {
    const end = cutBefore(text, at, at + size);
    blocks.push({ start: start + at, end: start + end });
    at = end;
  }
  return blocks;
}

function cutBefore(text, at, limit) {
  if (limit >= text.length) return text.length;
  const line = text.lastIndexOf("\n", limit - 1);
  if (line > at + (limit - at) / 2) return line + 1;
  const space = text.lastIndexOf(" ", limit - 1);
  if (space > at) return space + 1;
  const splitsPair = /[\uD800-\uDBFF]/.test(text[limit - 1]) && /[\uDC00-\uDFFF]/.test(text[limit]);
  return splitsPair && limit - 1 > at ? limit - 1 : limit;
}

export function blockAt(blocks, position) {
  const found = blocks.findIndex(({ end }) => position < end);
  return found < 0 ? blocks.length - 1 : found;
}

// Squeeze what scanning left between words; only for display, since places count the characters of the original.
export function squeezed(text) {
  return text.replace(/[^\S\n]{3,}/g, "  ").replace(/\n(?:[^\S\n]*\n)+/g, "\n\n");
}

// Every place of every label and item, in reading order; a longer one before those that begin with it.
// { kind: "label" | "item", key, start, end, part, parts, pieces, family, matched, own, near }
// `near` tells that a label was found only approximately; the view knows it of its own label.
export function marksOf(view) {
  const labels = view.labels || [];
  const own = labels.some(({ id }) => id === view.span) ? [] : [{ ...view.label, id: view.span, status: "missed" }];
  const isNear = view.label?.how === "approximate";
  const marks = [
    ...[...labels, ...own].flatMap((label) =>
      places(label, {
        kind: "label",
        key: label.id,
        pieces: Boolean(label.pieces),
        family: label.family || "",
        matched: label.status === "matched",
        own: label.id === view.span,
        near: label.id === view.span && isNear,
      }),
    ),
    ...(view.items || []).flatMap((item) => places(item, { kind: "item", key: item.index })),
  ];
  return marks.sort((one, other) => one.start - other.start || other.end - one.end);
}

function places({ at }, mark) {
  return (at || []).map(([start, end], place) => ({ ...mark, start, end, part: place + 1, parts: at.length }));
}

export function marksInside(marks, start, end) {
  return marks.filter((mark) => mark.start < end && mark.end > start);
}

// Cut [start, end) wherever a mark begins or ends: [{ start, end, marks, begins }].
export function piecesOf(start, end, marks) {
  const inside = marksInside(marks, start, end);
  const edges = inside.flatMap((mark) => [Math.max(start, mark.start), Math.min(end, mark.end)]);
  const cuts = [...new Set([start, ...edges, end])].sort((one, other) => one - other);
  return cuts.slice(1).map((to, at) => {
    const from = cuts[at];
    const here = inside.filter((mark) => mark.start <= from && mark.end >= to);
    return { start: from, end: to, marks: here, begins: here.filter((mark) => mark.start === from) };
  });
}

// The tags before a piece: missed labels, matched labels, items; those of one sort that begin together share a tag.
export function tagsOf(begins) {
  const labels = begins.filter(({ kind }) => kind === "label").sort((one, other) => other.own - one.own);
  return [
    ...labelTag(
      labels.filter(({ matched }) => !matched),
      "missed",
    ),
    ...labelTag(
      labels.filter(({ matched }) => matched),
      "matched",
    ),
    ...itemTag(begins.filter(({ kind }) => kind === "item")),
  ];
}

function labelTag(labels, status) {
  if (!labels.length) return [];
  const families = [...new Set(labels.map(({ family }) => family).filter(Boolean))];
  const shown = families.slice(0, 2).map(shortened).join(" + ");
  const listed = shown + (families.length > 2 ? ` + ${families.length - 2} more` : "");
  const name = `${status} label${partOf(labels[0])}${labels[0].near ? ", approximately" : ""}`;
  const text = listed ? `${name}: ${listed}` : name;
  return [{ kind: status, text, title: families.join(", "), own: labels[0].own }];
}

function shortened(family) {
  return family.length > TAG_LENGTH ? `${family.slice(0, TAG_LENGTH - 1)}\u2026` : family;
}

function itemTag(items) {
  if (!items.length) return [];
  const numbers = [...new Set(items.map(({ key }) => key))];
  const more = numbers.length > 3 ? ` + ${numbers.length - 3}` : "";
  const text = numbers.length === 1 ? `item ${numbers[0]}` : `items ${numbers.slice(0, 3).join(", ")}${more}`;
  return [{ kind: "item", text, title: "", own: false }];
}

function partOf({ parts, part, pieces }) {
  if (parts < 2) return "";
  return pieces ? ` ${part}/${parts}` : `, place ${part} of ${parts}`;
}

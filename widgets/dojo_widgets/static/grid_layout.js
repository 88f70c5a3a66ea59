// Where things stand in grids and lists of which only a part is in the page: no DOM, only numbers.

// Rows [from, to) to draw of `count` rows of one height, with some to spare on both sides.
export function visibleRange(scrollTop, height, rowHeight, count, spare = 4) {
  const from = Math.max(0, Math.floor(scrollTop / rowHeight) - spare);
  const to = Math.min(count, Math.ceil((scrollTop + height) / rowHeight) + spare);
  return { from: Math.min(from, to), to };
}

// The scroll position at which a row is wholly visible, moved as little as possible.
export function scrollToRow(row, scrollTop, height, rowHeight) {
  const top = row * rowHeight;
  if (top < scrollTop) return top;
  return top + rowHeight > scrollTop + height ? top + rowHeight - height : scrollTop;
}

const NAME_LEAST = 112;
const NAME_SHARE = 0.18;
const NAME_MOST = 220;

// How a grid of `fields` columns fits a width: columns that do not fit are reached by paging, never by
// scrolling sideways. `cell` is the least width of a field's column, `overall` that of the column of means.
export function columnPlan(width, fields, { cell = 70, overall = 66 } = {}) {
  const name = Math.round(Math.min(NAME_MOST, Math.max(NAME_LEAST, width * NAME_SHARE)));
  const room = Math.max(cell, width - name - overall);
  const shown = Math.max(1, Math.min(fields, Math.floor(room / cell)));
  return { name, overall, shown, cell: Math.floor(room / shown) };
}

// The first of `shown` columns so that `column` is among them, moved as little as possible.
export function firstColumn(first, column, shown, count) {
  const last = Math.max(0, count - shown);
  const least = column == null ? first : Math.max(first, column - shown + 1);
  return Math.max(0, Math.min(column == null ? least : Math.min(least, column), last));
}

// How many rows of a list are shown: as many as fit, at least a few, never more than there are.
export function rowsThatFit(room, rowHeight, least, count) {
  return Math.max(Math.min(least, count), Math.min(Math.floor(room / rowHeight), count));
}

const ROW_STEPS = { ArrowUp: -1, ArrowDown: 1 };
const COLUMN_STEPS = { ArrowLeft: -1, ArrowRight: 1 };

// The cell a key leads to, or null when it is no key that moves; `page` is how many rows are visible.
export function moved(key, { row, column }, rows, columns, page) {
  const within = (value, count) => Math.max(0, Math.min(count - 1, value));
  if (key in ROW_STEPS) return { row: within(row + ROW_STEPS[key], rows), column };
  if (key in COLUMN_STEPS) return { row, column: within(column + COLUMN_STEPS[key], columns) };
  if (key === "PageUp") return { row: within(row - page, rows), column };
  if (key === "PageDown") return { row: within(row + page, rows), column };
  if (key === "Home") return { row, column: 0 };
  if (key === "End") return { row, column: columns - 1 };
  return null;
}

// "score" -> { by: "score", down: false }; "-score" sorts the other way.
export function sortKey(sort) {
  return sort.startsWith("-") ? { by: sort.slice(1), down: true } : { by: sort, down: false };
}

// What a click on the header of a column makes of the sort order.
export function toggledSort(sort, by) {
  return sort === by ? `-${by}` : by;
}

// Documents in the order of their name, of "overall" or of a field's score; without a score they come last.
export function ordered(documents, sort, fields) {
  const { by, down } = sortKey(sort);
  const sign = down ? -1 : 1;
  const names = (a, b) => a.short.localeCompare(b.short) || (a.name < b.name ? -1 : 1);
  if (by === "document") return [...documents].sort((a, b) => sign * names(a, b));
  const column = fields.findIndex((field) => field.name === by);
  const score = (one) => (column < 0 ? one.overall : one.scores[column]);
  return [...documents].sort((a, b) => {
    const [x, y] = [score(a), score(b)];
    if (x == null || y == null) return (x == null) - (y == null) || names(a, b);
    return sign * (x - y) || names(a, b);
  });
}

// Documents whose name, or what is shown of it, holds every word that was typed.
export function matching(documents, text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return documents;
  return documents.filter((one) => {
    const name = `${one.short} ${one.name}`.toLowerCase();
    return words.every((word) => name.includes(word));
  });
}

// How much of a score is lost, in tenths; what is not quite right never looks right.
export function loss(score) {
  return score >= 1 ? 0 : Math.max(1, Math.round((1 - score) * 10));
}

// Counts of a confusion matrix, the order of its labels, its colours and how it fits: no DOM, only numbers.

// What the sparse counts of `data` add up to. Column `n` stands for rows without an answer, which are in no total.
// Returns { n, at(row, column), rows, columns, failed, total, right, most } where `most` is the largest wrong count.
export function readMatrix(data) {
  const n = data.labels.length;
  const counts = new Map();
  const rows = new Array(n).fill(0);
  const columns = new Array(n).fill(0);
  let [right, most] = [0, 0];
  for (const [row, column, count] of data.cells) {
    counts.set(row * n + column, count);
    rows[row] += count;
    columns[column] += count;
    if (row === column) right += count;
    else most = Math.max(most, count);
  }
  const at = (row, column) => (column === n ? data.failed[row] : (counts.get(row * n + column) ?? 0));
  return { n, at, rows, columns, failed: data.failed, total: sum(rows), right, most };
}

export const sum = (numbers) => numbers.reduce((total, one) => total + one, 0);

// "<expected>|<predicted>" of a row and a column; nothing after the bar means no answer.
export function cellId(data, row, column) {
  return `${data.labels[row].key}|${column === data.labels.length ? "" : data.labels[column].key}`;
}

// { row, column } of a cell's id, or null; labels may hold bars themselves.
export function placeOf(data, cell) {
  const index = new Map(data.labels.map((label, at) => [label.key, at]));
  for (let bar = cell.indexOf("|"); bar >= 0; bar = cell.indexOf("|", bar + 1)) {
    const row = index.get(cell.slice(0, bar));
    const after = cell.slice(bar + 1);
    const column = after ? index.get(after) : index.size;
    if (row != null && column != null) return { row, column };
  }
  return null;
}

// Labels in order: most rows first, by name, or most wrong answers first. What is no label stays last.
export function ordered(data, matrix, sort) {
  const wrong = (at) => matrix.rows[at] - matrix.at(at, at);
  // Labels none of whose rows has an answer are told apart by the rows without.
  const support = (at) => -matrix.rows[at] || matrix.failed[at] / -1e9;
  const keys = { support, errors: (at) => -wrong(at), name: () => 0 };
  const key = keys[sort] ?? keys.support;
  const isLast = (at) => Number(data.labels[at].outside ?? false);
  const name = (at) => data.labels[at].name;
  return data.labels
    .map((_, at) => at)
    .sort((a, b) => isLast(a) - isLast(b) || key(a) - key(b) || name(a).localeCompare(name(b)) || a - b);
}

// The share a cell is of its row or column; of its row also where counts are shown. Null of nothing.
export function shareOf(matrix, { row, column }, normalise) {
  const isFailed = column === matrix.n;
  const expected = matrix.rows[row] + (isFailed ? matrix.failed[row] : 0);
  const whole = normalise === "column" && !isFailed ? matrix.columns[column] : expected;
  return whole ? matrix.at(row, column) / whole : null;
}

// What stands in a cell: nothing for 0; a part never reads as none or as all.
export function cellText(matrix, place, normalise) {
  const count = matrix.at(place.row, place.column);
  if (!count || normalise === "none" || place.column === matrix.n) return count ? String(count) : "";
  return shareText(shareOf(matrix, place, normalise));
}

export function shareText(share) {
  if (share == null) return "";
  const whole = Math.round(100 * share);
  if (!whole) return share > 0 ? "<1" : "0";
  return String(whole === 100 && share < 1 ? 99 : whole);
}

// How strong the colour of a wrong cell is, 1 to 10; 0 where there is nothing. The square root lets single
// documents be seen beside large counts.
export function strength(matrix, place, normalise) {
  const count = matrix.at(place.row, place.column);
  if (!count) return 0;
  const part = normalise === "none" ? count / matrix.most : shareOf(matrix, place, normalise);
  return Math.max(1, Math.round(10 * Math.sqrt(part)));
}

// The wrong cells with most documents: [{ row, column, count, share }], share of the expected label.
export function confusions(matrix, data, most = 100) {
  return data.cells
    .filter(([row, column]) => row !== column)
    .map(([row, column, count]) => ({ row, column, count, share: count / matrix.rows[row] }))
    .sort((a, b) => b.count - a.count || b.share - a.share || a.row - b.row || a.column - b.column)
    .slice(0, most);
}

const LABEL = { least: 92, share: 0.17, most: 150 };
const CELL = { least: 20, most: 58 };
export const TAIL = 36;
const LETTER = 6;
const HEAD = { least: 56, most: 96, mostOfFew: 118, few: 16 };

// Widths of the columns: labels that do not fit are reached by paging, never by scrolling sideways. Totals and rows
// without an answer stand at the end (`tails` columns).
export function columnPlan(width, n, tails) {
  const label = Math.round(Math.min(LABEL.most, Math.max(LABEL.least, width * LABEL.share)));
  const room = Math.max(CELL.least, width - label - tails * TAIL);
  const shown = Math.max(1, Math.min(n, Math.floor(room / CELL.least)));
  return { label, shown, cell: Math.min(CELL.most, Math.floor(room / shown)) };
}

// Height of the heads, in which labels stand upright.
export function headHeight(shorts) {
  const longest = Math.max(0, ...shorts.map((short) => short.length));
  const most = shorts.length > HEAD.few ? HEAD.most : HEAD.mostOfFew;
  return Math.min(most, Math.max(HEAD.least, longest * LETTER + 14));
}

const ROW = { least: 15, most: 28 };

// { height, shown } of rows in a room: all of them if they stay readable, else as many as fit.
export function rowPlan(room, n) {
  const height = Math.max(ROW.least, Math.min(ROW.most, Math.floor(room / Math.max(1, n))));
  return { height, shown: Math.max(Math.min(4, n), Math.min(n, Math.floor(room / height))) };
}

// Counts of a confusion matrix, the order of its labels, its colours and how it fits: no DOM, only numbers.

// What the sparse counts of `data` add up to. Column `n` stands for rows without an answer, which are in no total.
// Returns { n, at(row, column), rows, columns, failed, total, right }.
export function readMatrix(data) {
  const n = data.labels.length;
  const counts = new Map();
  const rows = new Array(n).fill(0);
  const columns = new Array(n).fill(0);
  let right = 0;
  for (const [row, column, count] of data.cells) {
    counts.set(row * n + column, count);
    rows[row] += count;
    columns[column] += count;
    if (row === column) right += count;
  }
  const at = (row, column) => (column === n ? data.failed[row] : (counts.get(row * n + column) ?? 0));
  return { n, at, rows, columns, failed: data.failed, total: sum(rows), right };
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

// What stands in a cell: nothing for 0; a part never reads as none or as all. Percentages stand without their sign,
// which the legend has; rows without an answer are always counted.
export function cellText(matrix, place, normalise) {
  const count = matrix.at(place.row, place.column);
  if (!count || normalise === "none" || place.column === matrix.n) return count ? String(count) : "";
  return shareText(shareOf(matrix, place, normalise));
}

// A share in whole percent without the sign.
export function shareText(share) {
  if (share == null) return "";
  const whole = Math.round(100 * share);
  if (!whole) return share > 0 ? "<1" : "0";
  return String(whole === 100 && share < 1 ? 99 : whole);
}

// How strong the colour of a wrong cell is, 1 to 10; 0 where there is nothing. It goes by the share of the row, or of
// the column where that is shown, from 0 to 100%: the same colour says the same in two matrices of one page. The
// square root lets single documents be seen beside large counts.
export function strength(matrix, place, normalise) {
  if (!matrix.at(place.row, place.column)) return 0;
  return Math.max(1, Math.round(10 * Math.sqrt(shareOf(matrix, place, normalise))));
}

// Fewer rows than this say little about a label.
export const FEW = 5;

// The wrong cells with most documents: [{ row, column, count, share }], share of the expected label.
export function confusions(matrix, data, most = 100) {
  return data.cells
    .filter(([row, column]) => row !== column)
    .map(([row, column, count]) => ({ row, column, count, share: count / matrix.rows[row] }))
    .sort((a, b) => b.count - a.count || b.share - a.share || a.row - b.row || a.column - b.column)
    .slice(0, most);
}

const LABEL = { least: 92, share: 0.16, most: 260 };
const CELL = { least: 20, most: 58 };
const DIGIT = 7;
const LETTER = 6.2;
const HEAD = { least: 60, most: 90, mostOfFew: 124, few: 16 };

const digits = (numbers) => Math.max(1, ...numbers.map((n) => n.toLocaleString("en-US").length));

// Width of the columns at the end: how many rows a label has, and how many of them have no answer.
export function tailWidth(matrix) {
  return Math.max(30, DIGIT * digits([matrix.total, sum(matrix.failed)]) + 8);
}

// The least width of a column, so that the sums under neighbouring columns do not run into one another.
export function leastCell(matrix) {
  return Math.max(CELL.least, DIGIT * digits(matrix.columns) + 3);
}

// Widths of the columns: labels that do not fit are reached by paging, never by scrolling sideways. Totals and rows
// without an answer stand at the end, `tails` pixels in all.
export function columnPlan(width, n, tails, { least = CELL.least, names = LABEL.least } = {}) {
  const label = Math.round(Math.min(names, Math.max(LABEL.least, width * LABEL.share)));
  const room = Math.max(least, width - label - tails);
  const shown = Math.max(1, Math.min(n, Math.floor(room / least)));
  const cell = Math.min(CELL.most, Math.floor(room / shown));
  // What the columns leave goes to names that would be cut.
  return { label: Math.max(label, Math.min(names, label + room - shown * cell)), shown, cell };
}

// Width of a column that holds all names, within bounds.
export function namesWidth(shorts) {
  const longest = Math.max(0, ...shorts.map((short) => short.length));
  return Math.round(Math.min(LABEL.most, Math.max(LABEL.least, longest * LETTER + 22)));
}

// Height of the heads, in which labels stand upright.
export function headHeight(shorts) {
  const longest = Math.max(0, ...shorts.map((short) => short.length));
  const most = shorts.length > HEAD.few ? HEAD.most : HEAD.mostOfFew;
  return Math.round(Math.min(most, Math.max(HEAD.least, longest * LETTER + 14)));
}

// Rows of 24 pixels and more where they fit. With more labels they get lower, because a confusion matrix that shows
// only some of its rows hides what it is for; below `least`, where digits no longer fit, it scrolls under its heads.
// Every cell has a larger target elsewhere: wrong ones in the list of confusions, all of them by the arrow keys.
const ROW = { least: 15, most: 28 };

// { height, shown } of rows in a room: all of them if they stay readable, else as many as fit.
export function rowPlan(room, n) {
  const height = Math.max(ROW.least, Math.min(ROW.most, Math.floor(room / Math.max(1, n))));
  return { height, shown: Math.max(Math.min(4, n), Math.min(n, Math.floor(room / height))) };
}

// The start of a text that ends with a word: at most so many characters.
export function untilWord(text, most) {
  if (text.length <= most) return text;
  const start = text.slice(0, most + 1);
  const end = start.search(/\s+\S*$/);
  return (end > most / 2 ? start.slice(0, end) : start.slice(0, most)).trimEnd();
}

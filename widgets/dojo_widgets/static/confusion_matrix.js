// Expected against answered labels, and the documents behind a chosen cell.
//
// `const end = mountConfusion(host, model, { speak })` puts the view into a host inside a `.dojo` root; `end()` removes
// it. The model has the traits `data`, `cell`, `detail`, `row`, `normalise` and `sort`.

import { confusionDetail } from "./confusion_detail.js";
import { cellWords, confusionGrid } from "./confusion_grid.js";
import { legendParts, matrixFoot, matrixHead } from "./confusion_head.js";
import {
  cellId,
  columnPlan,
  headHeight,
  leastCell,
  namesWidth,
  ordered,
  placeOf,
  readMatrix,
  rowPlan,
  sum,
  tailWidth,
} from "./confusion_layout.js";
import { copyButton } from "./copy_button.js";
import { element, keys, put, view } from "./dom.js";
import { firstColumn, moved } from "./grid_layout.js";

const HEIGHT = 600;
const GAP = 12;
const BESIDE = { from: 930, share: 0.32, least: 300, most: 388 };
const BELOW = { wide: 206, narrow: 250, narrowTo: 600 };
const LEAST = 330;
const TOTALS = 20;
const EDGES = 2;
const PADDING = 4;
const SCROLLBAR = 12;

export function mountConfusion(host, model, { speak = () => {} } = {}) {
  const at = { first: 0, shown: 1, isTabbed: false, isBehind: false, width: 0 };
  let read = { data: null };

  // Counts and order are worked out again when the data or the order change, not for every key.
  const known = () => {
    const [data, sort] = [model.get("data"), model.get("sort")];
    if (read.data !== data || read.sort !== sort) {
      const matrix = readMatrix(data);
      const order = ordered(data, matrix, sort);
      const pairs = data.equivalent.flatMap(([a, b]) => [cellId(data, a, b), cellId(data, b, a)]);
      const shorts = data.labels.map(({ short }) => short);
      const widths = { tail: tailWidth(matrix), least: leastCell(matrix), names: namesWidth(shorts) };
      read = { data, sort, matrix, order, widths, equivalent: new Set(pairs), hasFailed: sum(matrix.failed) > 0 };
    }
    return read;
  };
  const select = (cell) => {
    const { data, matrix } = known();
    put(model, { cell: model.get("cell") === cell ? "" : cell, row: "" });
    const place = placeOf(data, model.get("cell"));
    speak(place ? cellWords(data, matrix, place) : "no cell selected");
  };
  const turn = (steps) => {
    at.first += steps * at.shown;
    draw();
  };
  // Where there is no room for both, either the matrix is shown or what is behind it.
  const turnOver = (isBehind) => {
    at.isBehind = isBehind;
    draw({ reveal: true });
    if (isBehind) detail.focus();
    else grid.focusCell();
  };

  const head = matrixHead({
    onSort: (sort) => put(model, { sort }),
    onShow: (normalise) => put(model, { normalise }),
    onTurn: turn,
    onOpen: () => turnOver(true),
  });
  const grid = confusionGrid({
    onPick: (row, column) => select(cellId(known().data, row, column)),
  });
  const foot = matrixFoot();
  const python = () => pythonOf(known().data, model.get("cell"));
  const detail = confusionDetail({
    copy: copyButton({ words: "Copy Python", text: python, said: () => "Python copied", speak }),
    onRow: (row) => put(model, { row }),
    onCell: select,
    onClose: () => (at.isTabbed ? turnOver(false) : select(model.get("cell"))),
  });
  const level = model.get("data").level || "labels";
  const panel = element(
    "div",
    { class: "panel confusions", role: "group", "aria-label": `Confusion matrix of ${level}` },
    head.node,
    grid.node,
    foot.node,
  );
  const empty = element(
    "div",
    { class: "panel empty" },
    element("b", {}, "There is nothing to compare: no row has an expected label."),
    " Name the column that holds the true label, in Python expected=\u2026 or on the command line --expected COLUMN" +
      " --predicted COLUMN, and score the run again.",
  );
  const root = element("div", { class: "confusion-view" }, panel, detail.node, empty);

  const draw = ({ reveal = false } = {}) => {
    const { data, matrix, order, widths, equivalent, hasFailed } = known();
    const isEmpty = !matrix.total && !hasFailed;
    empty.hidden = !isEmpty;
    panel.hidden = detail.node.hidden = isEmpty;
    if (isEmpty) return;
    const place = placeOf(data, model.get("cell"));
    const normalise = model.get("normalise");
    const tails = widths.tail * (hasFailed ? 2 : 1);
    const below = arrange(root);
    const position = place && (place.column === matrix.n ? matrix.n : order.indexOf(place.column));
    const active = place ? { row: order.indexOf(place.row), column: position } : { row: -1, column: -1 };
    const heads = headHeight(data.labels.map(({ short }) => short));
    const paged = columnPlan(panel.clientWidth - PADDING - SCROLLBAR, matrix.n, tails, widths);
    const isAmongLabels = active.column >= 0 && active.column < matrix.n;
    const first = firstColumn(at.first, reveal && isAmongLabels ? active.column : null, paged.shown, matrix.n);
    Object.assign(at, { first, shown: paged.shown });
    // Title and legend must be in place before it is known what is left for the rows, and whether the documents have
    // room below them.
    const legends = legendParts({
      noun: data.noun,
      hasWrong: matrix.right < matrix.total,
      normalise,
      hasEquivalent: equivalent.size > 0,
    });
    const says = place ? cellWords(data, matrix, place) : "";
    const isFound = { legends, notes: data.notes, says };
    const headed = { data, sort: model.get("sort"), normalise, first, shown: paged.shown, isChosen: Boolean(place) };
    const rowsIn = (isTabbed) => {
      head.show({ ...headed, isTabbed });
      foot.show({ ...isFound, isTabbed });
      const around = head.node.offsetHeight + foot.node.offsetHeight + heads + TOTALS + EDGES;
      const plan = rowPlan(HEIGHT - around, matrix.n);
      const body = plan.shown * plan.height;
      return { height: plan.height, body, total: around + body };
    };
    let rows = rowsIn(false);
    at.isTabbed = below > 0 && rows.total + GAP + below > HEIGHT;
    if (at.isTabbed) rows = rowsIn(true);
    else at.isBehind = false;
    root.classList.toggle("tabbed", at.isTabbed);
    grid.show(
      {
        data,
        matrix,
        order,
        equivalent,
        hasFailed,
        first,
        active,
        normalise,
        plan: paged,
        bodyHeight: rows.body,
        rowHeight: rows.height,
        headHeight: heads,
      },
      { reveal },
    );
    const alone = Math.max(LEAST, panel.offsetHeight);
    detail.node.style.height = `${below && !at.isTabbed ? below : alone}px`;
    panel.hidden = at.isBehind;
    detail.node.hidden = at.isTabbed && !at.isBehind;
    onDetail();
  };
  const onDetail = () => {
    const { data, matrix } = known();
    const place = placeOf(data, model.get("cell"));
    detail.show({
      data,
      matrix,
      place,
      detail: model.get("detail"),
      row: model.get("row"),
      isTabbed: at.isTabbed,
    });
  };
  const listeners = [
    ["change:data", () => draw()],
    ["change:cell", () => draw({ reveal: true })],
    ["change:sort", () => draw({ reveal: true })],
    ["change:normalise", () => draw()],
    ["change:detail", onDetail],
    ["change:row", onDetail],
  ];
  for (const [event, run] of listeners) model.on(event, run);

  keys(root, ({ key }) => {
    if (key === "Escape") return goBack({ model, at, detail, select, turnOver, grid });
    if (detail.key(key)) return true;
    if (!grid.hasFocus()) return false;
    if (key === "Enter" && model.get("cell")) {
      if (at.isTabbed) turnOver(true);
      else detail.focus();
      return true;
    }
    const next = cellAfter(key, known(), model.get("cell"), { first: at.first, page: grid.page() });
    if (next && next !== model.get("cell")) select(next);
    return Boolean(next);
  });

  host.append(root);
  const watch = new ResizeObserver(() => {
    if (root.clientWidth === at.width) return;
    at.width = root.clientWidth;
    draw({ reveal: true });
  });
  watch.observe(root);
  at.width = root.clientWidth;
  draw({ reveal: true });
  return () => {
    for (const [event, run] of listeners) model.off(event, run);
    watch.disconnect();
    detail.dispose();
    root.remove();
  };
}

// Esc goes back one step: from the documents to the list or the matrix they were opened from, then it clears the
// selection.
function goBack({ model, at, detail, select, turnOver, grid }) {
  const cell = model.get("cell");
  if (detail.hasFocus()) {
    if (cell && detail.goBack()) return true;
    if (at.isTabbed) turnOver(false);
    else if (cell) grid.focusCell();
    return at.isTabbed || Boolean(cell);
  }
  if (cell) select(cell);
  return Boolean(cell);
}

// The id of the cell a key leads to; "" when it is no key that moves. Rows without an answer are the last column.
function cellAfter(key, { data, matrix, order, hasFailed }, cell, { first, page }) {
  const place = placeOf(data, cell);
  const row = place ? order.indexOf(place.row) : -1;
  const columns = matrix.n + (hasFailed ? 1 : 0);
  const column = place ? (place.column === matrix.n ? matrix.n : order.indexOf(place.column)) : first;
  const next = matrix.n ? moved(key, { row, column }, matrix.n, columns, page) : null;
  if (key === "Enter" && row < 0) return cellId(data, order[0], order[first]);
  if (!next) return "";
  const to = row < 0 ? { row: 0, column: first } : next;
  return cellId(data, order[to.row], to.column === matrix.n ? matrix.n : order[to.column]);
}

// The detail stands beside the matrix where there is room for two columns, else below it. Returns its height below the
// matrix, 0 beside it.
function arrange(root) {
  const width = root.clientWidth;
  const isBeside = width >= BESIDE.from;
  const beside = Math.round(Math.min(BESIDE.most, Math.max(BESIDE.least, width * BESIDE.share)));
  root.style.gridTemplateColumns = isBeside ? `minmax(0, 1fr) ${beside}px` : "minmax(0, 1fr)";
  root.classList.toggle("beside", isBeside);
  if (isBeside) return 0;
  return width < BELOW.narrowTo ? BELOW.narrow : BELOW.wide;
}

function pythonOf(data, cell) {
  const place = placeOf(data, cell);
  if (!place) return "";
  const expected = JSON.stringify(data.labels[place.row].key);
  const level = data.level === "labels" ? "" : `, level=${JSON.stringify(data.level)}`;
  if (place.column < data.labels.length)
    return `scores.documents_of(${expected}, ${JSON.stringify(data.labels[place.column].key)}${level})\n`;
  const column = data.level === "labels" ? "expected" : "expected_subclass";
  return `rows = scores.rows\nrows[(rows["status"] == "failed") & (rows["${column}"] == ${expected})]\n`;
}

function render({ model, el }) {
  const { root, live, dispose } = view(el, "confusion-matrix");
  const end = mountConfusion(root, model, { speak: live });
  return () => {
    end();
    dispose();
  };
}

export default { render };

// The matrix itself: heads, rows of which only those in sight are in the page, and totals.

import { TAIL, cellId, cellText, shareOf, shareText, strength } from "./confusion_layout.js";
import { element } from "./dom.js";
import { scrollToRow, visibleRange } from "./grid_layout.js";
import { count, whole } from "./numbers.js";

// Returns { node, width(), page(), show(view), focusCell(), hasFocus(), setHeight(), dispose() }.
//   onPick(row, column)  a cell was clicked; column n is that of rows without an answer
//   onResize()           the matrix has another width
export function confusionGrid({ onPick, onResize }) {
  const head = element("div", { role: "row", class: "matrix-row head", "aria-rowindex": 1 });
  const inner = element("div", { class: "window", role: "presentation" });
  const body = element("div", { class: "rows", role: "rowgroup" }, inner);
  const totals = element("div", { role: "row", class: "matrix-row totals" });
  const heads = element("div", { role: "rowgroup", class: "heads" }, head);
  const foot = element("div", { role: "rowgroup", class: "sums" }, totals);
  const node = element(
    "div",
    { role: "grid", class: "matrix", "aria-label": "Expected labels by answered labels" },
    heads,
    body,
    foot,
  );
  let shown = null;

  body.addEventListener("click", (event) => {
    const cell = event.target.closest("[data-row]");
    if (cell) onPick(Number(cell.dataset.row), Number(cell.dataset.column));
  });
  const hasFocus = () => body.contains(body.getRootNode().activeElement);
  const focusCell = () => inner.querySelector("[tabindex='0']")?.focus({ preventScroll: true });

  const draw = () => {
    if (!shown) return;
    const focused = hasFocus();
    const { order, rowHeight, active } = shown;
    const { from, to } = visibleRange(body.scrollTop, body.clientHeight, rowHeight, order.length);
    const drawn = Array.from({ length: to - from }, (_, index) => from + index);
    // The row of the active cell stays in the page, so that scrolling does not take the focus away.
    if (active.row >= 0 && (active.row < from || active.row >= to)) drawn.push(active.row);
    inner.replaceChildren(...drawn.map((at) => matrixRow(shown, at)));
    if (focused) focusCell();
  };
  body.addEventListener("scroll", draw, { passive: true });
  let width = 0;
  const watch = new ResizeObserver(() => {
    if (node.clientWidth === width) return;
    width = node.clientWidth;
    onResize();
  });
  watch.observe(node);

  return {
    node,
    width: () => node.clientWidth,
    page: () => Math.max(1, Math.floor(body.clientHeight / (shown?.rowHeight || 24)) - 1),
    hasFocus,
    focusCell,
    // view: { data, matrix, order, normalise, first, plan, rowHeight, headHeight, bodyHeight, active: { row, column } }
    show: (view, { reveal = false } = {}) => {
      shown = view;
      const { plan, order, matrix, rowHeight, active, hasFailed } = view;
      node.style.setProperty("--columns", `${plan.label}px repeat(${plan.shown}, ${plan.cell}px) ${TAIL}px`);
      if (hasFailed) node.style.setProperty("--columns", `${node.style.getPropertyValue("--columns")} ${TAIL}px`);
      node.style.setProperty("--row", `${rowHeight}px`);
      node.setAttribute("aria-rowcount", order.length + 2);
      node.setAttribute("aria-colcount", order.length + (hasFailed ? 3 : 2));
      totals.setAttribute("aria-rowindex", order.length + 2);
      body.style.height = `${view.bodyHeight}px`;
      body.classList.toggle("scrolled", view.bodyHeight < order.length * rowHeight);
      head.style.height = `${view.headHeight}px`;
      head.replaceChildren(...headCells(view));
      totals.replaceChildren(...totalCells(view));
      inner.style.height = `${matrix.n * rowHeight}px`;
      if (reveal && active.row >= 0)
        body.scrollTop = scrollToRow(active.row, body.scrollTop, body.clientHeight, rowHeight);
      draw();
    },
    dispose: () => watch.disconnect(),
  };
}

function visibleColumns({ order, first, plan }) {
  return order.slice(first, first + plan.shown);
}

function headCells({ data, order, first, plan, active, hasFailed }) {
  const corner = element(
    "div",
    { role: "columnheader", class: "corner soft", "aria-colindex": 1 },
    element("span", { class: "answered" }, "answered \u2192"),
    element("span", {}, "expected \u2193"),
  );
  const names = order.slice(first, first + plan.shown).map((at, index) =>
    element(
      "div",
      {
        role: "columnheader",
        class: `upright ${active.column === first + index ? "chosen" : ""}`,
        title: data.labels[at].name,
        "aria-colindex": first + index + 2,
      },
      element("span", {}, data.labels[at].short),
    ),
  );
  return [
    corner,
    ...names,
    tailHead("all answers", order.length + 2),
    hasFailed ? tailHead("no answer", order.length + 3, active.column === order.length ? "chosen" : "") : [],
  ].flat();
}

function tailHead(words, column, more = "") {
  return element(
    "div",
    { role: "columnheader", class: `upright tail ${more}`, "aria-colindex": column },
    element("span", {}, words),
  );
}

function totalCells(view) {
  const { matrix, normalise, hasFailed } = view;
  const sum = (n) => (normalise === "row" && matrix.total ? shareText(n / matrix.total) : whole(n));
  const column = (at) => (normalise === "column" ? (matrix.columns[at] ? "100" : "") : sum(matrix.columns[at]));
  return [
    element("div", { role: "rowheader", class: "name soft", "aria-colindex": 1 }, "all expected"),
    ...visibleColumns(view).map((at, index) =>
      element("div", { role: "gridcell", class: "total", "aria-colindex": view.first + index + 2 }, column(at)),
    ),
    element("div", { role: "gridcell", class: "total", "aria-colindex": matrix.n + 2 }, whole(matrix.total)),
    hasFailed
      ? element(
          "div",
          { role: "gridcell", class: "total", "aria-colindex": matrix.n + 3 },
          whole(matrix.failed.reduce((a, b) => a + b, 0)),
        )
      : [],
  ].flat();
}

function matrixRow(view, at) {
  const { data, matrix, order, rowHeight, active, normalise, hasFailed, first } = view;
  const row = order[at];
  const label = data.labels[row];
  const total = { none: whole(matrix.rows[row]), row: matrix.rows[row] ? "100" : "", column: null }[normalise];
  const columns = visibleColumns(view).map((column, index) => matrixCell(view, at, column, first + index));
  return element(
    "div",
    {
      role: "row",
      class: `matrix-row ${active.row === at ? "chosen" : ""}`,
      "aria-rowindex": at + 2,
      style: `top:${at * rowHeight}px`,
    },
    element("div", { role: "rowheader", class: "name", title: label.name, "aria-colindex": 1 }, label.short),
    columns,
    element(
      "div",
      { role: "gridcell", class: "total", "aria-colindex": matrix.n + 2 },
      total ?? shareText(matrix.total ? matrix.rows[row] / matrix.total : null),
    ),
    hasFailed ? matrixCell(view, at, matrix.n, matrix.n) : null,
  );
}

function matrixCell(view, at, column, position) {
  const { data, matrix, order, normalise, active, equivalent, first } = view;
  const place = { row: order[at], column };
  const n = matrix.at(place.row, column);
  const isActive = active.row === at && active.column === position;
  const isTabStop = active.row < 0 ? at === 0 && position === first : isActive;
  const words = cellWords(data, matrix, place);
  const kind = column === matrix.n ? "failed" : column === place.row ? "right" : n ? "wrong" : "none";
  const isEquivalent = equivalent.has(cellId(data, place.row, column));
  return element(
    "div",
    {
      role: "gridcell",
      class: `cell ${kind} ${isEquivalent ? "equivalent" : ""}`,
      style: kind === "wrong" ? `--part:${strength(matrix, place, normalise)}` : null,
      "data-row": place.row,
      "data-column": column,
      "aria-colindex": column === matrix.n ? matrix.n + 3 : position + 2,
      "aria-selected": String(isActive),
      "aria-label": isEquivalent ? `${words}, defensible` : words,
      tabindex: isTabStop ? 0 : -1,
      title: isEquivalent ? `${words}\ndefensible for one another` : words,
    },
    cellText(matrix, place, normalise),
  );
}

// "expected License, answered Supply: 3 documents, 9% of License"
export function cellWords(data, matrix, place) {
  const n = matrix.at(place.row, place.column);
  const expected = data.labels[place.row].short;
  const rows = count(n, data.noun);
  if (place.column === matrix.n)
    return `expected ${expected}, no answer: ${rows} of ${whole(matrix.rows[place.row] + n)}`;
  const answered = data.labels[place.column].short;
  const part = n ? ` of ${whole(matrix.rows[place.row])} (${shareText(shareOf(matrix, place, "row"))}%)` : "";
  return `expected ${expected}, answered ${answered}: ${rows}${part}`;
}

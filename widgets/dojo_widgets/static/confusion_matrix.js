// Expected against answered labels, and the documents behind a chosen cell.
//
// `const end = mountConfusion(host, model, { speak })` puts the view into a host inside a `.dojo` root; `end()` removes
// it. The model has the traits `data`, `cell`, `detail`, `row`, `normalise` and `sort`.

import { confusionDetail } from "./confusion_detail.js";
import { cellWords, confusionGrid } from "./confusion_grid.js";
import { cellId, columnPlan, headHeight, ordered, placeOf, readMatrix, rowPlan, sum } from "./confusion_layout.js";
import { copyButton } from "./copy_button.js";
import { element, keys, put, view } from "./dom.js";
import { firstColumn, moved } from "./grid_layout.js";
import { whole } from "./numbers.js";

const HEIGHT = 596;
const GAP = 12;
const BESIDE = { from: 900, share: 0.32, least: 300, most: 400 };
const BELOW = { wide: 206, narrow: 250, narrowTo: 600 };
const LEAST = 330;
const LEAST_ROWS = 3;
const TOTALS = 21;
const EDGES = 4;
const SCROLLBAR = 12;

// What is chosen and how the button says it; a list, because objects put whole numbers first.
const SORTS = ["support", "name", "errors"].map((by) => [by, by]);
const SHOWS = [
  ["none", "counts"],
  ["row", "row %"],
  ["column", "column %"],
];
const TURNS = [
  [-1, "\u2039"],
  [1, "\u203a"],
];

export function mountConfusion(host, model, { speak = () => {} } = {}) {
  const at = { first: 0, shown: 1 };
  let read = { data: null };

  // Counts and order are worked out again when the data or the order change, not for every key.
  const known = () => {
    const [data, sort] = [model.get("data"), model.get("sort")];
    if (read.data !== data || read.sort !== sort) {
      const matrix = readMatrix(data);
      const order = ordered(data, matrix, sort);
      const pairs = data.equivalent.flatMap(([a, b]) => [cellId(data, a, b), cellId(data, b, a)]);
      read = { data, sort, matrix, order, equivalent: new Set(pairs), hasFailed: sum(matrix.failed) > 0 };
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

  const head = matrixHead({
    onSort: (sort) => put(model, { sort }),
    onShow: (normalise) => put(model, { normalise }),
    onTurn: turn,
  });
  const grid = confusionGrid({
    onPick: (row, column) => select(cellId(known().data, row, column)),
    onResize: () => draw({ reveal: true }),
  });
  const python = () => pythonOf(known().data, model.get("cell"));
  const detail = confusionDetail({
    copy: copyButton({ words: "Copy Python", text: python, said: () => "Python copied", speak }),
    onRow: (row) => put(model, { row }),
    onCell: select,
    onClose: () => select(model.get("cell")),
  });
  const legend = element("div", { class: "foot soft" });
  const panel = element(
    "section",
    { class: "panel confusions", "aria-label": `Confusion matrix of ${model.get("data").level || "labels"}` },
    head.node,
    grid.node,
    legend,
  );
  const root = element("div", { class: "confusion-view" }, panel, detail.node);

  const draw = ({ reveal = false } = {}) => {
    const { data, matrix, order, equivalent, hasFailed } = known();
    const place = placeOf(data, model.get("cell"));
    const tails = hasFailed ? 2 : 1;
    const below = arrange(root, matrix.n, tails);
    const position = place && (place.column === matrix.n ? matrix.n : order.indexOf(place.column));
    const active = place ? { row: order.indexOf(place.row), column: position } : { row: -1, column: -1 };
    const heads = headHeight(data.labels.map(({ short }) => short));
    legend.replaceChildren(...legendParts(data, matrix, model.get("normalise"), equivalent.size > 0));
    // The title and the legend must be in place before it is known what is left for the rows.
    const width = panel.clientWidth;
    const paged = columnPlan(width - EDGES - SCROLLBAR, matrix.n, tails);
    const isAmongLabels = active.column >= 0 && active.column < matrix.n;
    const first = firstColumn(at.first, reveal && isAmongLabels ? active.column : null, paged.shown, matrix.n);
    Object.assign(at, { first, shown: paged.shown });
    head.show({ data, sort: model.get("sort"), normalise: model.get("normalise"), first, shown: paged.shown });
    root.classList.remove("split");
    const around = () => head.node.offsetHeight + legend.offsetHeight + heads + TOTALS + EDGES;
    const rows = rowPlan(HEIGHT - around(), matrix.n);
    const height = around() + rows.shown * rows.height;
    // Below a small matrix the detail always stands; a large one lends it room once a cell is chosen.
    const lends = below > 0 && height + GAP + below > HEIGHT;
    const isSplit = lends && Boolean(place);
    root.classList.toggle("split", isSplit);
    root.style.minHeight = lends ? `${HEIGHT}px` : "";
    detail.node.hidden = lends && !place;
    const lent = Math.max(LEAST_ROWS, Math.floor((HEIGHT - below - GAP - around()) / rows.height));
    const bodyHeight = rows.height * (isSplit ? Math.min(rows.shown, lent) : rows.shown);
    grid.show(
      {
        data,
        matrix,
        order,
        equivalent,
        hasFailed,
        first,
        active,
        bodyHeight,
        normalise: model.get("normalise"),
        plan: paged,
        rowHeight: rows.height,
        headHeight: heads,
      },
      { reveal },
    );
    const under = lends ? HEIGHT - GAP - panel.offsetHeight : below;
    detail.node.style.height = `${below ? under : Math.max(LEAST, height)}px`;
    onDetail();
  };
  const onDetail = () => {
    const { data, matrix } = known();
    const place = placeOf(data, model.get("cell"));
    detail.show({ data, matrix, place, detail: model.get("detail"), row: model.get("row") });
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
    if (key === "Escape") return goBack({ model, grid, detail, select });
    if (detail.key(key)) return true;
    if (!grid.hasFocus()) return false;
    if (key === "Enter" && model.get("cell")) {
      detail.focus();
      return true;
    }
    const next = cellAfter(key, known(), model.get("cell"), { first: at.first, page: grid.page() });
    if (next && next !== model.get("cell")) select(next);
    return Boolean(next);
  });

  host.append(root);
  draw({ reveal: true });
  return () => {
    for (const [event, run] of listeners) model.off(event, run);
    grid.dispose();
    detail.dispose();
    root.remove();
  };
}

// Esc goes back one step: from the documents to the matrix, then it clears the selection.
function goBack({ model, grid, detail, select }) {
  if (!model.get("cell")) return false;
  if (detail.hasFocus()) grid.focusCell();
  else select(model.get("cell"));
  return true;
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

// The detail stands beside the matrix where that leaves room for all columns, or where they would not fit anyway; else
// below it once a cell is chosen. Returns its height below the matrix, 0 beside it.
function arrange(root, n, tails) {
  const width = root.clientWidth;
  const beside = Math.round(Math.min(BESIDE.most, Math.max(BESIDE.least, width * BESIDE.share)));
  const fits = (room) => columnPlan(room - EDGES - SCROLLBAR, n, tails).shown >= n;
  const isBeside = width >= BESIDE.from && (fits(width - beside - GAP) || !fits(width));
  root.style.gridTemplateColumns = isBeside ? `minmax(0, 1fr) ${beside}px` : "minmax(0, 1fr)";
  root.classList.toggle("beside", isBeside);
  if (isBeside) return 0;
  return width < BELOW.narrowTo ? BELOW.narrow : BELOW.wide;
}

function segments(label, choices, onPick) {
  const buttons = choices.map(([value, words]) =>
    element("button", { type: "button", "data-value": value, on: { click: () => onPick(value) } }, words),
  );
  const node = element("span", { class: "segments", role: "group", "aria-label": label }, buttons);
  const show = (value) => {
    for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.value === value));
  };
  return { node, show };
}

function matrixHead({ onSort, onShow, onTurn }) {
  const title = element("h3", { class: "title" });
  const sorts = segments("Order of the labels", SORTS, onSort);
  const shows = segments("What the cells show", SHOWS, onShow);
  const turner = segments("Columns shown", TURNS, onTurn);
  const [back, on] = turner.node.children;
  back.setAttribute("aria-label", "Previous columns");
  on.setAttribute("aria-label", "Next columns");
  const range = element("span", { class: "soft" });
  const pager = element("span", { class: "pager" }, range, turner.node);
  const by = element("span", { class: "soft" }, "by");
  const actions = element(
    "div",
    { class: "actions" },
    element("span", { class: "pager" }, by, sorts.node),
    shows.node,
    pager,
  );
  const node = element("div", { class: "panel-head" }, title, actions);
  const show = ({ data, sort, normalise, first, shown }) => {
    const n = data.labels.length;
    title.textContent = data.finding;
    title.title = data.finding;
    sorts.show(sort);
    shows.show(normalise);
    pager.hidden = shown >= n;
    range.textContent = `columns ${whole(first + 1)}\u2013${whole(Math.min(n, first + shown))} of ${whole(n)}`;
    back.disabled = first === 0;
    on.disabled = first + shown >= n;
  };
  return { node, show };
}

const RAMP = [1, 3, 5, 7, 10];

function legendParts(data, matrix, normalise, hasEquivalent) {
  const steps = RAMP.map((part) => element("i", { class: "step", style: `--part:${part}` }));
  const of = {
    none: matrix.most > 1 ? `1 to ${whole(matrix.most)}` : "1",
    row: "share of row",
    column: "share of column",
  }[normalise];
  return [
    element("span", { class: "legend" }, element("i", { class: "step good" }), "right"),
    matrix.most
      ? element(
          "span",
          { class: "legend" },
          element("span", { class: "steps", "aria-hidden": "true" }, steps),
          `wrong, ${of}`,
        )
      : null,
    hasEquivalent
      ? element("span", { class: "legend" }, element("i", { class: "step outlined" }), "defensible for one another")
      : null,
    element("p", {}, `${data.notes.join(". ")}.`),
  ].filter(Boolean);
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

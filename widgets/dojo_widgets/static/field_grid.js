// Documents by fields: a grid of scores, and what a chosen cell rests on.
//
// `const end = mountGrid(host, model, { speak })` puts the view into a host inside a `.dojo` root; `end()` removes it.
// The model has the traits `data`, `cell`, `detail` and `sort`.

import { cellDetail } from "./cell_detail.js";
import { copyButton } from "./copy_button.js";
import { element, keys, put, view } from "./dom.js";
import { gridHead } from "./grid_head.js";
import { columnPlan, firstColumn, matching, moved, ordered, rowsThatFit, toggledSort } from "./grid_layout.js";
import { gridPrint } from "./grid_print.js";
import { ROW_HEIGHT, gridRows } from "./grid_rows.js";
import { count, fixed, whole } from "./numbers.js";

const HEIGHT = 556;
const GAP = 12;
const DETAIL = { wide: 188, narrow: 204, beside: 300 };
const NARROW = 720;
const BESIDE = { from: 930, share: 0.27, least: 300, most: 380 };
const EDGES = 14;
const LEAST_ROWS = 4;

// "<document key>:<field>" -> its parts in the data; a field may hold colons, a key does not.
function chosenIn(data, cell) {
  const at = cell.indexOf(":");
  const [id, name] = at < 0 ? ["", ""] : [cell.slice(0, at), cell.slice(at + 1)];
  const document = [...data.documents, ...data.apart].find((one) => one.id === id) || null;
  return { document, field: data.fields.find((one) => one.name === name) || null };
}

export function mountGrid(host, model, { speak = () => {} } = {}) {
  const start = model.get("data");
  const at = {
    first: 0,
    shown: 1,
    isApart: !start.documents.length && start.apart.length > 0,
    text: "",
    isOpen: false,
  };

  // Thousands of documents are not sorted again for every key.
  let sorted = { by: [], documents: [] };
  const rows = () => {
    const data = model.get("data");
    const by = [data, at.isApart, at.text, at.isApart ? "document" : model.get("sort")];
    if (by.some((one, index) => one !== sorted.by[index])) {
      const listed = matching(at.isApart ? data.apart : data.documents, at.text);
      sorted = { by, documents: ordered(listed, by[3], data.fields) };
    }
    return sorted.documents;
  };
  const select = (cell) => {
    put(model, { cell: model.get("cell") === cell ? "" : cell });
    speak(spoken(model.get("data"), model.get("cell"), rows()));
  };
  const set = (values, { reveal = false } = {}) => {
    Object.assign(at, values);
    draw({ reveal });
  };

  const head = gridHead({
    onFilter: (text) => set({ text }, { reveal: true }),
    onList: (isApart) => set({ isApart }, { reveal: true }),
    onTurn: (steps) => set({ first: at.first + steps * at.shown }),
  });
  const grid = gridRows({
    onPick: (document, field) => select(`${document}:${field}`),
    onSort: (by) => put(model, { sort: toggledSort(model.get("sort"), by) }),
    onResize: () => draw(),
  });
  const python = () => pythonOf(model.get("data"), model.get("cell"));
  const detail = cellDetail({
    copy: copyButton({ words: "Copy Python", text: python, said: () => "Python copied", speak }),
    onClose: () => put(model, { cell: "" }),
    onOpen: () => set({ isOpen: !at.isOpen }, { reveal: true }),
  });
  const empty = element("p", { class: "empty" });
  const box = element("div", { class: "grid-box" }, grid.node, empty);
  const printed = gridPrint(() => ({ data: model.get("data"), documents: rows(), isApart: at.isApart }));
  const parts = [head.node, box, printed.node, head.foot];
  const panel = element("section", { class: "panel scores", "aria-label": "Scores" }, parts);
  const root = element("div", { class: "grid-view" }, panel, detail.node);

  const draw = ({ reveal = false } = {}) => {
    const data = model.get("data");
    const chosen = chosenIn(data, model.get("cell"));
    const documents = rows();
    const isBeside = arrange(root, data, at);
    const plan = planOf(grid.width() || root.clientWidth, data, at);
    const column = chosen.field ? data.fields.indexOf(chosen.field) : null;
    const first = firstColumn(at.first, reveal ? column : null, plan.shown, data.fields.length);
    Object.assign(at, { first, shown: plan.shown });
    head.show({ data, isApart: at.isApart, first, shown: plan.shown });
    empty.hidden = documents.length > 0;
    empty.replaceChildren(...(documents.length ? [] : emptyWords(data, at)));
    const row = chosen.document ? documents.findIndex((one) => one.id === chosen.document.id) : -1;
    const shown = {
      documents,
      listed: (at.isApart ? data.apart : data.documents).length,
      fields: data.fields,
      overall: data.overall,
      isApart: at.isApart,
      first,
      plan,
      sort: at.isApart ? "document" : model.get("sort"),
      active: { row, column: column == null || at.isApart ? 0 : column + 1 },
      start: at.isApart ? 0 : first + 1,
    };
    // Headers must be in place before it is known how many rows fit below them.
    grid.show(shown);
    fitHeights(root, { head, grid, detail }, data, at, isBeside);
    grid.show(shown, { reveal });
    onDetail();
  };

  const onCell = () => {
    const { document } = chosenIn(model.get("data"), model.get("cell"));
    if (document) at.isApart = "why" in document;
    else at.isOpen = false;
    draw({ reveal: true });
  };
  const onDetail = () => {
    const data = model.get("data");
    detail.show(data, chosenIn(data, model.get("cell")), model.get("detail"), at.isOpen);
  };
  const listeners = [
    ["change:data", () => draw()],
    ["change:cell", onCell],
    ["change:detail", onDetail],
    ["change:sort", () => draw({ reveal: true })],
  ];
  for (const [event, run] of listeners) model.on(event, run);

  keys(root, ({ key }) => {
    if (key === "Escape") return goBack({ model, at, set, grid, detail });
    if (!grid.hasFocus()) return false;
    if (key === "Enter" && model.get("cell")) {
      set({ isOpen: true }, { reveal: true });
      detail.focus();
      return true;
    }
    const cell = cellAfter(key, {
      data: model.get("data"),
      cell: model.get("cell"),
      at,
      documents: rows(),
      page: grid.page(),
    });
    if (cell && cell !== model.get("cell")) select(cell);
    return Boolean(cell);
  });
  head.filter.addEventListener("keydown", ({ key }) => {
    if (key === "Enter" || key === "ArrowDown") grid.focusCell();
  });

  host.append(root);
  revealLowest(root, start, at);
  onCell();
  return () => {
    for (const [event, run] of listeners) model.off(event, run);
    grid.dispose();
    printed.dispose();
    detail.dispose();
    root.remove();
  };
}

// What is lost most is in sight from the start, also where not all fields fit.
function revealLowest(root, data, at) {
  const lowest = data.fields.findIndex((field) => field.name === data.lowest);
  const { shown } = planOf(root.clientWidth, data, at);
  if (lowest >= 0) at.first = firstColumn(0, lowest, shown, data.fields.length);
}

// Esc goes back one step: from the detail to the grid, then it clears the selection.
function goBack({ model, at, set, grid, detail }) {
  if (at.isOpen || detail.hasFocus()) {
    set({ isOpen: false }, { reveal: true });
    grid.focusCell();
    return true;
  }
  if (!model.get("cell")) return false;
  put(model, { cell: "" });
  return true;
}

// The id of the cell a key leads to; "" when it is no key that moves.
function cellAfter(key, { data, cell, at, documents, page }) {
  const { document, field } = chosenIn(data, cell);
  const columns = at.isApart ? 1 : data.fields.length + 1;
  const row = documents.findIndex((one) => one.id === document?.id);
  const column = field && !at.isApart ? data.fields.indexOf(field) + 1 : 0;
  const next = moved(key, { row, column }, documents.length, columns, page);
  if (!next || !documents.length) return "";
  const to = row < 0 ? { row: 0, column: at.isApart ? 0 : Math.min(columns - 1, at.first + 1) } : next;
  return `${documents[to.row].id}:${to.column ? data.fields[to.column - 1].name : ""}`;
}

function planOf(width, data, { isApart }) {
  const plan = columnPlan(width, Math.max(1, data.fields.length));
  return isApart ? { ...plan, name: Math.round(Math.min(360, width * 0.4)) } : plan;
}

// The detail stands beside the grid when all fields fit there too, else below it.
function arrange(root, data, { isOpen }) {
  const width = root.clientWidth;
  const beside = Math.round(Math.min(BESIDE.most, Math.max(BESIDE.least, width * BESIDE.share)));
  const fits = columnPlan(width - beside - GAP - EDGES, data.fields.length || 1).shown >= data.fields.length;
  const isBeside = width >= BESIDE.from && fits;
  root.style.gridTemplateColumns = isBeside ? `minmax(0, 1fr) ${beside}px` : "minmax(0, 1fr)";
  root.classList.toggle("beside", isBeside);
  root.classList.toggle("open", isOpen && !isBeside);
  return isBeside;
}

// Heights follow from the data and the width alone: nothing moves when the selection, the filter or the order changes.
function fitHeights(root, { head, grid, detail }, data, { isOpen }, isBeside) {
  const most = Math.max(1, data.documents.length, data.apart.length);
  const around = head.height() + grid.headsHeight() + 2;
  const below = root.clientWidth < NARROW ? DETAIL.narrow : DETAIL.wide;
  const room = HEIGHT - around - (isBeside ? 0 : GAP + below);
  const rows = rowsThatFit(room, ROW_HEIGHT, LEAST_ROWS, most);
  const lent = isOpen && !isBeside ? Math.max(0, rows - LEAST_ROWS) : 0;
  grid.setHeight(rows - lent);
  const height = isBeside ? Math.max(DETAIL.beside, around + rows * ROW_HEIGHT) : below + lent * ROW_HEIGHT;
  detail.node.style.height = `${height}px`;
}

function emptyWords(data, { text, isApart }) {
  if (text) {
    const all = isApart ? data.apart.length : data.documents.length;
    return [element("b", {}, "No document is called so."), ` ${count(all, "document")} are listed without the filter.`];
  }
  if (!data.apart.length) return [element("b", {}, "The run has no documents.")];
  return [
    element("b", {}, "No document has scores."),
    ` All ${whole(data.apart.length)} are listed apart, with the reason.`,
  ];
}

function spoken(data, cell, rows) {
  const { document, field } = chosenIn(data, cell);
  if (!document) return "no cell selected";
  const position = `row ${rows.findIndex((one) => one.id === document.id) + 1} of ${rows.length}`;
  if (document.why) return `${document.short}, ${document.status}, ${position}`;
  const score = field ? document.scores[data.fields.indexOf(field)] : document.overall;
  const value = score == null ? "nothing expected" : fixed(score);
  return `${document.short}, ${field ? field.words : "overall"}, ${value}, ${position}`;
}

function pythonOf(data, cell) {
  const { document, field } = chosenIn(data, cell);
  const named = `scored.fields["document"] == ${JSON.stringify(document.name)}`;
  if (!field) return `scored.fields[${named}]\n`;
  return `scored.fields[(${named})\n    & (scored.fields["field"] == ${JSON.stringify(field.name)})]\n`;
}

function render({ model, el }) {
  const { root, live, dispose } = view(el, "field-grid");
  const end = mountGrid(root, model, { speak: live });
  return () => {
    end();
    dispose();
  };
}

export default { render };

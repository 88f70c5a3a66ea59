// What is behind a chosen metric: its figures, the documents that changed, and both answers of one of them.

import { copyButton } from "./copy_button.js";
import { matchingChanges, signed } from "./delta_forest_layout.js";
import { verdictChip } from "./delta_forest_list.js";
import { copiedRows, factsOf, movedWords } from "./delta_forest_facts.js";
import { element } from "./dom.js";
import { count, fixed, whole } from "./numbers.js";
import { windowedList } from "./windowed_list.js";

const ROW_HEIGHT = 26;
const PATIENCE = 1500;
const NOT_HERE = "The documents are not in this page. Open the comparison in a notebook to list them.";
const WAYS = ["all", "better", "worse"];
const ICONS = { better: "\u25b2", worse: "\u25bc" };
const PRINTED = 40;

// Returns { node, show(view), key(name), focus(), hasFocus(), dispose() }.
//   onDocument(id)   a document was chosen
//   onClose()        back to no metric
//   python()         code that gives the same
//   speak(text)      for screen readers
export function changeDetail({ onDocument, onClose, python, speak }) {
  const at = { way: "all", text: "", metric: "", document: "" };
  let listed = [];
  let shown = null;
  let waiting = 0;

  const title = element("h3", { class: "title" });
  const close = element("button", { class: "button quiet", type: "button", title: "Esc", on: { click: onClose } }, "close");
  const copyRows = copyButton({
    words: "Copy",
    text: () => copiedRows(listed),
    said: () => `${count(listed.length, "document")} copied`,
    speak,
  });
  copyRows.title = "Copy the documents listed, with both answers";
  const copyPython = copyButton({ words: "Copy Python", text: python, said: () => "Python copied", speak });
  const actions = element("div", { class: "actions" }, copyPython, close);
  const says = element("p", { class: "says" });
  const facts = element("dl", { class: "facts" });
  const ways = WAYS.map((way) =>
    element("button", { type: "button", "data-way": way, on: { click: () => narrow({ way }) } }),
  );
  const filter = element("input", {
    class: "field filter",
    type: "search",
    placeholder: "filter",
    "aria-label": "Filter documents by name or answer",
    on: { input: () => narrow({ text: filter.value }) },
  });
  const controls = element(
    "div",
    { class: "controls" },
    element("span", { class: "segments", role: "group", "aria-label": "Documents listed" }, ways),
    element("span", { class: "narrowing" }, filter, copyRows),
  );
  const rows = windowedList({
    label: "Documents that changed",
    rowHeight: ROW_HEIGHT,
    cells: documentCells,
    words: documentWords,
    onPick: onDocument,
  });
  const reading = element("div", { class: "reading scrolls", tabindex: 0, role: "group", "aria-label": "Both answers" });
  const waits = element("p", { class: "soft waits" });
  const body = element("div", { class: "behind" }, rows.node, reading, waits);
  const printed = element("div", { class: "printed" });
  const head = element("div", { class: "panel-head" }, title, actions);
  const parts = [head, says, facts, controls, body, printed];
  const node = element("section", { class: "panel detail", "aria-label": "Selected metric" }, parts);

  const only = (...visible) => {
    for (const part of [facts, controls, rows.node, reading, waits]) part.hidden = !visible.includes(part);
  };
  const narrow = (how) => {
    Object.assign(at, how);
    list(shown);
    speak(`${count(listed.length, "document")} listed`);
  };

  const list = ({ data, metric, detail, document: id }) => {
    const noun = data.noun;
    const counts = { all: detail.rows.length, better: 0, worse: 0 };
    for (const row of detail.rows) counts[row.direction] += 1;
    for (const button of ways) {
      const { way } = button.dataset;
      button.setAttribute("aria-pressed", String(at.way === way));
      button.textContent = `${ICONS[way] ? `${ICONS[way]} ` : ""}${way} ${whole(counts[way])}`;
    }
    listed = matchingChanges(detail.rows, at);
    printed.replaceChildren(printedTable(listed, noun));
    if (!listed.length) {
      waits.textContent = counts.all ? `No ${noun} that changed is like that.` : `No ${noun} changed.`;
      only(facts, ...(counts.all ? [controls] : []), waits);
      return;
    }
    const one = listed.find((row) => row.id === id) ?? listed[0];
    only(facts, controls, rows.node, reading);
    body.style.setProperty("--listed", `${listed.length * ROW_HEIGHT}px`);
    rows.show(listed, one.id);
    if (at.document !== `${metric.name} ${one.id}`) reading.scrollTop = 0;
    at.document = `${metric.name} ${one.id}`;
    reading.replaceChildren(...answers(one, data));
  };

  const show = (view) => {
    clearTimeout(waiting);
    shown = view;
    const { data, metric, detail } = view;
    actions.style.visibility = metric ? "visible" : "hidden";
    node.classList.toggle("idle", !metric);
    if (!metric) {
      title.textContent = "No metric selected";
      says.textContent = `Select a row to see which ${data.noun}s changed, and how.`;
      waits.textContent = "";
      printed.replaceChildren();
      return only();
    }
    if (at.metric !== metric.name) {
      Object.assign(at, { metric: metric.name, way: "all", text: "" });
      filter.value = "";
    }
    title.textContent = metric.label;
    title.title = metric.name;
    says.replaceChildren(...verdictWords(data, metric, detail));
    facts.replaceChildren(...factsOf(metric, data.noun).map(factNode));
    if (!data.paired) {
      waits.textContent = `The runs share no ${data.noun}s to lay side by side: only their means are compared.`;
      return only(facts, waits);
    }
    if (detail?.metric !== metric.name) {
      waits.textContent = "reading the documents \u2026";
      waiting = setTimeout(() => (waits.textContent = NOT_HERE), PATIENCE);
      return only(facts, waits);
    }
    return list(view);
  };

  const key = (name) => {
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 5, PageUp: -5, Home: -Infinity, End: Infinity }[name];
    if (!rows.hasFocus() || !step || !listed.length) return false;
    const from = listed.findIndex((row) => at.document === `${at.metric} ${row.id}`);
    onDocument(listed[Math.max(0, Math.min(listed.length - 1, from + step))].id);
    return true;
  };
  return {
    node,
    show,
    key,
    focus: () => (rows.node.hidden ? close : rows).focus({ preventScroll: true }),
    hasFocus: () => node.contains(node.getRootNode().activeElement),
    dispose: () => {
      clearTimeout(waiting);
      rows.dispose();
    },
  };
}

function verdictWords(data, metric, detail) {
  const cut = detail?.rows && detail.rows.length < detail.n ? ` The first ${whole(detail.rows.length)} are listed.` : "";
  const moved = data.paired ? ` ${movedWords(metric, data.noun)}${cut}` : "";
  return [verdictChip(metric), element("span", {}, ` ${metric.reason}${moved}`)];
}

function factNode({ name, text, title, kind }) {
  return element("div", { class: kind ?? null, title: title || null }, element("dt", {}, name), element("dd", {}, text));
}

function documentCells({ short, direction, a, b, change }) {
  return [
    element("span", { class: `sign ${direction}`, "aria-hidden": "true" }, ICONS[direction] ?? ""),
    element("span", { class: "document" }, short),
    element("span", { class: "soft moved" }, `${fixed(a, 3)} \u2192 ${fixed(b, 3)}`),
    element("span", { class: `number ${direction}` }, signed(change, 3)),
  ];
}

function documentWords({ document: name, short, direction, a, b }) {
  return `${name || short}: ${direction}, ${fixed(a, 3)} in A, ${fixed(b, 3)} in B`;
}

// Both answers side by side, what was expected under them; or the fields that moved, where a score sums up many.
function answers(row, data) {
  const side = (run, name, value, text) =>
    element(
      "div",
      { class: "side" },
      element("p", { class: "side-head" }, element("b", { class: `run ${run}` }, name), ` ${fixed(value, 3)}`),
      text == null ? null : element("p", { class: "answer" }, text === "" ? "no answer" : text),
    );
  const cut = (length) => (length ? ` \u2026 ${whole(length)} characters in all` : "");
  const texts = row.answer_a != null || row.answer_b != null;
  const answer = (name) => (texts ? `${row[name] ?? ""}${cut(row[`${name}_length`])}` : null);
  return [
    element("p", { class: "source", title: row.document }, row.document || row.short),
    element(
      "div",
      { class: "sides" },
      side("a", data.a.letter, row.a, answer("answer_a")),
      side("b", data.b.letter, row.b, answer("answer_b")),
    ),
    row.expected
      ? element("p", { class: "expected" }, element("b", {}, "expected "), row.expected, cut(row.expected_length))
      : null,
    row.parts?.length ? partsTable(row.parts) : null,
  ].filter(Boolean);
}

function partsTable(parts) {
  const cells = ({ name, a, b, change }) =>
    element(
      "tr",
      {},
      element("th", { scope: "row" }, name),
      [fixed(a, 3), fixed(b, 3), signed(change, 3)].map((text) => element("td", { class: "number" }, text)),
    );
  return element(
    "table",
    { class: "parts" },
    element(
      "thead",
      {},
      element(
        "tr",
        {},
        ["changed here", "A", "B", "change"].map((text, n) =>
          element("th", { scope: "col", class: n ? "number" : null }, text),
        ),
      ),
    ),
    element("tbody", {}, parts.map(cells)),
  );
}

function printedTable(rows, noun) {
  const head = element(
    "tr",
    {},
    [noun, "A", "B", "change"].map((text) => element("th", { scope: "col" }, text)),
  );
  const body = rows
    .slice(0, PRINTED)
    .map((row) =>
      element(
        "tr",
        {},
        element("th", { scope: "row" }, row.short),
        [fixed(row.a, 3), fixed(row.b, 3), `${ICONS[row.direction] ?? ""} ${signed(row.change, 3)}`].map((text) =>
          element("td", {}, text),
        ),
      ),
    );
  const more = rows.length > PRINTED ? element("p", {}, `${whole(rows.length - PRINTED)} more are not printed.`) : "";
  return element("div", {}, element("table", {}, element("thead", {}, head), element("tbody", {}, body)), more);
}

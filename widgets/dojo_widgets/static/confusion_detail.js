// What is behind a chosen cell: its documents, and why the model answered so. Without a cell, the largest confusions.

import { cellId, confusions, shareOf, shareText, untilWord } from "./confusion_layout.js";
import { element } from "./dom.js";
import { count, fixed, whole } from "./numbers.js";
import { windowedList } from "./windowed_list.js";

const ROW_HEIGHT = 26;
const FOLDED = 700;
const PATIENCE = 1500;
const STEPS = { ArrowDown: 1, ArrowUp: -1, PageDown: 5, PageUp: -5, Home: -Infinity, End: Infinity };
const FAILED = "The column \u201cno answer\u201d leads to the failed calls and their errors. Run them again.";
const NOT_HERE = "The documents are not in this page. Open the run in a notebook to list them.";

// Returns { node, show(view), key(name), goBack(), focus(), hasFocus(), dispose() }.
//   onRow(id)    a document was chosen
//   onCell(id)   one of the largest confusions was chosen, or is given up again
//   onClose()    back to the matrix
export function confusionDetail({ copy, onRow, onCell, onClose }) {
  const title = element("div", { class: "title" });
  const close = element(
    "button",
    { class: "button quiet", type: "button", title: "Esc", on: { click: onClose } },
    "close",
  );
  const actions = element("div", { class: "actions" }, copy, close);
  const says = element("p", { class: "says" });
  const rows = windowedList({
    label: "Documents of the cell",
    rowHeight: ROW_HEIGHT,
    cells: rowCells,
    words: rowTitle,
    onPick: onRow,
  });
  const pairs = windowedList({
    label: "Largest confusions",
    rowHeight: ROW_HEIGHT,
    cells: pairCells,
    words: ({ words }) => words,
    onPick: open,
  });
  const reading = element("div", {
    class: "reading scrolls",
    tabindex: 0,
    role: "group",
    "aria-label": "Answer and reasoning",
  });
  const waits = element("p", { class: "soft waits" });
  const body = element("div", { class: "behind" }, pairs.node, rows.node, waits, reading);
  const head = element("div", { class: "panel-head" }, title, actions);
  const node = element(
    "div",
    { class: "panel detail", role: "group", "aria-label": "Documents and confusions" },
    head,
    says,
    body,
  );
  let listed = [];
  let selected = "";
  let waiting = 0;
  let isOpen = false;
  let pairAt = "";
  let opened = "";
  let wantsFocus = false;

  // From the list to a cell, whose documents then hold the focus; `goBack` leads to the list again.
  function open(id) {
    pairAt = opened = id;
    wantsFocus = true;
    onCell(id);
  }

  const only = (...visible) => {
    for (const part of [pairs.node, rows.node, waits, reading]) part.hidden = !visible.includes(part);
  };
  const read = (view, one) => {
    const again = () => {
      isOpen = !isOpen;
      read(view, one);
    };
    reading.replaceChildren(...wholeRow(view, one, { isOpen, onFold: again }));
  };

  const idle = ({ data, matrix }) => {
    title.textContent = "Largest confusions";
    listed = confusions(matrix, data).map((one) => ({
      id: cellId(data, one.row, one.column),
      count: one.count,
      share: one.share,
      words: `${data.labels[one.row].name} answered as ${data.labels[one.column].name}: ${count(one.count, data.noun)}`,
      text: `${data.labels[one.row].short} \u2192 ${data.labels[one.column].short}`,
    }));
    const nothing = matrix.total ? "Every answer is right." : "There is no answer to compare.";
    const wrong = data.cells.filter(([row, column]) => row !== column).length;
    const some = wrong > listed.length ? `; the first ${whole(listed.length)} of ${whole(wrong)} pairs` : "";
    says.textContent = listed.length
      ? `expected \u2192 answered \u00b7 ${data.noun}s \u00b7 share of n expected${some}`
      : nothing;
    opened = "";
    if (!listed.some(({ id }) => id === pairAt)) pairAt = listed[0]?.id ?? "";
    waits.textContent = matrix.total ? "" : FAILED;
    only(...(listed.length ? [pairs.node] : [waits]));
    pairs.show(listed, "", pairAt);
  };

  const show = (view) => {
    clearTimeout(waiting);
    const { data, matrix, place, detail, row, isTabbed } = view;
    node.classList.toggle("idle", !place);
    copy.hidden = !place;
    close.hidden = !place && !isTabbed;
    close.textContent = isTabbed ? "back to the matrix" : "close";
    if (!place) return idle(view);
    if (opened !== cellId(data, place.row, place.column)) opened = "";
    title.textContent = titleOf(data, place);
    title.title = titleOf(data, place, "name");
    says.replaceChildren(...sentence(data, matrix, place, detail));
    if (!matrix.at(place.row, place.column)) {
      waits.textContent = "No document is here.";
      return only(waits);
    }
    if (detail?.cell !== cellId(data, place.row, place.column)) {
      waits.textContent = "reading the documents \u2026";
      waiting = setTimeout(() => (waits.textContent = NOT_HERE), PATIENCE);
      return only(waits);
    }
    listed = detail.rows;
    const one = listed.find(({ id }) => id === row) || listed[0];
    const isOther = one.id !== selected;
    if (isOther) isOpen = false;
    selected = one.id;
    only(rows.node, reading);
    body.style.setProperty("--listed", `${listed.length * ROW_HEIGHT}px`);
    rows.show(listed, selected);
    read(view, one);
    if (isOther) reading.scrollTop = 0;
    if (wantsFocus && !node.hidden) rows.focus();
    wantsFocus = false;
    return undefined;
  };

  // The row so many steps from the one that keys start from.
  const after = (steps, id) => {
    const at = listed.findIndex((one) => one.id === id);
    return listed[Math.max(0, Math.min(listed.length - 1, at + steps))];
  };
  const key = (name) => {
    if (!listed.length) return false;
    if (pairs.hasFocus() && name === "Enter") open(pairAt);
    else if (pairs.hasFocus() && STEPS[name]) pairs.show(listed, "", (pairAt = after(STEPS[name], pairAt).id));
    else if (rows.hasFocus() && STEPS[name]) onRow(after(STEPS[name], selected).id);
    else return false;
    return true;
  };
  const shown = () => [rows, pairs].find((list) => !list.node.hidden);
  const focus = () => {
    wantsFocus = !shown();
    (shown() ?? (close.hidden ? reading : close)).focus({ preventScroll: true });
  };
  return {
    node,
    show,
    key,
    focus,
    goBack: () => {
      if (!opened) return false;
      onCell(opened);
      focus();
      return true;
    },
    hasFocus: () => node.contains(node.getRootNode().activeElement),
    dispose: () => {
      clearTimeout(waiting);
      rows.dispose();
      pairs.dispose();
    },
  };
}

function titleOf(data, { row, column }, which = "short") {
  const answered = column === data.labels.length ? "no answer" : data.labels[column][which];
  return `${data.labels[row][which]} \u2192 ${answered}`;
}

function sentence(data, matrix, place, detail) {
  const n = matrix.at(place.row, place.column);
  const { short } = data.labels[place.row];
  const number = element("b", {}, count(n, data.noun));
  const more =
    detail?.rows && detail.rows.length < detail.n ? ` The first ${whole(detail.rows.length)} are listed.` : "";
  if (place.column === matrix.n)
    return [number, ` of ${whole(matrix.rows[place.row] + n)} expected ${short}: no answer.`, more];
  const answered = data.labels[place.column].short;
  const share = (normalise) => (n ? `${shareText(shareOf(matrix, place, normalise))}%` : "0%");
  return [
    number,
    `: expected ${short}, answered ${answered}. ${share("row")} of the ${whole(matrix.rows[place.row])} expected `,
    `${short}, ${share("column")} of the ${whole(matrix.columns[place.column])} answered ${answered}.`,
    more,
  ];
}

function rowCells({ short, question, confidence }) {
  return [
    element("span", { class: "document" }, [short, question].filter(Boolean).join(" \u00b7 ")),
    element("span", { class: "number soft" }, confidence == null ? "" : fixed(confidence)),
  ];
}

function rowTitle({ document, short, confidence }) {
  return `${document || short}${confidence == null ? "" : `\nconfidence ${fixed(confidence)}`}`;
}

function pairCells({ text, count: n, share }) {
  return [
    element("span", { class: "document" }, text),
    element("span", { class: "number" }, whole(n)),
    element("span", { class: "number soft" }, `${shareText(share)}%`),
  ];
}

function wholeRow({ data, place }, row, fold) {
  const isFailed = place.column === data.labels.length;
  const expected = data.labels[place.row];
  const predicted = isFailed ? { name: "no answer", short: "no answer" } : data.labels[place.column];
  const isRight = place.row === place.column;
  return [
    element("p", { class: "source", title: row.document }, row.short),
    row.question ? element("p", { class: "soft" }, row.question) : null,
    element("div", { class: "facts" }, [
      labelFact("expected", expected, row.expected_text, "found"),
      labelFact("answered", predicted, row.predicted_text, isRight ? "found" : "lost"),
      row.confidence == null ? null : fact("confidence", fixed(row.confidence)),
      row.mode_words && !isFailed ? fact("mistake", row.mode_words) : null,
      row.error ? fact("error", row.error) : null,
    ]),
    ...reasoning(row, fold),
  ].filter(Boolean);
}

// What was written stands beside the label when it is not the label itself.
function labelFact(says, { name, short }, written = "", mark = "") {
  const plain = (text) =>
    text
      .toLowerCase()
      .replace(/[\s_-]+/g, " ")
      .trim();
  const isSame = !written || [name, short].some((one) => plain(one).startsWith(plain(written)));
  return fact(says, [
    element("span", { class: mark ? `mark ${mark}` : null, title: name }, short),
    isSame ? "" : ` \u201c${written}\u201d`,
  ]);
}

function fact(says, value) {
  return element("p", { class: "fact" }, element("span", { class: "soft" }, says), element("span", {}, value));
}

// A long text is folded at the end of a word.
function reasoning({ reasoning: text, reasoning_length: length }, { isOpen, onFold }) {
  if (!text) return [element("p", { class: "soft" }, "The model gave no reasoning.")];
  const isLong = text.length > FOLDED;
  const shown = isLong && !isOpen ? `${untilWord(text, FOLDED)} \u2026` : text;
  const cut = length && (isOpen || !isLong) ? ` \u2026 ${whole(length)} characters in all` : "";
  const words = isOpen ? "fold" : `read all ${whole(text.length)} characters`;
  return [
    element("p", { class: "why" }, shown, element("span", { class: "soft" }, cut)),
    isLong
      ? element(
          "button",
          { class: "button", type: "button", "aria-expanded": String(isOpen), on: { click: onFold } },
          words,
        )
      : null,
  ];
}

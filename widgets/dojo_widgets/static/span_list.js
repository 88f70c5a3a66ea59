// The spans of a choice: a list of which only the rows in sight are drawn.

import { causeColour, causeName, causeSays, NO_ITEMS } from "./causes.js";
import { element } from "./dom.js";
import { isMatched, statusWords } from "./meanings.js";
import { whole } from "./numbers.js";
import { countsIn, emptyWords, foldedWords, measureWords, similarityWords } from "./span_rows.js";
import { windowedList } from "./windowed_list.js";

const ROW = 26;
const TEXT = 160;
const PRINTED = 500;
const SHOWS = [
  { show: "missed", says: "Spans without a matching item" },
  { show: "matched", says: "Spans with a matching item" },
  { show: "check", says: "Matched spans whose item stands elsewhere in the document: check the match" },
];
const COLUMNS = [
  { by: "document", words: "document", natural: "asc" },
  { by: "label", words: "label", natural: "asc" },
  { by: "similarity", words: "best", natural: "desc" },
  { by: "place", words: "nearest is", natural: "asc" },
  { by: "cause", words: "cause", natural: "asc" },
];

// Draws into `host`. `verdictOf(span)` returns { mark, words } to fill a column of verdicts, or null for no such column;
// `canOpen(id)` is false for spans this page knows no more of than their row.
// Returns { update(), repaint(), focus(), has(node), page(), dispose() }.
export function mountSpans(host, state, { verdictOf = null, canOpen = () => true } = {}) {
  const title = element("div", { class: "title" });
  const segments = element("span", { class: "segments", role: "group", "aria-label": "Spans shown" });
  // The buttons below go away when they are used; the list takes the focus, once it is drawn.
  const chooseAndFocus = (changes) => {
    state.choose(changes);
    queueMicrotask(list.focus);
  };
  const clear = element("button", {
    class: "button quiet",
    type: "button",
    title: "Show all causes (Esc)",
    on: { click: () => chooseAndFocus({ cause: "" }) },
  });
  const heads = COLUMNS.map((column) => headOf(column, state));
  const head = element(
    "div",
    { class: "span-grid span-head" },
    heads.map(({ node }) => node),
    verdictOf && element("span", { class: "verdict", title: "Verdict" }, "\u2713"),
  );
  const list = windowedList({
    label: "Spans",
    rowHeight: ROW,
    cells: (span) => cellsOf(span),
    words: (span) => wordsOf(span),
    onPick: (id) => state.choose({ span: id }),
  });
  const printed = element("div", { class: "printed" });
  const empty = element("div", { class: "empty" });
  const folded = element("button", {
    class: "folded",
    type: "button",
    on: { click: () => chooseAndFocus({ cause: NO_ITEMS }) },
  });
  const panel = element(
    "section",
    { class: "panel spans", "aria-label": "Spans" },
    element("div", { class: "panel-head" }, title, element("div", { class: "actions" }, clear, segments)),
    head,
    list.node,
    printed,
    empty,
    folded,
  );
  let drawn = {};

  const wordsOf = (span) => `${state.table().documents[span.document].name}: ${span.text}`;

  const cellsOf = (span) => {
    const table = state.table();
    const verdict = verdictOf?.(span);
    return element(
      "span",
      { class: "span-grid" },
      element("span", { class: "source" }, table.documents[span.document].short),
      " ",
      element("span", { class: "label" }, !canOpen(span.id) && absent(), span.text.slice(0, TEXT).replace(/\s+/g, " ")),
      " ",
      element(
        "span",
        { class: "number", title: `${statusWords(span.status)}, ${measureWords(table.measure)}` },
        similarityWords(span.similarity, table.threshold),
      ),
      " ",
      element("span", { class: `place${span.place === "same place" ? " here" : ""}` }, span.place),
      " ",
      reason(table, span),
      verdictOf &&
        element(
          "span",
          { class: "verdict", title: verdict?.words },
          verdict?.mark,
          element("span", { class: "unseen" }, verdict?.words),
        ),
    );
  };

  const repaint = () => list.show(state.list().rows, state.choice().span);

  const update = () => {
    const table = state.table();
    const choice = state.choice();
    const { rows, folded: hidden } = state.list();
    title.textContent = state.words();
    title.title = [choice.family, title.textContent].filter(Boolean).join(": ");
    if (drawn.table !== table || drawn.family !== choice.family) drawSegments(countsIn(table, choice.family));
    for (const button of segments.children)
      button.setAttribute("aria-pressed", String(button.dataset.show === choice.show));
    clear.hidden = !choice.cause;
    clear.textContent = choice.cause ? `\u00d7 ${causeName(table, choice.cause)}` : "";
    for (const one of heads) one.update();
    panel.classList.toggle("no-places", !table.has_places);
    folded.hidden = !hidden.length;
    folded.textContent = hidden.length ? `${foldedWords(hidden)}: show` : "";
    list.node.hidden = head.hidden = !rows.length;
    empty.hidden = Boolean(rows.length);
    if (!rows.length) drawEmpty();
    repaint();
    drawn = { table, family: choice.family };
  };

  const drawSegments = (counts) => {
    const shown = SHOWS.filter(({ show }) => show !== "check" || counts.check || state.choice().show === "check");
    segments.replaceChildren(
      ...shown.map(({ show, says }) =>
        element(
          "button",
          { type: "button", "data-show": show, title: says, on: { click: () => state.choose({ show }) } },
          `${show} ${whole(counts[show])}`,
        ),
      ),
    );
  };

  const drawEmpty = () => {
    const { cause, family, show } = state.choice();
    const { finding, next } = emptyWords(state.table(), state.choice());
    const counts = countsIn(state.table(), family);
    const button = (words, changes) =>
      element("button", { class: "button", type: "button", on: { click: () => chooseAndFocus(changes) } }, words);
    const ways = [
      cause && button("Show all causes", { cause: "" }),
      !cause &&
        show === "missed" &&
        counts.matched > 0 &&
        button(`Show the ${whole(counts.matched)} matched`, { show: "matched" }),
      show !== "missed" && counts.missed > 0 && button(`Show the ${whole(counts.missed)} missed`, { show: "missed" }),
    ];
    empty.replaceChildren(
      element("p", {}, element("b", {}, finding), " ", next),
      element("p", { class: "ways" }, ways.filter(Boolean)),
    );
  };

  const print = matchMedia("print");
  const onPrint = ({ matches }) => {
    const { rows } = state.list();
    const first = matches ? rows.slice(0, PRINTED) : [];
    const rest =
      matches &&
      rows.length > PRINTED &&
      element(
        "p",
        { class: "soft" },
        `The first ${whole(PRINTED)} of ${whole(rows.length)} spans are printed; choose a family for others.`,
      );
    printed.replaceChildren(...first.map(cellsOf), rest || "");
  };
  print.addEventListener("change", onPrint);

  host.append(panel);
  update();
  return {
    update,
    repaint,
    focus: list.focus,
    has: (node) => node === list.node,
    page: () => Math.max(1, Math.floor(list.node.clientHeight / ROW) - 1),
    dispose: () => {
      list.dispose();
      print.removeEventListener("change", onPrint);
    },
  };
}

function absent() {
  return element("span", { class: "absent", title: "Not embedded in this page" }, "\u25cc ");
}

function headOf({ by, words, natural }, state) {
  const node = element("button", {
    type: "button",
    class: { similarity: "number", document: "source" }[by] || by,
    on: { click: () => state.sortBy("sort", by, natural) },
  });
  const update = () => {
    const sort = state.sortOf("sort");
    const isSorted = sort.by === by;
    node.textContent = words + (isSorted ? (sort.down ? " \u25be" : " \u25b4") : "");
    node.setAttribute("aria-pressed", String(isSorted));
    node.title =
      by === "similarity" ? `Sort by ${measureWords(state.table().measure)} of the nearest item` : `Sort by ${words}`;
  };
  return { node, update };
}

function reason(table, span) {
  const cell = (colour, words, title) =>
    element("span", { class: "cause", title }, element("i", { class: "swatch", style: `background:${colour}` }), words);
  if (span.check) return cell("var(--near)", "check match", "The matched item stands elsewhere in the document");
  if (isMatched(span.status)) return cell("var(--matched)", "matched", null);
  return cell(causeColour(span.cause), causeName(table, span.cause), causeSays(table, span.cause));
}

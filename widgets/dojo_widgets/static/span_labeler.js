// A queue of spans to judge: the list above, the span below with its verdict, note and nearest item.
//
// `const end = mountLabeler(host, model, { speak })` puts the view into a host inside a `.dojo` root; `end()` removes
// it. The model has the traits `data`, `span`, `judgements` and `filter`.

import { squeezed } from "./blocks.js";
import { causeColour } from "./causes.js";
import { copyButton } from "./copy_button.js";
import { element, keys, put, view } from "./dom.js";
import { VERDICTS, asJsonl, isJudged, judgedCount, neighbour, verdictsFor } from "./label_queue.js";
import { nextOpen, queueOf, verdictWords, withNote, withVerdict } from "./label_queue.js";
import { causeWords } from "./meanings.js";
import { UNKNOWN, count, fixed, whole } from "./numbers.js";
import { KEPT, isPublished } from "./published.js";
import { windowedList } from "./windowed_list.js";

const TRAITS = ["data", "span", "judgements", "filter"];
const FILTERS = ["all", "open", "judged"];
const ROW_HEIGHT = 26;
const PAGE = 6;

export function mountLabeler(host, model, { speak = () => {} } = {}) {
  const spansOf = () => model.get("data").spans;
  const judgementsOf = () => model.get("judgements") || {};
  const current = () => spansOf().find((span) => span.id === model.get("span")) || null;
  const queue = () => queueOf(spansOf(), judgementsOf(), model.get("filter"), model.get("span"));

  const select = (id) => {
    if (!id || id === model.get("span")) return;
    put(model, { span: id });
    speak(spokenSpan(current(), queue(), judgementsOf()));
  };
  const judge = (verdict) => {
    const span = current();
    if (!span) return;
    const judgements = withVerdict(judgementsOf(), span.id, verdict);
    put(model, { judgements });
    const words = verdictWords(judgements[span.id]?.verdict, span.status) || "verdict taken back";
    speak(`${words}, ${countWords(spansOf(), judgements)}`);
  };
  // A note belongs to the span it was begun on, also when another one was selected meanwhile.
  const keepNote = () => {
    const { value, dataset } = parts.note;
    if (!dataset.span || value.trim() === (judgementsOf()[dataset.span]?.note || "")) return;
    put(model, { judgements: withNote(judgementsOf(), dataset.span, value) });
  };

  const list = windowedList({
    label: "Spans to judge",
    rowHeight: ROW_HEIGHT,
    cells: (span) => queueCells(span, judgementsOf()),
    words: rowWords,
    onPick: select,
  });
  const parts = labelerParts({
    model,
    judge,
    keepNote,
    toList: list.focus,
    copy: copyButton({
      words: "Copy JSONL",
      text: () => asJsonl(model.get("data"), judgementsOf(), new Date().toISOString()),
      said: () => `${count(Object.keys(judgementsOf()).length, "record")} copied`,
      speak,
    }),
    onNext: () => select(nextOpen(spansOf(), judgementsOf(), model.get("span"))),
  });
  const root = layout(parts, list);

  const draw = () => {
    if (parts.note.dataset.span !== (current()?.id ?? "")) keepNote();
    const [span, judgements, shown] = [current(), judgementsOf(), queue()];
    drawHead(parts, model, spansOf(), judgements, model.get("filter"), shown, span);
    drawSpan(parts, span, span ? judgements[span.id] : null);
    parts.next.disabled = !nextOpen(spansOf(), judgements, model.get("span"));
    parts.empty.replaceChildren(...(shown.length ? [] : emptyWords(spansOf(), model.get("filter"))));
    parts.empty.hidden = shown.length > 0;
    list.node.hidden = shown.length === 0;
    list.show(shown, model.get("span"));
  };

  keys(root, (event) => {
    const { key } = event;
    const verdict = VERDICTS.find((one) => one.key === key);
    if (verdict) judge(verdict.id);
    else if (key === "m" && current()) parts.note.focus();
    else if (key === "Escape") list.focus();
    else if (key === "Enter" && list.hasFocus()) select(nextOpen(spansOf(), judgementsOf(), model.get("span")));
    else {
      const steps = stepsOf(key, list.hasFocus(), shownPane(event, parts));
      if (!steps) return false;
      select(neighbour(queue(), model.get("span"), steps));
    }
    return true;
  });
  for (const trait of TRAITS) model.on(`change:${trait}`, draw);
  host.append(root);
  draw();
  return () => {
    keepNote();
    for (const trait of TRAITS) model.off(`change:${trait}`, draw);
    list.dispose();
    root.remove();
  };
}

// j and k move from anywhere; the arrows do where nothing else scrolls with them.
function stepsOf(key, inList, inPane) {
  const steps = { j: 1, k: -1 }[key];
  if (steps || inPane) return steps || 0;
  const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: PAGE, PageUp: -PAGE };
  return moves[key] ?? (inList ? { Home: -Infinity, End: Infinity }[key] : 0) ?? 0;
}

function shownPane(event, parts) {
  const target = event.composedPath()[0];
  return target === parts.label || target === parts.item;
}

function labelerParts({ model, judge, keepNote, toList, copy, onNext }) {
  const note = element("input", {
    class: "field note",
    type: "text",
    placeholder: "note (m)",
    "aria-label": "Note on this span",
    on: {
      change: keepNote,
      keydown: (event) => {
        if (event.key !== "Enter" && event.key !== "Escape") return;
        keepNote();
        toList();
      },
    },
  });
  const verdict = ({ id }) =>
    element("button", { type: "button", "data-verdict": id, on: { click: () => judge(id) } });
  const filter = (name) =>
    element("button", { type: "button", "data-filter": name, on: { click: () => put(model, { filter: name }) } });
  const pane = (label) => element("div", { class: "pane scrolls", tabindex: 0, role: "group", "aria-label": label });
  return {
    note,
    title: element("div", { class: "title" }),
    filters: element("span", { class: "segments", role: "group", "aria-label": "Spans listed" }, FILTERS.map(filter)),
    empty: element("p", { class: "empty" }),
    name: element("div", { class: "title" }),
    verdicts: element(
      "span",
      { class: "segments", role: "group", "aria-label": "Verdict on this span" },
      VERDICTS.map(verdict),
    ),
    next: element(
      "button",
      { class: "button quiet", type: "button", title: "Enter: the next span without a verdict", on: { click: onNext } },
      "next open",
    ),
    labelHead: element("p", { class: "pane-head" }),
    itemHead: element("p", { class: "pane-head" }),
    label: pane("Label"),
    item: pane("Nearest item"),
    counter: element("p", { class: "counter soft" }),
    kept: element("p", { class: "kept soft" }),
    copy,
  };
}

function layout(parts, list) {
  const columns = ["document", "label", "best", "nearest is", "cause", "verdict"];
  const head = element(
    "div",
    { class: "row-head soft", "aria-hidden": "true" },
    columns.map((name) => element("span", { class: name.replace(" ", "-") }, name)),
  );
  const chosen = element(
    "section",
    { class: "panel", "aria-label": "Spans to judge" },
    element("div", { class: "panel-head" }, parts.title, element("div", { class: "actions" }, parts.filters)),
    head,
    element("div", { class: "list" }, list.node, parts.empty),
  );
  const span = element(
    "section",
    { class: "panel", "aria-label": "Span to judge" },
    element(
      "div",
      { class: "panel-head" },
      parts.name,
      element("div", { class: "actions" }, parts.verdicts, parts.note, parts.next),
    ),
    element(
      "div",
      { class: "panes" },
      element("div", { class: "side" }, parts.labelHead, parts.label),
      element("div", { class: "side" }, parts.itemHead, parts.item),
    ),
    element("div", { class: "foot" }, parts.counter, parts.kept, parts.copy),
  );
  return element("div", { class: "labeler" }, chosen, span);
}

function drawHead(parts, model, spans, judgements, filter, shown, span) {
  const at = shown.findIndex((one) => one.id === span?.id);
  const position = at < 0 ? count(shown.length, "span") : `span ${whole(at + 1)} of ${whole(shown.length)}`;
  parts.title.textContent = [span?.family, position].filter(Boolean).join(" \u00b7 ");
  const judged = judgedCount(spans, judgements);
  const numbers = { all: spans.length, open: spans.length - judged, judged };
  for (const button of parts.filters.children) {
    const name = button.dataset.filter;
    button.textContent = `${name} ${whole(numbers[name])}`;
    button.setAttribute("aria-pressed", String(name === filter));
  }
  const copied = Object.keys(judgements).length;
  parts.counter.textContent = countWords(spans, judgements);
  parts.kept.textContent = copied && isPublished(model) ? KEPT : "";
  parts.counter.title = parts.kept.textContent;
  parts.copy.disabled = copied === 0;
  parts.copy.title = copied
    ? `Copy ${count(copied, "record")} in the form of an annotation file`
    : "Nothing is judged yet";
}

function countWords(spans, judgements) {
  const judged = spans.filter((span) => isJudged(judgements, span.id));
  const by = VERDICTS.map(({ id, words }) => [
    words.toLowerCase(),
    judged.filter((span) => judgements[span.id].verdict === id).length,
  ]);
  const said = by.filter(([, n]) => n).map(([words, n]) => `${words} ${whole(n)}`);
  const notes = Object.values(judgements).filter((one) => one.note && !one.verdict).length;
  if (notes) said.push(`${count(notes, "note")} without a verdict`);
  return `${whole(judged.length)} of ${whole(spans.length)} judged${said.length ? `: ${said.join(", ")}` : ""}`;
}

function drawSpan(parts, span, judgement) {
  parts.name.textContent = span ? span.short : "No span";
  parts.name.title = span?.document || "";
  for (const [at, { words, key, says }] of verdictsFor(span?.status).entries()) {
    const button = parts.verdicts.children[at];
    button.textContent = words;
    button.title = `${key}: ${says}`;
    button.disabled = !span;
    button.setAttribute("aria-pressed", String(button.dataset.verdict === judgement?.verdict));
  }
  parts.note.disabled = !span;
  // What is being typed stays, unless the note belongs to another span.
  const isTyping = parts.note === parts.note.getRootNode().activeElement && parts.note.dataset.span === span?.id;
  if (!isTyping) parts.note.value = judgement?.note || "";
  parts.note.dataset.span = span?.id || "";
  parts.note.title = judgement?.note || "";
  parts.labelHead.replaceChildren(
    swatch(span?.cause ? "missed" : "edge"),
    element("b", {}, "label"),
    span ? `\u00b7 ${span.family}` : "",
  );
  parts.itemHead.replaceChildren(swatch("item"), element("b", {}, "nearest item"), span ? itemWords(span) : "");
  showText(parts.label, span, span?.text, "");
  showText(parts.item, span, span?.item, span ? "The model returned no item for this field of the document." : "");
}

function itemWords({ similarity, place, cause }) {
  const words = [similarity == null ? null : fixed(similarity), place, cause ? causeWords(cause) : null].filter(
    Boolean,
  );
  return words.length ? `\u00b7 ${words.join(" \u00b7 ")}` : "";
}

// The text of a pane, which stays as it was scrolled while the span is the same.
function showText(pane, span, text, otherwise) {
  if (span && pane.dataset.span === span.id) return;
  pane.dataset.span = span?.id ?? "";
  pane.replaceChildren(text ? squeezed(text) : element("span", { class: "soft" }, otherwise));
  pane.scrollTop = 0;
}

function swatch(meaning) {
  return element("i", { class: "swatch", style: `background:var(--${meaning})` });
}

function queueCells(span, judgements) {
  const judgement = judgements[span.id];
  const verdict = verdictWords(judgement?.verdict, span.status) || (judgement?.note ? "note" : "");
  return [
    element("span", { class: "document" }, span.short),
    element("span", { class: "label" }, span.text),
    element("span", { class: "best number" }, span.similarity == null ? UNKNOWN : fixed(span.similarity)),
    element("span", { class: "nearest-is soft" }, span.place),
    element(
      "span",
      { class: "cause" },
      span.cause
        ? [element("i", { class: "swatch", style: `background:${causeColour(span.cause)}` }), causeWords(span.cause)]
        : "",
    ),
    element("span", { class: "verdict" }, verdict),
  ];
}

function rowWords(span) {
  return `${span.document}\n${span.family}: ${span.text}`;
}

function spokenSpan(span, queue, judgements) {
  if (!span) return "no span";
  const verdict = verdictWords(judgements[span.id]?.verdict, span.status) || "open";
  return `span ${queue.findIndex((one) => one.id === span.id) + 1} of ${queue.length}, ${span.family}, ${span.short}, ${verdict}`;
}

function emptyWords(spans, filter) {
  if (!spans.length) return [element("b", {}, "There is nothing to judge."), " The queue holds no span."];
  if (filter === "judged")
    return [
      element("b", {}, "Nothing is judged yet."),
      " Press a, r or w on a span: true miss, not a miss, label wrong.",
    ];
  return [
    element("b", {}, `All ${whole(spans.length)} spans are judged.`),
    " Copy them as JSONL, or look at them again under \u201cjudged\u201d.",
  ];
}

function render({ model, el }) {
  const { root, live, dispose } = view(el, "span-labeler");
  const end = mountLabeler(root, model, { speak: live });
  return () => {
    end();
    dispose();
  };
}

export default { render };

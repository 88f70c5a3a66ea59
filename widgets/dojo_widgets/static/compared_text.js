// One of two compared texts, with its marks, folds and gaps.

import { element } from "./dom.js";
import { reflowed } from "./difference.js";
import { count } from "./numbers.js";

const LAST_LINE = 30;
const ABOVE_MARK = 66;

// `sought` is the kind of segment a reader looks for first: the pane scrolls to it when it is shown.
export function comparedText(name, text, segments, sought) {
  const first = segments.find(({ kind, words }) => kind === sought && words);
  return element(
    "div",
    { class: "text scrolls", tabindex: 0, role: "group", "aria-label": name, "data-part": name },
    segments.map((segment) => drawn(text, segment, segment === first)),
  );
}

export function scrollToMark(pane) {
  const mark = pane.querySelector("[data-sought]");
  if (mark && mark.offsetTop > pane.clientHeight - LAST_LINE) pane.scrollTop = mark.offsetTop - ABOVE_MARK;
}

function drawn(text, segment, isSought = false) {
  const { kind, start, end } = segment;
  if (kind === "gap") return element("span", { class: "gap", title: "The annotator left text out here" }, "omitted");
  if (kind === "fold") return foldButton(text, segment);
  const own = reflowed(text.slice(start, end));
  if (kind === "plain" && !isSought) return own;
  const tag = kind === "missing" || kind === "shared" ? "mark" : "span";
  return element(tag, { class: kind === "plain" ? null : kind, "data-sought": isSought }, own);
}

function foldButton(text, { of: kind, start, end, words }) {
  const open = () => {
    const shown = element("span", { tabindex: -1 }, drawn(text, { kind, start, end }));
    button.replaceWith(shown);
    shown.focus({ preventScroll: true });
  };
  const button = element(
    "button",
    { class: "fold", type: "button", title: "Show these words", on: { click: open } },
    `\u2026 ${count(words, "word")} \u2026`,
  );
  return button;
}

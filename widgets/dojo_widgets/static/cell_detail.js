// What a chosen cell rests on: the two values and the rule that decided, in words.

import { squeezed } from "./blocks.js";
import { element } from "./dom.js";
import { UNKNOWN, count, fixed, whole } from "./numbers.js";

const FLAGS = { exact: "exact", partial: "partly right", miss: "missed" };
const PATIENCE = 1500;

// Returns { node, show(data, chosen, detail), focus(), hasFocus(), dispose() }.
//   copy    the button that copies code
//   chosen  { document, field } as in `data`; field is null for a whole row, document null when nothing is chosen
export function cellDetail({ copy, onClose, onOpen }) {
  const title = element("div", { class: "title" });
  const open = element("button", { class: "button quiet", type: "button", title: "Enter", on: { click: onOpen } });
  const close = element(
    "button",
    { class: "button quiet", type: "button", title: "Esc", on: { click: onClose } },
    "close",
  );
  const says = element("p", { class: "says" });
  const body = element("div", { class: "panes" });
  const actions = element("div", { class: "actions" }, open, copy, close);
  const node = element(
    "section",
    { class: "panel detail", "aria-label": "Selected cell" },
    element("div", { class: "panel-head" }, title, actions),
    says,
    body,
  );
  let waiting = 0;

  const show = (data, { document, field }, detail, isOpen) => {
    clearTimeout(waiting);
    actions.style.visibility = document ? "visible" : "hidden";
    open.textContent = isOpen ? "smaller" : "larger";
    open.setAttribute("aria-pressed", String(isOpen));
    title.textContent = document ? [field?.words, document.short].filter(Boolean).join(" \u00b7 ") : "No cell selected";
    title.title = document?.name || "";
    if (!document)
      return fill(
        says,
        body,
        ["The stronger the colour, the more of the score is lost. A low mean says where points are lost, not why."],
        [hint()],
      );
    if (!field) return rowDetail(says, body, data, document);
    const score = document.scores[data.fields.indexOf(field)];
    if (detail?.cell === `${document.id}:${field.name}`) return valueDetail(says, body, detail);
    fill(says, body, scoreWords(score, null), [element("p", { class: "soft waits" }, "reading the two values \u2026")]);
    waiting = setTimeout(() => {
      body.replaceChildren(
        element(
          "p",
          { class: "soft waits" },
          "The two values are not in this page. Open the run in a notebook to read them.",
        ),
      );
    }, PATIENCE);
    return undefined;
  };
  return {
    node,
    show,
    focus: () => (body.querySelector(".pane") || close).focus({ preventScroll: true }),
    hasFocus: () => node.contains(node.getRootNode().activeElement),
    dispose: () => clearTimeout(waiting),
  };
}

function fill(says, body, sentence, panes) {
  says.replaceChildren(...sentence);
  body.replaceChildren(...panes);
}

function hint() {
  return element(
    "p",
    { class: "soft waits" },
    "Select a cell to see the predicted and the expected value and the rule that decided: click it, or press ",
    element("kbd", {}, "Tab"),
    " and the arrow keys; ",
    element("kbd", {}, "Enter"),
    " opens it, ",
    element("kbd", {}, "Esc"),
    " goes back.",
  );
}

function scoreWords(score, flag) {
  if (score == null) return [element("b", {}, UNKNOWN), " "];
  return [element("b", {}, fixed(score, 3)), flag ? ` ${FLAGS[flag] || flag} ` : " "];
}

function valueDetail(says, body, detail) {
  const cautions = (detail.cautions || []).map((words) => ` Caution: ${words}.`);
  const sentence = [
    ...scoreWords(detail.score, detail.flag),
    "\u00b7 ",
    `${detail.says}.`,
    ...cautions,
    " ",
    element("code", { class: "soft" }, detail.rule),
  ];
  const isList = detail.type.startsWith("entity_list");
  fill(says, body, sentence, [
    side("predicted", "item", "item", detail.predicted, isList, "The model returned nothing."),
    side("expected", "missed", "label", detail.expected, isList, "Nothing is expected."),
  ]);
}

function side(name, meaning, noun, { n, values }, isList, otherwise) {
  const number = isList ? ` \u00b7 ${count(n, noun)}` : "";
  const heading = element(
    "p",
    { class: "pane-head" },
    element("i", { class: "swatch", style: `background:var(--${meaning})` }),
    element("b", {}, name),
    number,
  );
  const left = n - values.length;
  const more = left > 0 ? element("p", { class: "soft" }, `${count(left, `more ${noun}`)} not shown here`) : null;
  const shown = values.length
    ? values.map((value, at) => valueRow(value, at, isList))
    : element("p", { class: "soft" }, otherwise);
  return element(
    "div",
    { class: "side" },
    heading,
    element("div", { class: "pane scrolls", tabindex: 0, role: "group", "aria-label": name }, shown, more),
  );
}

function valueRow({ text, mark, length }, at, isList) {
  const cut = length ? element("span", { class: "soft" }, ` \u2026 ${whole(length)} characters in all`) : null;
  const shown = squeezed(text);
  if (!isList) return element("p", { class: "value" }, shown, cut);
  const found = mark && (mark.startsWith("label") || mark === "matched");
  const tag = mark ? element("span", { class: `mark ${found ? "found" : "lost"}` }, mark) : null;
  return element(
    "p",
    { class: "value listed" },
    element("span", { class: "soft number" }, whole(at + 1)),
    element("span", {}, tag, shown, cut),
  );
}

// A whole row: the fields of the document, lowest first, or why it has no scores.
function rowDetail(says, body, data, document) {
  if (document.why)
    return fill(
      says,
      body,
      [element("b", {}, document.status), " \u00b7 the document has no scores"],
      [
        element(
          "div",
          { class: "side" },
          element(
            "div",
            { class: "pane scrolls", tabindex: 0, role: "group", "aria-label": "Reason" },
            element("p", { class: "value" }, document.why),
          ),
        ),
      ],
    );
  const scored = data.fields
    .map((field, at) => ({ field, score: document.scores[at] }))
    .filter(({ score }) => score != null);
  scored.sort((a, b) => a.score - b.score);
  const unknown = data.fields.length - scored.length;
  const sentence = [
    element("b", {}, fixed(document.overall, 3)),
    ` overall \u00b7 the mean of ${count(scored.length, "field")}`,
    unknown ? `; ${whole(unknown)} more have no label` : "",
  ];
  const rows = scored.map(({ field, score }) =>
    element(
      "p",
      { class: "value listed" },
      element("span", { class: "number" }, fixed(score)),
      element("span", {}, field.words),
    ),
  );
  return fill(says, body, sentence, [
    element(
      "div",
      { class: "side" },
      element("div", { class: "pane scrolls", tabindex: 0, role: "group", "aria-label": "Fields" }, rows),
    ),
  ]);
}

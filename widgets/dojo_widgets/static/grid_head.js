// What stands above and below a grid of scores: the finding, the filter, which documents and which fields are shown.

import { element } from "./dom.js";
import { UNKNOWN, whole } from "./numbers.js";

const LEGEND = [10, 8, 6, 4, 2, 0];

// Returns { node, foot, filter, show({ data, isApart, first, shown }), height() }.
//   onFilter(text)   something was typed
//   onList(isApart)  the documents with or without scores were asked for
//   onTurn(steps)    1 for the next fields, -1 for those before
export function gridHead({ onFilter, onList, onTurn }) {
  const title = element("div", { class: "title" });
  const filter = element("input", {
    type: "search",
    class: "field filter",
    placeholder: "filter documents",
    "aria-label": "Filter documents",
    on: { input: (event) => onFilter(event.target.value) },
  });
  const scored = button(() => onList(false));
  const apart = button(() => onList(true));
  const lists = segments("Documents listed", scored, apart);
  const back = button(() => onTurn(-1), "\u2039", "Previous fields");
  const on = button(() => onTurn(1), "\u203a", "Next fields");
  const range = element("span", { class: "soft" });
  const pager = element("span", { class: "pager" }, range, segments("Fields shown", back, on));
  const node = element(
    "div",
    { class: "panel-head" },
    title,
    element("div", { class: "actions" }, filter, lists, pager),
  );
  const foot = element("div", { class: "foot soft" });

  const show = ({ data, isApart, first, shown }) => {
    title.textContent = data.finding;
    title.title = data.finding;
    filter.hidden = data.documents.length + data.apart.length < 2;
    lists.hidden = !data.apart.length;
    scored.textContent = `scored ${whole(data.documents.length)}`;
    apart.textContent = `${kindOf(data.apart)} ${whole(data.apart.length)}`;
    scored.setAttribute("aria-pressed", String(!isApart));
    apart.setAttribute("aria-pressed", String(isApart));
    const last = Math.min(data.fields.length, first + shown);
    pager.hidden = isApart || shown >= data.fields.length;
    range.textContent = `fields ${whole(first + 1)}\u2013${whole(last)} of ${whole(data.fields.length)}`;
    back.disabled = first === 0;
    on.disabled = last === data.fields.length;
    foot.replaceChildren(legend(), element("p", {}, data.notes.join(" ")));
  };
  return { node, foot, filter, show, height: () => node.offsetHeight + foot.offsetHeight };
}

function button(onClick, words = "", label = null) {
  return element("button", { type: "button", "aria-label": label, on: { click: onClick } }, words);
}

function segments(label, ...buttons) {
  return element("span", { class: "segments", role: "group", "aria-label": label }, buttons);
}

function kindOf(apart) {
  const kinds = new Set(apart.map((one) => one.status));
  return kinds.size === 1 ? [...kinds][0] : "without scores";
}

function legend() {
  const steps = LEGEND.map((lost) => element("i", { class: "step", style: `--loss:${lost}` }));
  const ramp = element("span", { class: "steps", "aria-hidden": "true" }, steps);
  const dash = element("span", { class: "dash" }, `${UNKNOWN} nothing expected`);
  return element("span", { class: "legend" }, "score 0", ramp, "1", dash);
}

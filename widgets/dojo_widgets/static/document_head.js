// The head of a document view: its name, the items that stand nowhere in it, and the way from mark to mark.

import { element } from "./dom.js";
import { whole } from "./numbers.js";

// Returns { node, closeList(), update({ position, title, opened }) }.
// `runs` holds what the buttons do: previous, next, label, item (null without a compared item), open.
export function documentHead(view, runs) {
  const button = (text, title, click) =>
    element("button", { class: "button quiet", type: "button", title, on: { click } }, text);
  const place = element("span", { class: "soft position" });
  const opens = button("open", "", runs.open);
  const unlocated = unlocatedItems(view.unlocated || []);
  const node = element(
    "div",
    { class: "panel-head" },
    element("div", { class: "title", title: view.document }, view.document),
    element(
      "div",
      { class: "actions" },
      unlocated?.button,
      button("\u2039 prev", "Previous highlight (p)", runs.previous),
      place,
      button("next \u203a", "Next highlight (n)", runs.next),
      button("label", "Back to the label (g)", runs.label),
      runs.item && button("item", "To the compared item (i)", runs.item),
      opens,
    ),
    unlocated?.list,
  );
  return {
    node,
    closeList: () => {
      if (!unlocated || unlocated.list.hidden) return false;
      unlocated.button.click();
      unlocated.button.focus();
      return true;
    },
    update: ({ position, title, opened }) => {
      place.textContent = position;
      place.title = title;
      opens.textContent = opened ? "close" : "open";
      opens.title = opened ? "Smaller (Esc)" : "Larger (Enter on the text)";
      opens.setAttribute("aria-pressed", String(opened));
    },
  };
}

function unlocatedItems(items) {
  if (!items.length) return null;
  const list = element(
    "div",
    { class: "unlocated", hidden: true, tabindex: 0, role: "group", "aria-label": "Items not verbatim in the text" },
    items.map(({ index, text }) => element("p", {}, element("b", {}, `item ${index} `), text.replace(/\s+/g, " "))),
  );
  const button = element(
    "button",
    {
      class: "button quiet",
      type: "button",
      "aria-expanded": "false",
      title: "Items whose words do not stand in the text in this order",
    },
    `${whole(items.length)} not verbatim \u25be`,
  );
  button.addEventListener("click", () => {
    list.hidden = !list.hidden;
    button.setAttribute("aria-expanded", String(!list.hidden));
  });
  return { button, list };
}

// Families and spans of one field, one span of them selected.

import { element, keys, view } from "./dom.js";
import { mountFamilies } from "./family_list.js";
import { helpButton, helpDialog } from "./help.js";
import { missState } from "./miss_state.js";
import { mountSpans } from "./span_list.js";
import { mountSummary } from "./summary.js";

const FAR = 1e9;

export const LIST_KEYS = [
  [["\u2191", "\u2193"], "previous, next family or span, where the focus is; also Home, End and the page keys"],
  [["\u2190", "\u2192"], "to the families, to the spans"],
];

// Keys of the two lists; `run(event)` is true when it used the key. Arrows act on the list that has the focus, and
// on the spans when none has.
export function listKeys(state, families, spans) {
  const steps = (event, page) =>
    ({ ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -FAR, End: FAR })[event.key];
  return (event) => {
    const inFamilies = families.has(event.composedPath()[0].closest?.("[role=option]"));
    const inSpans = spans.has(event.composedPath()[0]);
    if (!inFamilies && !inSpans) return false;
    const by = steps(event, inSpans ? spans.page() : 8);
    if (by) (inFamilies ? families : state).move(by);
    else if (event.key === "ArrowRight" || (event.key === "Enter" && inFamilies)) spans.focus();
    else if (event.key === "ArrowLeft") families.focus();
    else return false;
    return true;
  };
}

// Mounts the table into a root made by `view`; returns its clean-up.
function mountTable(shown, model) {
  const state = missState(model, shown);
  const help = helpDialog([...LIST_KEYS, [["Esc"], "drop the cause, then the family"]]);
  const layout = element("div", { class: "miss" });
  const body = element("div", { class: "body" });
  const summary = mountSummary(layout, state, shown.live, [helpButton(help)]);
  layout.append(body);
  shown.root.append(layout, help.node);
  const families = mountFamilies(body, state);
  const spans = mountSpans(body, state);
  for (const part of [summary, families, spans]) state.watch(part.update);
  const lists = listKeys(state, families, spans);
  keys(shown.root, (event) => {
    if (event.key === "?") help.open();
    else return lists(event) || (event.key === "Escape" && state.clear());
    return true;
  });
  return () => {
    summary.dispose();
    spans.dispose();
  };
}

function render({ model, el }) {
  const shown = view(el, "miss-table");
  shown.onDispose(mountTable(shown, model));
  return shown.dispose;
}

export default { render };

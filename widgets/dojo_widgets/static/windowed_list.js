// A listbox of one-line rows of which only those in sight are in the page.

import { scrollToRow, visibleRange } from "./grid_layout.js";
import { element } from "./dom.js";

let lists = 0;

// Ids in the page must differ between lists, also of two widgets that bring their own copy of this module.
function uniquePrefix() {
  lists += 1;
  return `list${lists}-${Math.random().toString(36).slice(2, 8)}`;
}

// Returns { node, show(rows, selected, active), focus(), hasFocus() }. Rows are objects with an `id`. The active row is
// the one keys start from, which need not be selected.
//   label       name of the list for screen readers
//   rowHeight   height of every row in pixels
//   cells(row)  what stands in a row
//   words(row)  title of a row: what it says in full
//   onPick(id)  called on a click
export function windowedList({ label, rowHeight, cells, words, onPick }) {
  const prefix = uniquePrefix();
  const inner = element("div", { class: "window", role: "presentation" });
  const node = element("div", { class: "rows scrolls", role: "listbox", tabindex: 0, "aria-label": label }, inner);
  let rows = [];
  let selected = "";
  let active = "";

  const row = (at) => {
    const one = rows[at];
    return element(
      "div",
      {
        class: one.id === active && active !== selected ? "row active" : "row",
        role: "option",
        id: `${prefix}-${at}`,
        style: `top:${at * rowHeight}px;height:${rowHeight}px`,
        title: words(one),
        "aria-selected": String(one.id === selected),
        "aria-setsize": rows.length,
        "aria-posinset": at + 1,
      },
      cells(one),
    );
  };

  const draw = () => {
    const { from, to } = visibleRange(node.scrollTop, node.clientHeight, rowHeight, rows.length);
    const at = rows.findIndex((one) => one.id === active);
    const drawn = Array.from({ length: to - from }, (_, index) => from + index);
    // The active row stays in the page, out of sight too, because the list names it.
    if (at >= 0 && (at < from || at >= to)) drawn.push(at);
    inner.replaceChildren(...drawn.map(row));
    if (at < 0) node.removeAttribute("aria-activedescendant");
    else node.setAttribute("aria-activedescendant", `${prefix}-${at}`);
  };

  const reveal = () => {
    const at = rows.findIndex((one) => one.id === active);
    if (at >= 0) node.scrollTop = scrollToRow(at, node.scrollTop, node.clientHeight, rowHeight);
  };

  const pick = (event) => {
    const at = Math.floor((event.clientY - inner.getBoundingClientRect().top) / rowHeight);
    const one =
      event.detail === 0
        ? rows.find((_, index) => `${prefix}-${index}` === event.target.closest("[role=option]")?.id)
        : rows[at];
    if (one) onPick(one.id);
  };
  // When pressed, not when released: leaving a field draws the rows anew, and a row that is gone gets no click.
  inner.addEventListener("mousedown", (event) => {
    if (event.button !== 0) return;
    pick(event);
    // A list that what was picked has taken the place of must not take the focus from it.
    if (!node.offsetParent) event.preventDefault();
  });
  // A click without a pointer comes from assistive software.
  inner.addEventListener("click", (event) => event.detail === 0 && pick(event));
  node.addEventListener("scroll", draw, { passive: true });
  const watch = new ResizeObserver(() => {
    reveal();
    draw();
  });
  watch.observe(node);

  return {
    node,
    show: (next, id, at = id) => {
      rows = next;
      selected = id;
      active = at;
      inner.style.height = `${rows.length * rowHeight}px`;
      reveal();
      draw();
    },
    focus: () => node.focus({ preventScroll: true }),
    hasFocus: () => node.contains(node.getRootNode().activeElement),
    dispose: () => watch.disconnect(),
  };
}

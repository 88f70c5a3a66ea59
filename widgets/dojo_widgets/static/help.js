// The keys of a widget, in a dialog of its own.

import { element } from "./dom.js";

// rows: [[keys], words]. Returns { node, open(), isOpen() }.
export function helpDialog(rows) {
  const close = element("button", { class: "button", type: "button", on: { click: () => node.close() } }, "Close");
  const cells = ([names, words]) =>
    element(
      "tr",
      {},
      element(
        "td",
        {},
        names.map((name) => [element("kbd", {}, name), " "]),
      ),
      element("td", {}, words),
    );
  const node = element(
    "dialog",
    { class: "help", "aria-label": "Keys" },
    element("p", { class: "title" }, "Keys"),
    element("table", {}, element("tbody", {}, rows.map(cells))),
    close,
  );
  // Escape closes the dialog; nothing behind it may hear the key.
  node.addEventListener("keydown", (event) => event.stopPropagation());
  node.addEventListener("click", (event) => {
    if (event.target === node) node.close();
  });
  return { node, open: () => node.showModal() };
}

export function helpButton(dialog) {
  return element(
    "button",
    { class: "button quiet", type: "button", title: "Keys (?)", "aria-label": "Keys", on: { click: dialog.open } },
    "?",
  );
}

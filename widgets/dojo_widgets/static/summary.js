// The strip on top: what was expected, what was matched, and what the rest is put down to. It adds up.

import { causeColour, causeCounts, causeName, causeSays } from "./causes.js";
import { element } from "./dom.js";
import { count, fixed, UNKNOWN, whole } from "./numbers.js";
import { measureWords } from "./span_rows.js";

// Draws into `host`; `actions` are buttons at the right end. Returns { update() }.
export function mountSummary(host, state, speak, actions = []) {
  const panel = element("section", { class: "panel strip", "aria-label": "Balance of expected spans" });
  const notes = element("div", { class: "notes soft scrolls", role: "group", "aria-label": "Notes" });
  let drawn = null;
  let chips = [];
  let explained = null;

  // A cause that cannot be told says why in place of the notes; asked again, the notes come back.
  const explain = (cause) => {
    explained = explained === cause ? null : cause;
    drawNotes();
    if (explained) speak(notes.textContent);
  };

  const drawNotes = () => {
    const table = state.table();
    const lines = explained ? [`${causeName(table, explained)}: ${table.untestable[explained]}`] : table.notes;
    notes.replaceChildren(element("p", {}, lines.join(" \u00b7 ")));
    notes.hidden = !lines.length;
    for (const node of panel.querySelectorAll(".untestable")) {
      node.setAttribute("aria-pressed", String(node.dataset.cause === explained));
    }
    fit();
  };

  // What scrolls must be reachable with the keyboard.
  const fit = () => {
    if (notes.scrollHeight > notes.clientHeight + 1) notes.tabIndex = 0;
    else notes.removeAttribute("tabindex");
  };

  const draw = () => {
    const table = state.table();
    chips = chipsOf(table, state);
    explained = null;
    panel.replaceChildren(
      element(
        "div",
        { class: "sum" },
        equation(table),
        bar(table),
        recall(table.recall),
        actions.length > 0 && element("span", { class: "actions" }, actions),
      ),
      element(
        "div",
        { class: "chips" },
        element(
          "div",
          { class: "chip-list", role: "group", "aria-label": "Show by cause" },
          chips.map(({ node }) => node),
          Object.keys(table.untestable).map((cause) => untestable(table, cause, explain)),
        ),
        notes,
      ),
    );
    drawNotes();
  };

  const update = () => {
    if (drawn !== state.table()) {
      drawn = state.table();
      draw();
    }
    const choice = state.choice();
    for (const chip of chips) chip.node.setAttribute("aria-pressed", String(chip.isOn(choice)));
  };

  const watch = new ResizeObserver(fit);
  watch.observe(notes);
  host.append(panel);
  update();
  return { update, dispose: () => watch.disconnect() };
}

function equation(table) {
  const { matched = 0, near = 0, taken = 0 } = table.counts;
  const missed = table.expected - matched;
  const parts = [near && `${whole(near)} near`, taken && `${whole(taken)} taken by another label`].filter(Boolean);
  const says = parts.length ? `${parts.join(", ")} of ${count(missed, "missed span")}; ` : "";
  const rule = `${table.field}, ${measureWords(table.measure)} from ${fixed(table.threshold)}`;
  return element(
    "p",
    { class: "equation", title: says + rule },
    element("b", {}, `${whole(table.expected)} expected`),
    ` = ${whole(matched)} matched + ${whole(missed)} missed`,
    parts.length > 0 && element("span", { class: "soft parts" }, ` (${parts.join(", ")})`),
    element("span", { class: "soft rule" }, ` \u00b7 ${rule}`),
  );
}

function bar(table) {
  const parts = partsOf(table);
  const says = parts.map(({ name, n }) => `${name} ${n}`).join(", ");
  return element(
    "div",
    { class: "balance", role: "img", "aria-label": says || "nothing expected" },
    parts.map(({ name, n, colour }) =>
      element("i", { style: `flex:${n};background:${colour}`, title: `${name} ${whole(n)}` }),
    ),
  );
}

function partsOf(table) {
  const matched = { name: "matched", n: table.counts.matched || 0, colour: "var(--matched)" };
  const causes = causeCounts(table).map(({ cause, n }) => ({
    name: causeName(table, cause),
    n,
    colour: causeColour(cause),
  }));
  return [matched, ...causes].filter(({ n }) => n);
}

function recall({ value, lo, hi, n }) {
  if (value == null)
    return element(
      "p",
      { class: "recall", title: "No span was expected, so nothing could be found" },
      `recall ${UNKNOWN}`,
    );
  const interval = lo == null ? "" : ` [${fixed(lo, 3)}, ${fixed(hi, 3)}]`;
  const scope = "95 % interval, documents resampled: it covers the choice of documents only";
  return element(
    "p",
    { class: "recall", title: interval ? scope : "Too few documents for an interval" },
    "recall ",
    element("b", {}, fixed(value, 3)),
    element("span", { class: "soft" }, `${interval} n ${whole(n)}`),
  );
}

function chipsOf(table, state) {
  const matched = {
    node: chip("matched", table.counts.matched || 0, "var(--matched)", "Show the matched spans", () =>
      state.choose({ show: state.choice().show === "matched" ? "missed" : "matched" }),
    ),
    isOn: ({ show }) => show === "matched",
  };
  const causes = causeCounts(table).map(({ cause, n }) => ({
    node: chip(causeName(table, cause), n, causeColour(cause), causeSays(table, cause), () =>
      state.choose({ cause: state.choice().cause === cause ? "" : cause }),
    ),
    isOn: (choice) => choice.cause === cause,
  }));
  return [matched, ...causes];
}

function chip(name, n, colour, says, click) {
  return element(
    "button",
    { class: "chip", type: "button", "aria-pressed": "false", title: `${says}: ${count(n, "span")}`, on: { click } },
    element("i", { class: "swatch", style: `background:${colour}` }),
    name,
    " ",
    element("b", {}, whole(n)),
  );
}

function untestable(table, cause, explain) {
  return element(
    "button",
    {
      class: "chip untestable",
      type: "button",
      "data-cause": cause,
      "aria-pressed": "false",
      title: `cannot be told: ${table.untestable[cause]}`,
      on: { click: () => explain(cause) },
    },
    causeName(table, cause),
    element("span", { class: "unseen" }, " cannot be told here: why"),
  );
}

// The families with their bars: a list in which one family, or all of them, is selected.

import { drawing, element } from "./dom.js";
import { barOf, familiesSay, FILTER_FROM, keptFamilies, overallRate, sortedFamilies } from "./families.js";
import { count, percent, whole } from "./numbers.js";

const COLUMNS = [
  { by: "name", words: "family", natural: "asc" },
  { by: "count", words: "m / n", natural: "desc" },
  { by: "rate", words: "rate", natural: "desc" },
];
const STICKY = 53;

// Draws into `host`. Returns { update(), move(steps), focus(), has(node) }.
export function mountFamilies(host, state) {
  const heads = COLUMNS.map((column) => headOf(column, state));
  const measured = element("span", { class: "measured" });
  const options = element("div", { role: "listbox", "aria-label": "Families, missed of expected spans" });
  const says = element("p", { class: "foot soft" });
  const filter = element("input", { class: "field", type: "search", "aria-label": "Filter families" });
  const scroller = element(
    "div",
    { class: "family-scroll scrolls" },
    element("div", { class: "family-grid family-head" }, heads[0].node, measured, heads[1].node, heads[2].node),
    options,
    says,
  );
  const panel = element("section", { class: "panel families", "aria-label": "Families" }, filter, scroller);
  let drawn = {};
  let nodes = [];

  const draw = () => {
    const table = state.table();
    const kept = keptFamilies(table.families, filter.value);
    const { ranked, unranked } = sortedFamilies(kept, state.choice().family_sort);
    const scale = {
      byRate: state.sortOf("family_sort").by === "rate",
      largest: Math.max(1, ...table.families.map((family) => family.expected)),
      rate: overallRate(table.families),
    };
    const option = (family) => optionOf(family, scale, state);
    const all = allOption(table, scale, state);
    const groups = [ranked.map(option), unranked.map(option)];
    nodes = [all, ...groups.flat()];
    measured.textContent = scale.byRate ? "share missed" : "missed";
    panel.style.setProperty("--counts", `${Math.max(48, 1 + 7.3 * (2 * whole(table.expected).length + 1))}px`);
    filter.hidden = table.families.length <= FILTER_FROM;
    filter.placeholder = `filter ${count(table.families.length, "family", "families")}`;
    options.replaceChildren(
      all,
      ...(groups[0].length ? [group("Families", groups[0])] : []),
      ...(groups[1].length ? [group("Too few spans to rank", groups[1], "n < 5: too few to rank")] : []),
    );
    says.textContent =
      kept.length || !table.families.length ? familiesSay(table.families) : "No family has these words in its name.";
  };

  const update = () => {
    const { family, family_sort: sort } = state.choice();
    const hadFocus = options.contains(options.getRootNode().activeElement);
    if (drawn.table !== state.table()) filter.value = "";
    if (drawn.table !== state.table() || drawn.sort !== sort) draw();
    for (const head of heads) head.update();
    const selected = nodes.find((node) => node.dataset.family === family);
    for (const node of nodes) {
      node.setAttribute("aria-selected", String(node === selected));
      node.tabIndex = node === (selected || nodes[0]) ? 0 : -1;
    }
    if (selected && drawn.family !== family) bringIntoSight(scroller, selected);
    if (hadFocus) selected?.focus({ preventScroll: true });
    drawn = { table: state.table(), sort, family };
  };

  const move = (steps) => {
    const at = nodes.findIndex((node) => node.tabIndex === 0);
    const next = nodes[Math.max(0, Math.min(nodes.length - 1, at + steps))];
    if (!next || next === nodes[at]) return;
    next.focus({ preventScroll: true });
    state.choose({ family: next.dataset.family });
  };

  filter.addEventListener("input", () => {
    draw();
    drawn.family = null;
    update();
  });
  host.append(panel);
  update();
  return {
    update,
    move,
    focus: () => nodes.find((node) => node.tabIndex === 0)?.focus({ preventScroll: true }),
    has: (node) => options.contains(node),
  };
}

function headOf({ by, words, natural }, state) {
  const node = element("button", {
    type: "button",
    class: by === "name" ? null : "number",
    on: { click: () => state.sortBy("family_sort", by, natural) },
  });
  const update = () => {
    const sort = state.sortOf("family_sort");
    const isSorted = sort.by === by;
    node.textContent = words + (isSorted ? (sort.down ? " \u25be" : " \u25b4") : "");
    node.setAttribute("aria-pressed", String(isSorted));
    node.title = `Sort by ${by === "count" ? "missed spans" : by}`;
  };
  return { node, update };
}

function group(name, options, heading) {
  return element(
    "div",
    { role: "group", "aria-label": name },
    heading && element("div", { class: "group-head soft", "aria-hidden": "true" }, heading),
    options,
  );
}

function optionOf(family, scale, state) {
  const { category, short, expected, unmatched, rate, lo, hi, ranked } = family;
  const sure = `${percent(rate)} [${percent(lo)}, ${percent(hi)}]`;
  const doubt = ranked ? "" : ". Too few spans to rank.";
  const title = `${category}: ${whole(unmatched)} of ${whole(expected)} missed, ${sure}${doubt}`;
  const isOn = () => state.choice().family === category;
  const click = () => state.choose({ family: isOn() ? "" : category });
  return row(category, { title, class: ranked ? null : "few", click }, [
    short,
    barDrawing(barOf(family, scale.byRate, scale.largest), scale.byRate ? scale.rate : null),
    `${whole(unmatched)}/${whole(expected)}`,
    percent(rate),
  ]);
}

function allOption(table, scale, state) {
  const missed = table.expected - (table.counts.matched || 0);
  const share = scale.rate == null ? null : element("span", { class: "soft" }, "average");
  const bar =
    scale.byRate && scale.rate != null
      ? barDrawing({ track: 1, value: scale.rate, lo: null, hi: null }, null, "var(--ink-faint)")
      : share;
  const title = `All families: ${whole(missed)} of ${whole(table.expected)} missed, ${percent(scale.rate)}`;
  return row("", { title, class: "all", click: () => state.choose({ family: "" }) }, [
    "All families",
    bar,
    `${whole(missed)}/${whole(table.expected)}`,
    percent(scale.rate),
  ]);
}

function row(category, { title, class: name, click }, [words, bar, counts, rate]) {
  return element(
    "div",
    {
      class: ["family-grid family", name].filter(Boolean).join(" "),
      role: "option",
      title,
      "data-family": category,
      "aria-selected": "false",
      tabindex: -1,
      on: { click },
    },
    element("span", { class: "name" }, words),
    element("span", { class: "bar" }, bar),
    " ",
    element("span", { class: "number" }, counts),
    " ",
    element("span", { class: "number rate" }, rate),
  );
}

function barDrawing({ track, value, lo, hi }, average, fill = "var(--missed)") {
  const at = (share) => `${100 * share}%`;
  const line = (x1, x2, y1, y2, attributes) => drawing("line", { x1: at(x1), x2: at(x2), y1, y2, ...attributes });
  const whisker = { class: "whisker" };
  return drawing(
    "svg",
    { "aria-hidden": "true" },
    drawing("rect", { class: "track", x: 0, y: 3, width: at(track), height: 10 }),
    value > 0 && drawing("rect", { x: 0, y: 3, width: at(value), height: 10, fill }),
    average != null && line(average, average, -4, 20, { class: "average" }),
    lo != null && [line(lo, hi, 8, 8, whisker), line(lo, lo, 5, 11, whisker), line(hi, hi, 5, 11, whisker)],
  );
}

function bringIntoSight(scroller, node) {
  const box = scroller.getBoundingClientRect();
  const own = node.getBoundingClientRect();
  if (own.top < box.top + STICKY) scroller.scrollTop -= box.top + STICKY - own.top;
  else if (own.bottom > box.bottom) scroller.scrollTop += own.bottom - box.bottom;
}

// A listbox of changes: one row each with its point, interval and rerun band on an axis that all rows share.

import { drawing, element } from "./dom.js";
import { drawn, position, signed, tickText, verdictMark } from "./delta_forest_layout.js";

const ROW_HEIGHT = 26;
const MIDDLE = ROW_HEIGHT / 2;
const DOT = { usual: 4.5, chief: 6 };

let lists = 0;

// Ids in the page must differ between lists, also of two widgets that bring their own copy of this module.
function uniquePrefix() {
  lists += 1;
  return `forest${lists}-${Math.random().toString(36).slice(2, 8)}`;
}

// Returns { node, show(view), focus(), hasFocus() }.
//   label          name of the list for screen readers
//   heads          [{ by, words, class }]: the headings of the columns; `by` sorts, "plot" is that of the axis
//   cells(row)     what stands in the columns but the axis: [before, after]
//   onPick(id)     a row was chosen
//   onSort(by)     a heading was chosen
// `view` is { groups: [{ group, rows, axis, note, title }], selected, sort, ways: [left, right], note }; a row has `id`,
// `title`, `verdict`, `chief` for the one that counts most, and what `drawn` reads. Cells say in words what the axis
// shows; `unseen` adds what only screen readers need.
export function forestList({ label, heads, cells, onPick, onSort }) {
  const prefix = uniquePrefix();
  const head = element("div", { class: "forest-row forest-head" });
  const list = element("div", { class: "forest-rows", role: "listbox", tabindex: 0, "aria-label": label });
  const notes = element("p", { class: "notes soft" });
  const scroll = element("div", { class: "forest-scroll scrolls" }, list, notes);
  const node = element("div", { class: "forest" }, head, scroll);

  list.addEventListener("click", (event) => {
    const row = event.target.closest("[role=option]");
    if (row) onPick(row.dataset.id);
  });

  const show = ({ groups, selected, sort, ways, note = "" }) => {
    notes.textContent = note;
    notes.hidden = !note;
    if (!groups.length) return;
    const { axis } = groups[0];
    head.replaceChildren(...heads.map((one) => heading(one, { axis, sort, ways, onSort })));
    let n = 0;
    const row = (one, own) =>
      optionRow(one, { axis: own, cells, id: `${prefix}-${(n += 1)}`, isSelected: one.id === selected });
    const scrolled = scroll.scrollTop;
    list.replaceChildren(
      ...groups.flatMap((one) =>
        groupOf(
          one,
          one.axis === axis ? null : one.axis,
          one.rows.map((each) => row(each, one.axis)),
        ),
      ),
    );
    scroll.scrollTop = scrolled;
    const chosen = list.querySelector("[aria-selected=true]");
    if (chosen) {
      list.setAttribute("aria-activedescendant", chosen.id);
      reveal(scroll, chosen);
    } else list.removeAttribute("aria-activedescendant");
  };
  return {
    node,
    show,
    focus: () => list.focus({ preventScroll: true }),
    hasFocus: () => list.getRootNode().activeElement === list,
  };
}

// Moved as little as possible; never the page around the list, as scrollIntoView would.
function reveal(scroll, row) {
  const [box, at] = [scroll.getBoundingClientRect(), row.getBoundingClientRect()];
  const bottom = box.top + scroll.clientHeight;
  if (at.top < box.top) scroll.scrollTop -= box.top - at.top;
  else if (at.bottom > bottom) scroll.scrollTop += at.bottom - bottom;
}

// `ownAxis` is that of a group which is drawn to another scale than the head says.
function groupOf({ group, note = "", title = "" }, ownAxis, rows) {
  if (!group) return rows;
  const words = element("span", { class: "forest-words", title: title || null }, element("b", {}, group), ` ${note}`);
  const ticks = ownAxis ? element("span", { class: "forest-cell plot" }, drawing("svg", {}, ticksOf(ownAxis, 16))) : null;
  const kind = `forest-group${ownAxis ? " forest-row" : ""}`;
  return element(
    "div",
    { role: "group", "aria-label": group },
    element("div", { class: kind, "aria-hidden": "true" }, words, ticks),
    rows,
  );
}

function heading({ by, words, kind }, { axis, sort, ways, onSort }) {
  if (by === "plot") return axisHead(axis, ways);
  if (!by) return element("span", { class: `forest-cell ${kind}` }, words);
  const isDown = sort === `-${by}`;
  const isSorted = isDown || sort === by;
  const arrow = isSorted ? (isDown ? " \u2191" : " \u2193") : "";
  const said = isSorted ? (isDown ? `${words}, sorted the other way` : `${words}, sorted`) : `sort by ${words}`;
  const button = element(
    "button",
    { type: "button", class: isSorted ? "sorted" : null, "aria-label": said, on: { click: () => onSort(by) } },
    words,
    arrow,
  );
  return element("span", { class: `forest-cell ${kind}` }, button);
}

function axisHead(axis, [left, right]) {
  return element(
    "span",
    { class: "forest-cell plot" },
    drawing(
      "svg",
      { class: "axis", role: "img", "aria-label": `axis: ${left} at the left of 0, ${right} at the right` },
      drawing("text", { class: "way left", x: "48%", y: 12 }, `\u2190 ${left}`),
      drawing("text", { class: "way right", x: "52%", y: 12 }, `${right} \u2192`),
      ticksOf(axis, 30),
    ),
  );
}

function ticksOf(axis, y) {
  const outer = axis.ticks.at(-1);
  const kind = (tick) => (tick === 0 || Math.abs(tick) === outer ? "tick" : "tick inner");
  return axis.ticks.map((tick) =>
    drawing("text", { class: kind(tick), x: `${position(tick, axis)}%`, y }, tickText(tick)),
  );
}

function optionRow(row, { axis, cells, id, isSelected }) {
  const [before, after] = cells(row);
  return element(
    "div",
    {
      class: `forest-row ${verdictMark(row.verdict).kind}${row.chief ? " chief" : ""}`,
      role: "option",
      id,
      "data-id": row.id,
      "aria-selected": String(isSelected),
      title: row.title,
    },
    before,
    plot(row, axis),
    after,
  );
}

function plot(row, axis) {
  const { point, interval, cut, zone, single } = drawn(row, axis);
  const kind = `forest-cell plot${row.band == null ? " unknown-band" : ""}`;
  return element(
    "span",
    { class: kind, "aria-hidden": "true" },
    drawing(
      "svg",
      {},
      zone ? zoneOf(zone) : null,
      axis.ticks.map((tick) => upright(position(tick, axis), tick === 0 ? "zero" : "grid-line", 0, ROW_HEIGHT)),
      single.map((x) => upright(x, "single", ROW_HEIGHT - 8, ROW_HEIGHT)),
      interval ? intervalOf(interval, cut) : null,
      [cut.left && beyond(0), cut.right && beyond(100)],
      point == null ? null : dotOf(point, row.chief),
      row.delta == null ? drawing("text", { class: "none", x: "50%", y: MIDDLE + 4 }, signed(null)) : null,
    ),
  );
}

function zoneOf({ from, to }) {
  return [
    drawing("rect", { class: "zone", x: `${from}%`, y: 0, width: `${to - from}%`, height: ROW_HEIGHT }),
    upright(from, "zone-edge", 0, ROW_HEIGHT),
    upright(to, "zone-edge", 0, ROW_HEIGHT),
  ];
}

function upright(x, kind, from, to) {
  return drawing("line", { class: kind, x1: `${x}%`, x2: `${x}%`, y1: from, y2: to });
}

function intervalOf({ from, to }, cut) {
  return [
    drawing("line", { class: "interval", x1: `${from}%`, x2: `${to}%`, y1: MIDDLE, y2: MIDDLE }),
    cut.left ? null : upright(from, "interval", MIDDLE - 4, MIDDLE + 4),
    cut.right ? null : upright(to, "interval", MIDDLE - 4, MIDDLE + 4),
  ];
}

// The arrow of an interval that goes on beyond the axis.
function beyond(x) {
  const points = x ? `-7,${MIDDLE - 4} 0,${MIDDLE} -7,${MIDDLE + 4}` : `7,${MIDDLE - 4} 0,${MIDDLE} 7,${MIDDLE + 4}`;
  return drawing("svg", { x: `${x}%`, overflow: "visible" }, drawing("polygon", { class: "beyond", points }));
}

function dotOf(x, isChief) {
  if (!isChief) return drawing("circle", { class: "dot", cx: `${x}%`, cy: MIDDLE, r: DOT.usual });
  const r = DOT.chief;
  const points = `0,${MIDDLE - r} ${r},${MIDDLE} 0,${MIDDLE + r} ${-r},${MIDDLE}`;
  return drawing("svg", { x: `${x}%`, overflow: "visible" }, drawing("polygon", { class: "dot", points }));
}

// Words that are not shown.
export function unseen(words) {
  return element("span", { class: "unseen" }, words);
}

// The verdict as its sign and its word.
export function verdictChip({ verdict, delta }) {
  const { kind, icon } = verdictMark(verdict, delta);
  return element(
    "span",
    { class: `verdict ${kind}` },
    element("span", { class: "sign", "aria-hidden": "true" }, icon),
    element("span", { class: "word" }, verdict || "no verdict"),
  );
}

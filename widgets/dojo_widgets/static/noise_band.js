// Reruns against each other: every pair on one axis beside the band of its model and documents, and what flips.
//
// `const end = mountNoise(host, model, { speak })` puts the view into a host inside a `.dojo` root; `end()` removes
// it. The model has the traits `data`, `metric`, `table`, `pair`, `detail` and `sort`.

import { bounds, grouped, idAfter, nextSort, signed, withAxes } from "./delta_forest_layout.js";
import { forestList, unseen } from "./delta_forest_list.js";
import { element, keys, put, view } from "./dom.js";
import { noiseDetail } from "./noise_band_detail.js";
import { bandWords, pairWords, rowsOfBands } from "./noise_band_facts.js";
import { count, whole } from "./numbers.js";

const HEADS = [
  { by: "name", words: "pair of reruns", kind: "name" },
  { by: "plot" },
  { by: "change", words: "difference", kind: "number change" },
  { by: "flips", words: "flips", kind: "number flips" },
  { words: "n", kind: "number n" },
];
const WAYS = ["earlier better", "later better"];
const PATIENCE = 1500;
const NOT_HERE = "This metric is not in this page. Open the reruns in a notebook to see it.";

export function mountNoise(host, model, { speak = () => {} } = {}) {
  let waiting = 0;
  const rows = () => rowsOfBands(model.get("table")?.bands ?? []);
  const chosen = () => rows().find(({ id }) => id === model.get("pair")) ?? null;
  const select = (pair) => {
    put(model, { pair: model.get("pair") === pair ? "" : pair });
    const one = chosen();
    speak(one ? pairWords(one) : "no pair selected");
  };
  const head = noiseHead({
    onMetric: (metric) => put(model, { metric }),
    onLeftOut: () => {
      put(model, { pair: "" });
      speak("pairs left out");
    },
  });
  const list = forestList({
    label: "Pairs of reruns",
    heads: HEADS,
    cells: rowCells,
    onPick: select,
    onSort: (by) => put(model, { sort: nextSort(model.get("sort"), by) }),
  });
  const nothing = element("p", { class: "empty" });
  const legend = element("div", { class: "foot soft" }, legendParts());
  const panel = element(
    "section",
    { class: "panel changes", "aria-label": "Pairs of reruns" },
    head.node,
    list.node,
    nothing,
    legend,
  );
  const detail = noiseDetail({
    onClose: () => {
      select(model.get("pair"));
      list.focus();
    },
    speak,
  });
  const root = element("div", { class: "forest-view" }, panel, detail.node);
  const order = () => grouped(rows(), model.get("sort"));

  const draw = () => {
    clearTimeout(waiting);
    const [data, table, metric] = [model.get("data"), model.get("table") ?? {}, model.get("metric")];
    const isHere = table.metric === metric;
    head.show({ data, table: isHere ? table : null, metric });
    const found = isHere ? order() : [];
    const all = found.flatMap((group) => group.rows);
    list.node.hidden = !all.length;
    legend.hidden = !all.length;
    nothing.hidden = all.length > 0;
    nothing.replaceChildren(...emptyWords(isHere));
    if (!isHere) waiting = setTimeout(() => (nothing.textContent = NOT_HERE), PATIENCE);
    list.show({
      groups: withAxes(found, ({ band }) => band != null).map((group) => ({ ...group, ...noteOf(group.rows[0]) })),
      selected: model.get("pair"),
      sort: model.get("sort"),
      ways: WAYS,
      note: data.notes.map((note) => `${note}.`).join(" "),
    });
    onDetail();
  };
  const onDetail = () => detail.show({ data: model.get("data"), pair: chosen(), detail: model.get("detail") });
  const listeners = [
    ["change:data", draw],
    ["change:table", draw],
    ["change:metric", draw],
    ["change:sort", draw],
    ["change:pair", draw],
    ["change:detail", onDetail],
  ];
  for (const [event, run] of listeners) model.on(event, run);

  keys(root, ({ key }) => {
    if (key === "Escape") {
      if (!chosen()) return false;
      if (detail.hasFocus()) list.focus();
      else select(model.get("pair"));
      return true;
    }
    if (detail.key(key)) return true;
    if (!list.hasFocus()) return false;
    if (key === "Enter" && chosen()) {
      detail.focus();
      return true;
    }
    const ids = order().flatMap((group) => group.rows.map(({ id }) => id));
    const next = idAfter(key === "Enter" ? "Home" : key, ids, model.get("pair"));
    if (next && next !== model.get("pair")) select(next);
    return Boolean(next);
  });

  host.append(root);
  draw();
  return () => {
    clearTimeout(waiting);
    for (const [event, run] of listeners) model.off(event, run);
    detail.dispose();
    root.remove();
  };
}

function noteOf({ known }) {
  return { note: bandWords(known), title: known.reason };
}

function emptyWords(isHere) {
  if (!isHere) return ["reading the pairs \u2026"];
  return [
    element("b", {}, "There are no reruns to show."),
    " Run the same prompt, model and settings again on the same documents: three reruns beyond the first give a band.",
    " What looks like a rerun and is none is listed beside.",
  ];
}

function rowCells(row) {
  const change = [
    unseen("difference "),
    element("span", { class: "value" }, signed(row.delta)),
    element("span", { class: "interval soft" }, ` ${bounds(row)}`),
  ];
  return [
    element("span", { class: "forest-cell name" }, row.name, element("span", { class: "soft prompt" }, ` ${row.prompt}`)),
    [
      element("span", { class: "forest-cell number change" }, change),
      element("span", { class: "forest-cell number flips" }, unseen("flips "), whole(row.flips)),
      element("span", { class: "forest-cell number n soft" }, unseen("n "), whole(row.n), unseen(` ${bandWords(row.known)}`)),
    ],
  ];
}

function noiseHead({ onMetric, onLeftOut }) {
  const title = element("h3", { class: "title" });
  const conclusion = element("p", { class: "conclusion" });
  const choice = element("select", {
    class: "field",
    "aria-label": "Metric",
    on: { change: () => onMetric(choice.value) },
  });
  const leftOut = element("button", { class: "button quiet", type: "button", on: { click: onLeftOut } });
  const chooser = element("div", { class: "chooser" }, choice, leftOut);
  const node = element("div", { class: "forest-top" }, title, conclusion, chooser);
  let listed = null;
  const show = ({ data, table, metric }) => {
    title.textContent = table?.finding ?? "";
    conclusion.textContent = table?.conclusion ?? "";
    choice.hidden = data.metrics.length < 2;
    leftOut.hidden = !data.excluded.length;
    leftOut.textContent = `${count(data.excluded.length, "pair")} left out`;
    if (listed !== data.metrics) {
      listed = data.metrics;
      choice.replaceChildren(...listed.map(({ name, label }) => element("option", { value: name }, label)));
    }
    choice.value = metric;
  };
  return { node, show };
}

function legendParts() {
  const key = (kind, words) =>
    element("span", { class: "legend" }, element("i", { class: `key ${kind}`, "aria-hidden": "true" }), words);
  return [
    key("line", "later run less earlier one"),
    key("zone", "band: changes inside may be noise"),
    key("unknown-band", "fewer than 3 reruns: band unknown"),
  ];
}

function render({ model, el }) {
  const { root, live, dispose } = view(el, "noise-band");
  const end = mountNoise(root, model, { speak: live });
  return () => {
    end();
    dispose();
  };
}

export default { render };

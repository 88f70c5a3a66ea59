// What changed from run A to run B, metric by metric, against the noise of reruns; and the documents behind a change.
//
// `const end = mountForest(host, model, { speak })` puts the view into a host inside a `.dojo` root; `end()` removes
// it. The model has the traits `data`, `metric`, `detail`, `document` and `sort`.

import { changeDetail } from "./delta_forest_detail.js";
import { bandText, changeText } from "./delta_forest_facts.js";
import { bounds, grouped, idAfter, nextSort, signed, withAxes } from "./delta_forest_layout.js";
import { forestList, unseen, verdictChip } from "./delta_forest_list.js";
import { element, keys, put, view } from "./dom.js";
import { whole } from "./numbers.js";

const HEADS = [
  { by: "name", words: "metric", kind: "name" },
  { by: "plot" },
  { by: "change", words: "change", kind: "number change" },
  { by: "verdict", words: "verdict", kind: "judged" },
  { words: "n", kind: "number n" },
];
const WAYS = ["A better", "B better"];

export function mountForest(host, model, { speak = () => {} } = {}) {
  const select = (metric) => {
    put(model, { metric: model.get("metric") === metric ? "" : metric, document: "" });
    const one = chosen();
    speak(one ? rowWords(one) : "no metric selected");
  };
  const chosen = () => model.get("data").metrics.find(({ name }) => name === model.get("metric")) ?? null;
  const head = forestHead();
  const list = forestList({
    label: "Metrics",
    heads: HEADS,
    cells: rowCells,
    onPick: select,
    onSort: (by) => put(model, { sort: nextSort(model.get("sort"), by) }),
  });
  const detail = changeDetail({
    onDocument: (document) => put(model, { document }),
    onClose: () => {
      select(model.get("metric"));
      list.focus();
    },
    python: () => pythonOf(model.get("data"), model.get("metric")),
    speak,
  });
  const legend = element("div", { class: "foot soft" });
  const panel = element(
    "section",
    { class: "panel changes", "aria-label": "Changes from A to B" },
    head.node,
    list.node,
    legend,
  );
  const root = element("div", { class: "forest-view" }, panel, detail.node);
  const order = () => grouped(rowsOf(model.get("data")), model.get("sort"));

  const draw = () => {
    const data = model.get("data");
    const groups = order();
    // What stands above and below must be in place before the selected row can be brought into sight.
    head.show(data);
    legend.replaceChildren(...legendParts(data));
    list.show({
      groups: withAxes(groups, ({ chief }) => chief),
      selected: model.get("metric"),
      sort: model.get("sort"),
      ways: WAYS,
      note: data.notes.map((note) => `${note}.`).join(" "),
    });
    onDetail();
  };
  const onDetail = () =>
    detail.show({
      data: model.get("data"),
      metric: chosen(),
      detail: model.get("detail"),
      document: model.get("document"),
    });
  const listeners = [
    ["change:data", draw],
    ["change:metric", draw],
    ["change:sort", draw],
    ["change:detail", onDetail],
    ["change:document", onDetail],
  ];
  for (const [event, run] of listeners) model.on(event, run);

  keys(root, ({ key }) => {
    if (key === "Escape") return goBack();
    if (detail.key(key)) return true;
    if (!list.hasFocus()) return false;
    if (key === "Enter" && chosen()) {
      detail.focus();
      return true;
    }
    const ids = order().flatMap((group) => group.rows.map(({ id }) => id));
    const next = idAfter(key === "Enter" ? "Home" : key, ids, model.get("metric"));
    if (next && next !== model.get("metric")) select(next);
    return Boolean(next);
  });
  // Esc goes back one step: from the documents to the metrics, then it clears the selection.
  function goBack() {
    if (!chosen()) return false;
    if (detail.hasFocus()) list.focus();
    else select(model.get("metric"));
    return true;
  }

  host.append(root);
  draw();
  return () => {
    for (const [event, run] of listeners) model.off(event, run);
    detail.dispose();
    root.remove();
  };
}

// A metric as a row of the list.
function rowsOf({ metrics, headline }) {
  return metrics.map((metric) => ({
    ...metric,
    id: metric.name,
    name: metric.label,
    band: metric.band?.value ?? null,
    known: metric.band,
    single: metric.verdict === "rerun" ? [] : metric.band?.deltas,
    scale: metric.kind === "class" ? "classes" : "metrics",
    chief: metric.name === headline,
    title: `${metric.label}: ${metric.reason}`,
  }));
}

function rowWords(metric) {
  const { label, verdict, n, band } = metric;
  return `${label}: change ${changeText(metric)}, ${verdict}, n ${whole(n)}${bandSaid({ known: band })}`;
}

function bandSaid({ known }) {
  return known ? ` rerun band ${bandText(known)}` : "";
}

function rowCells(row) {
  const change = [
    unseen("change "),
    element("span", { class: "value" }, signed(row.delta)),
    element("span", { class: "interval soft" }, ` ${bounds(row)}`),
  ];
  return [
    element("span", { class: "forest-cell name" }, row.name),
    [
      element("span", { class: "forest-cell number change" }, change),
      element("span", { class: "forest-cell judged" }, verdictChip(row)),
      element("span", { class: "forest-cell number n soft" }, unseen("n "), whole(row.n), unseen(bandSaid(row))),
    ],
  ];
}

function forestHead() {
  const title = element("h3", { class: "title" });
  const runs = element("p", { class: "runs soft" });
  const conclusion = element("p", { class: "conclusion" });
  const node = element("div", { class: "forest-top" }, title, conclusion, runs);
  const run = (which, { letter, name, about }) =>
    element(
      "span",
      { class: "one-run", title: [name, about].filter(Boolean).join("\n") },
      element("b", { class: `run ${which}` }, letter),
      element("span", { class: "run-name" }, name),
    );
  const show = (data) => {
    title.textContent = data.finding;
    conclusion.textContent = data.conclusion;
    runs.replaceChildren(run("a", data.a), run("b", data.b));
  };
  return { node, show };
}

function legendParts(data) {
  const known = data.metrics.some(({ band }) => band?.value != null);
  const unknown = data.metrics.some(({ band }) => band?.value == null);
  const few = data.metrics.some(({ band, verdict }) => band?.value == null && band?.deltas.length && verdict !== "rerun");
  const key = (kind, words) =>
    element("span", { class: "legend" }, element("i", { class: `key ${kind}`, "aria-hidden": "true" }), words);
  return [
    key("line", "change with its interval"),
    known ? key("zone", "rerun noise: what two runs of one setting differ by") : null,
    unknown ? key("unknown-band", "rerun noise not known") : null,
    few ? key("single", "difference of two reruns") : null,
  ].filter(Boolean);
}

function pythonOf({ python, paired }, metric) {
  const name = JSON.stringify(metric);
  return `${python}comparison.metrics[${name}]\n${paired ? `comparison.changed(${name})\n` : ""}`;
}

function render({ model, el }) {
  const { root, live, dispose } = view(el, "delta-forest");
  const end = mountForest(root, model, { speak: live });
  return () => {
    end();
    dispose();
  };
}

export default { render };

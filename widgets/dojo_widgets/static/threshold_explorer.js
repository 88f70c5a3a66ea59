// What match threshold, rescue gate and partial-label rule change: a histogram that is the slider, the metrics before
// and after, and the spans that change side. Every place of the controls was computed before; nothing is scored here.
//
// `const end = mountThreshold(host, model, { speak })` puts the view into a host inside a `.dojo` root; `end()` removes
// it. The model has the traits `data`, `threshold`, `rescue_below`, `partial` and `span`.

import { copyButton } from "./copy_button.js";
import { element, keys, put, view } from "./dom.js";
import { flipPanel, turned } from "./flip_panel.js";
import { nearestOf } from "./histogram.js";
import { histogramSlider } from "./histogram_slider.js";
import { metricTable } from "./metric_table.js";
import { count, fixed, whole } from "./numbers.js";
import { thresholdControls } from "./threshold_controls.js";
import { baseState, flipsAt, missedIn, placeAfter, placeOf, same, stateAt, thresholdsOf } from "./threshold_states.js";

const NEAR = 0.35;
const TRAITS = ["data", "threshold", "rescue_below", "partial", "span"];

// Where the controls stand, on values that were computed.
function placeIn(model) {
  const data = model.get("data");
  const asked = placeOf(data, {
    threshold: model.get("threshold"),
    gate: model.get("rescue_below"),
    partial: model.get("partial"),
  });
  const place = { ...asked, threshold: nearestOf(thresholdsOf(data), asked.threshold) };
  return stateAt(data, place) ? place : placeOf(data, { threshold: place.threshold });
}

export function mountThreshold(host, model, { speak = () => {} } = {}) {
  if (!model.get("data")?.states?.length) return mountNothing(host);
  let note = "";

  const move = (change) => {
    const data = model.get("data");
    const before = placeIn(model);
    const after = placeAfter(data, before, change);
    note = wayGiven(before, after, change);
    put(model, { threshold: after.threshold, rescue_below: after.gate, partial: after.partial });
    draw();
    const state = missedWords(null, stateAt(data, after));
    speak([`threshold ${fixed(after.threshold)}, ${state}`, note].filter(Boolean).join(". "));
  };
  const pick = (id) => {
    put(model, { span: model.get("span") === id ? "" : id });
    const flip = flipsAt(model.get("data"), placeIn(model).threshold).find((one) => one.id === model.get("span"));
    speak(flip ? `${flip.family}, ${turned(flip)}, similarity ${fixed(flip.similarity)}` : "no span selected");
  };

  const slider = histogramSlider({ label: "Match threshold", onMove: (threshold) => move({ threshold }) });
  const controls = thresholdControls(move);
  const metrics = metricTable();
  const flips = flipPanel({ onPick: pick });
  const caption = element("p", { class: "caption" });
  const standing = element("p", { class: "note soft" });
  const reset = button("reset", () => move(placeOf(model.get("data"), {})));
  const python = () => pythonOf(model.get("data"), placeIn(model));
  const copy = copyButton({ words: "Copy Python", text: python, said: () => "Python copied", speak });
  const root = layout({ caption, standing, reset, copy, slider, controls, metrics, flips });

  const draw = () => {
    const data = model.get("data");
    const place = placeIn(model);
    const [state, base] = [stateAt(data, place), baseState(data)];
    const { threshold } = place;
    caption.replaceChildren(
      element("b", {}, `Match threshold ${fixed(threshold)}`),
      ` \u00b7 ${missedWords(base, state)}`,
    );
    reset.style.visibility = isMoved(data, place) ? "visible" : "hidden";
    slider.show({
      histogram: data.histogram,
      values: thresholdsOf(data),
      threshold,
      before: data.base.threshold,
      near: data.near ?? NEAR,
      words: missedWords(null, state),
    });
    controls.show(data, place);
    metrics.show(base, state, headings(data, place));
    standing.textContent = note || standingNote(data, base);
    const listed = same(place.gate, data.base.rescue_below ?? null) ? flipsAt(data, threshold) : [];
    const n = state?.flips ?? listed.length;
    flips.show({ flips: listed, n, threshold, before: data.base.threshold, selected: model.get("span") });
  };

  keys(root, ({ key }) => {
    const onSlider = slider.node === root.getRootNode().activeElement;
    if (onSlider || key === "[" || key === "]") return slider.key(key);
    return flips.hasFocus() && flips.key(key);
  });
  for (const trait of TRAITS) model.on(`change:${trait}`, draw);
  host.append(root);
  draw();
  return () => {
    for (const trait of TRAITS) model.off(`change:${trait}`, draw);
    slider.dispose();
    flips.dispose();
    root.remove();
  };
}

function mountNothing(host) {
  const nothing = element(
    "p",
    { class: "panel empty" },
    element("b", {}, "No threshold was tried."),
    " The field has no expected span with a predicted item beside it, so no threshold can change its score.",
  );
  host.append(nothing);
  return () => nothing.remove();
}

function button(words, onClick) {
  return element("button", { class: "button quiet", type: "button", on: { click: onClick } }, words);
}

function layout({ caption, standing, reset, copy, slider, controls, metrics, flips }) {
  const head = element("div", { class: "strip-head" }, caption, element("div", { class: "actions" }, reset, copy));
  const strip = element("section", { class: "panel strip", "aria-label": "Match threshold" }, head, slider.node);
  const scores = element(
    "section",
    { class: "panel scores", "aria-label": "Scores before and after" },
    controls.node,
    metrics.node,
    standing,
  );
  return element("div", { class: "explorer" }, strip, element("div", { class: "columns" }, scores, flips.node));
}

function isMoved(data, place) {
  const base = placeOf(data, {});
  return !same(place.threshold, base.threshold) || !same(place.gate, base.gate) || place.partial !== base.partial;
}

function missedWords(base, state) {
  const [before, after] = [missedIn(base), missedIn(state)];
  const of = state?.expected == null ? "" : ` of ${whole(state.expected)}`;
  return before == null || before === after
    ? `${whole(after)} missed${of}`
    : `${whole(before)} \u2192 ${whole(after)} missed${of}`;
}

// What gave way to a move, in words; "" when nothing did.
function wayGiven(before, after, change) {
  const said = [];
  if (!("gate" in change) && !same(before.gate, after.gate))
    said.push(`The rescue gate went back to ${fixed(after.gate)}`);
  if (!("threshold" in change) && !same(before.threshold, after.threshold))
    said.push(`The threshold went to ${fixed(after.threshold)}`);
  if (!("partial" in change) && before.partial !== after.partial)
    said.push(`The partial-label rule is ${after.partial ? "on" : "off"} again`);
  return said.length ? `${said.join(". ")}: both together were not computed.` : "";
}

// What to conclude and what not, over how many documents, and how many labels the histogram cannot show.
function standingNote(data, base) {
  const n = base?.recall?.n;
  const over = n == null ? "" : ` 95% intervals over ${count(n, "document")}.`;
  const undrawn = (base?.expected ?? 0) - data.histogram.counts.reduce((sum, one) => sum + one, 0);
  const without = undrawn > 0 ? ` ${count(undrawn, "label")} without any item not drawn.` : "";
  return `A threshold decides what counts as found, not what is.${over}${without}`;
}

function headings(data, place) {
  const at = [];
  if (!same(place.threshold, data.base.threshold)) at.push(fixed(place.threshold));
  if (!same(place.gate, data.base.rescue_below)) at.push(`gate ${fixed(place.gate)}`);
  if (place.partial !== placeOf(data, {}).partial) at.push(`partial ${place.partial ? "on" : "off"}`);
  return { before: `run, ${fixed(data.base.threshold)}`, after: at.length ? at.join(", ") : "unchanged" };
}

function pythonOf(data, { threshold }) {
  const [field, measure] = [JSON.stringify(data.field), JSON.stringify(data.measure)];
  const swept = data.python ?? `sweep_view(sweep(scored, ${field}), attribute(scored, measure=${measure}))`;
  return [
    "from dojo_kit.analysis.attribution import attribute",
    "from dojo_kit.analysis.thresholds import sweep",
    "from dojo_kit.views import sweep_view",
    "from dojo_widgets import ThresholdExplorer",
    "",
    `ThresholdExplorer(${swept}, threshold=${fixed(threshold)})`,
    "",
  ].join("\n");
}

function render({ model, el }) {
  const { root, live, dispose } = view(el, "threshold-explorer");
  const end = mountThreshold(root, model, { speak: live });
  return () => {
    end();
    dispose();
  };
}

export default { render };

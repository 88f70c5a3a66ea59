// The rescue gate and the partial-label rule; what cannot be moved says why.

import { element } from "./dom.js";
import { fixed } from "./numbers.js";
import { gatesOf, hasGates, hasPartial, nearestGate } from "./threshold_states.js";

// Returns { node, show(data, place) }; `move({ gate })` or `move({ partial })` is called for a change.
export function thresholdControls(move) {
  const gate = gateControl(move);
  const partial = partialControl(move);
  return {
    node: element("div", { class: "controls" }, gate.node, partial.node),
    show: (data, place) => {
      gate.show(data, place);
      partial.show(data, place);
    },
  };
}

function gateControl(move) {
  let gates = [];
  const onInput = (event) => move({ gate: nearestGate(gates, Number(event.target.value)) });
  const input = element("input", { type: "range", class: "gate", step: 0.01, on: { input: onInput } });
  const words = element("span", { class: "control-words" });
  const show = (data, { gate }) => {
    gates = gatesOf(data);
    input.disabled = !hasGates(data);
    if (gates.length) {
      input.min = gates[0];
      input.max = gates[gates.length - 1];
    }
    input.value = gate ?? 0;
    const reason = data.gates_note ?? "no embedder in this run";
    input.setAttribute("aria-valuetext", hasGates(data) ? fixed(gate) : reason);
    words.textContent = hasGates(data) ? `${fixed(gate)}: pairs below it may count by meaning` : reason;
  };
  const name = element("span", { class: "control-name" }, "rescue below");
  return { node: element("label", { class: "control" }, name, input, words), show };
}

function partialControl(move) {
  const choice = (on, words) =>
    element("button", { type: "button", "data-on": String(on), on: { click: () => move({ partial: on }) } }, words);
  const buttons = [choice(true, "on"), choice(false, "off")];
  const words = element("span", { class: "control-words" });
  const show = (data, { partial }) => {
    const known = hasPartial(data);
    for (const button of buttons) {
      button.disabled = !known;
      button.setAttribute("aria-pressed", String(String(partial) === button.dataset.on));
    }
    words.textContent = known ? partialWords(partial) : (data.partial_note ?? "only the run's own rule was computed");
  };
  const segments = element("span", { class: "segments", role: "group", "aria-label": "Partial-label rule" }, buttons);
  const name = element("span", { class: "control-name" }, "partial labels");
  return { node: element("div", { class: "control" }, name, segments, words), show };
}

function partialWords(on) {
  return on ? "labels are a sample: further items cost nothing" : "labels are complete: further items are errors";
}

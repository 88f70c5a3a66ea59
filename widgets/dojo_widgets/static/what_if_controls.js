// The controls of a what-if: sliders that stop at what was computed, and buttons.

import { element } from "./dom.js";
import { fixed, whole } from "./numbers.js";
import { ACCURACIES, COSTS, nearest, poolOf } from "./what_if_states.js";
import { shareWords, shortModel } from "./what_if_words.js";

// Returns { node, show(data, place) }. `onMove(change)` is called while a slider moves, `onSettle()` when it is let go.
export function whatIfControls(data, { onMove, onSettle }) {
  const parts = [
    poolControl(data, { onMove, onSettle }),
    slider({
      name: "votes",
      label: "votes a document (K)",
      short: "votes (K)",
      stops: () => data.sizes,
      words: (k) => whole(k),
      onMove,
      onSettle,
    }),
    slider({
      name: "alpha",
      label: "share escalated, the least sure documents first",
      short: "escalated",
      stops: () => data.shares,
      words: (share, { pool }) => {
        const n = poolOf(data, pool).escalated[data.shares.indexOf(share)];
        return `${shareWords(share)}, ${whole(n)} of ${whole(poolOf(data, pool).n)}`;
      },
      onMove,
      onSettle,
    }),
    accuracyControl(data, { onMove, onSettle }),
    slider({
      name: "escalated_cost",
      label: "cost of an escalated document, its first vote included",
      short: "cost if escalated",
      stops: () => COSTS,
      words: (cost) => `${fixed(cost, cost % 1 ? 1 : 0)} ${cost === 1 ? "call" : "calls"}`,
      onMove,
      onSettle,
    }),
    slider({
      name: "tries",
      label: "tries of a call",
      stops: () => data.tries,
      words: (tries) => (tries === 1 ? "1, no retry" : `${tries}`),
      onMove,
      onSettle,
    }),
    fallbackControl(data, { onMove, onSettle }),
  ];
  return {
    node: element("div", { class: "controls", role: "group", "aria-label": "What if" }, parts.map(({ node }) => node)),
    show: (place) => {
      for (const part of parts) part.show(place);
    },
  };
}

function slider({ name, label, short = label, stops, words, onMove, onSettle, after = null }) {
  const value = element("span", { class: "control-value" });
  const valueAt = (at) => stops()[Math.max(0, Math.min(stops().length - 1, Math.round(at)))];
  const input = element("input", {
    type: "range",
    class: "range",
    min: 0,
    max: stops().length - 1,
    step: 1,
    "data-control": name,
    "aria-label": label,
    on: { input: (event) => onMove({ [name]: valueAt(Number(event.target.value)) }), change: onSettle },
  });
  const shown = element("span", { class: "control-name", title: label }, short);
  const head = element("span", { class: "control-head" }, shown, value);
  const node = element("div", { class: "control" }, head, element("div", { class: "control-line" }, input, after));
  return {
    node,
    input,
    value,
    show: (place) => {
      const at = stops().indexOf(nearest(stops(), place[name]));
      if (Number(input.value) !== at) input.value = at;
      const said = words(place[name], place);
      value.textContent = said;
      input.setAttribute("aria-valuetext", said);
    },
  };
}

// Buttons of which one is pressed: choices are [[value, words, title]].
function choices({ label, options, onPick }) {
  const buttons = options.map(([value, words, title, disabled]) =>
    element(
      "button",
      { type: "button", title: title || null, disabled, on: { click: () => onPick(value) } },
      words,
    ),
  );
  return {
    node: element("span", { class: "segments", role: "group", "aria-label": label }, buttons),
    show: (chosen) => {
      for (const [at, button] of buttons.entries()) {
        button.setAttribute("aria-pressed", String(options[at][0] === chosen));
      }
    },
  };
}

function poolControl(data, { onMove, onSettle }) {
  const says = element("span", { class: "control-value" });
  const known = new Map(data.pools.map((pool) => [pool.key, pool]));
  const options = ["all", "model", "prompt", "rerun"].map((key) => [
    key,
    key,
    known.get(key)?.says ?? data.missing[key],
    !known.has(key),
  ]);
  const pick = (pool) => {
    onMove({ pool });
    onSettle();
  };
  const segments = choices({ label: "Pool: which runs vote", options, onPick: pick });
  const head = element(
    "span",
    { class: "control-head" },
    element("span", { class: "control-name" }, "pool"),
    segments.node,
  );
  return {
    node: element("div", { class: "control pool" }, head, says),
    show: ({ pool }) => {
      const { says: words, held } = poolOf(data, pool);
      says.textContent = held ? `${words}: ${held}` : words;
      says.title = says.textContent;
      segments.show(pool);
    },
  };
}

function accuracyControl(data, { onMove, onSettle }) {
  const pick = (real) => {
    onMove({ use_stronger: real });
    onSettle();
  };
  const known = data.stronger != null;
  const segments = choices({
    label: "Accuracy of escalated documents",
    options: [
      [false, "assumed"],
      [true, "real", known ? `the answers of ${data.stronger}` : "", !known],
    ],
    onPick: pick,
  });
  const base = slider({
    name: "escalated_accuracy",
    label: "accuracy of the stronger model",
    short: "its accuracy",
    stops: () => ACCURACIES,
    words: (accuracy, { use_stronger: real }) => (real ? shortModel(data.stronger) : fixed(accuracy, 2)),
    onMove,
    onSettle,
    after: known ? segments.node : null,
  });
  return {
    node: base.node,
    show: (place) => {
      base.show(place);
      base.input.disabled = place.use_stronger;
      base.value.title = place.use_stronger ? data.stronger : "";
      segments.show(place.use_stronger);
    },
  };
}

function fallbackControl(data, { onMove, onSettle }) {
  const pick = (fallback) => {
    onMove({ fallback });
    onSettle();
  };
  const share = shareWords(data.failures.fallback);
  const segments = choices({
    label: "Fallback after the last try",
    options: [
      [true, "on"],
      [false, "off"],
    ],
    onPick: pick,
  });
  const head = element(
    "span",
    { class: "control-head" },
    element("span", { class: "control-name" }, "fallback after the last try"),
    segments.node,
  );
  const says = element("span", { class: "control-value" });
  return {
    node: element("div", { class: "control fallback" }, head, says),
    show: ({ fallback }) => {
      says.textContent = fallback ? `helps ${share} of those that failed` : "what failed has no answer";
      segments.show(fallback);
    },
  };
}

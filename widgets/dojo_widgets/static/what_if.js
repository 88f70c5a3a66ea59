// What more votes, escalation and retries would buy, from runs that were paid for already.
//
// Everything was computed before; a move looks up and adds, here in the page. Python hears of a place when a slider is
// let go, never while it moves.
//
// `const end = mountWhatIf(host, model, { speak })` puts the view into a host inside a `.dojo` root; `end()` removes it.
// The model has the trait `data` and those of `CONTROLS`.

import { copyButton } from "./copy_button.js";
import { element, keys, put, view } from "./dom.js";
import { count, whole } from "./numbers.js";
import { whatIfCharts } from "./what_if_charts.js";
import { whatIfControls } from "./what_if_controls.js";
import { CONTROLS, placeOf, poolOf, samePlace } from "./what_if_states.js";
import { caveats, conclusionWords, outcomeRows, shortModel, spokenWords, titleWords } from "./what_if_words.js";

export function mountWhatIf(host, model, { speak = () => {} } = {}) {
  const data = model.get("data");
  if (!data?.pools?.length) return mountNothing(host);
  const asked = () => Object.fromEntries(CONTROLS.map((name) => [name, model.get(name)]));
  let place = placeOf(data, asked());

  const title = element("h3", { class: "title" });
  const conclusion = element("p", { class: "conclusion" });
  const about = element("p", { class: "about soft" });
  const said = element("ul", { class: "caveats scrolls", tabindex: 0, role: "list", "aria-label": "What not to conclude" });
  const table = outcomeTable();

  // Where the view is narrow the caveats open on demand and the page scrolls, not the list.
  let isTold = false;
  const tell = () => {
    isTold = !isTold;
    root.classList.toggle("told", isTold);
    draw();
  };
  const more = element("button", { class: "button quiet more", type: "button", on: { click: tell } });

  const draw = () => {
    title.textContent = titleWords(data, place);
    conclusion.textContent = conclusionWords(data, place);
    about.textContent = aboutWords(data, place);
    // Where the view is narrow there is no room for what it rests on above; there it stands last.
    const rests = element("li", { class: "about" }, about.textContent);
    more.textContent = `${isTold ? "Hide what" : "What"} not to conclude (${caveats(data, place).length})`;
    more.setAttribute("aria-expanded", String(isTold));
    said.replaceChildren(...caveats(data, place).map((words) => element("li", {}, words)), rests);
    controls.show(place);
    charts.show(data, place);
    table.show(data, place);
    reset.disabled = samePlace(place, placeOf(data, data.base));
  };
  const move = (change) => {
    place = placeOf(data, { ...place, ...change });
    draw();
  };
  const settle = () => {
    if (samePlace(place, placeOf(data, asked()))) return;
    put(model, place);
    speak(spokenWords(data, place));
  };
  const jump = (change) => {
    move(change);
    settle();
  };

  const controls = whatIfControls(data, { onMove: move, onSettle: settle });
  const charts = whatIfCharts({ onPick: jump });
  const reset = element(
    "button",
    { class: "button quiet", type: "button", on: { click: () => jump(data.base) } },
    "reset",
  );
  reset.title = "One vote, nothing escalated, one try, no fallback";
  const python = () => pythonOf(data, place);
  const copy = copyButton({ words: "Copy Python", text: python, said: () => "Python copied", speak });
  const head = element(
    "div",
    { class: "top" },
    element("div", { class: "heading" }, title, element("div", { class: "actions" }, reset, copy)),
    conclusion,
    about,
  );
  const root = element(
    "div",
    { class: `what-if-view ${data.call_usd == null ? "" : "priced"}` },
    element("section", { class: "panel top-panel", "aria-label": "Finding" }, head),
    element("section", { class: "panel settings", "aria-label": "Controls" }, controls.node),
    charts.node,
    element("section", { class: "panel outcome", "aria-label": "Outcome" }, table.node, more, said),
  );

  keys(root, () => false);
  const follow = () => {
    place = placeOf(data, asked());
    draw();
  };
  for (const name of CONTROLS) model.on(`change:${name}`, follow);
  host.append(root);
  draw();
  return () => {
    for (const name of CONTROLS) model.off(`change:${name}`, follow);
    charts.dispose();
    root.remove();
  };
}

function mountNothing(host) {
  const nothing = element(
    "p",
    { class: "panel empty" },
    element("b", {}, "There are no votes."),
    " No run of this task has an answer beside a true label; give runs that have.",
  );
  host.append(nothing);
  return () => nothing.remove();
}

function aboutWords(data, place) {
  const pool = poolOf(data, place.pool);
  const out = Object.entries(pool.left_out).map(([reason, n]) => `${whole(n)} ${reason}`);
  const parts = [
    data.task.replaceAll("_", " "),
    `${count(pool.votes, "vote")} on ${count(pool.n, "document")} from ${count(pool.runs, "run")}`,
    pool.unknown && `${count(pool.unknown, "vote")} for no known label, counted as wrong`,
    out.length && `no votes: ${out.join(", ")}`,
    data.stronger != null && `${shortModel(data.stronger)} does not vote`,
  ];
  return `${parts.filter(Boolean).join("; ")}.`;
}

function outcomeTable() {
  const heads = ["", "one vote", "what if", "change"];
  const row = element(
    "tr",
    {},
    heads.map((words, at) =>
      at ? element("th", { scope: "col", class: "number" }, words) : element("td", {}),
    ),
  );
  const body = element("tbody");
  const node = element("table", { class: "outcomes", "aria-label": "Outcome" }, element("thead", {}, row), body);
  const cell = (words, interval, kind) =>
    element(
      "td",
      { class: `number ${kind}` },
      words,
      interval ? element("span", { class: "bounds soft" }, ` ${interval}`) : null,
    );
  return {
    node,
    show: (data, place) => {
      const rows = outcomeRows(data, place).map((one) =>
        element(
          "tr",
          {},
          element(
            "th",
            { scope: "row" },
            one.name,
            one.note ? element("span", { class: "soft" }, ` ${one.note}`) : null,
          ),
          cell(one.before, one.beforeInterval, "before"),
          cell(one.after, one.afterInterval, "after"),
          element("td", { class: "number change" }, one.change),
        ),
      );
      body.replaceChildren(...rows);
    },
  };
}

function pythonOf(data, place) {
  const given = CONTROLS.map((name) => `${name}=${pythonValue(place[name])}`).join(", ");
  const stronger = data.stronger == null ? "" : `, stronger=${JSON.stringify(data.stronger)}`;
  const price = data.call_usd == null ? "" : `, call_usd=${data.call_usd}`;
  const statistics = `{"seed": ${data.seed}, "n_resamples": ${data.resamples}, "confidence": ${data.level}}`;
  return [
    "from dojo_kit.runs.corpus_files import read_corpus",
    "from dojo_kit.settings import Settings",
    "from dojo_widgets import WhatIf",
    "",
    "corpus = read_corpus(RUNS)  # the run files",
    `settings = Settings(statistics=${statistics})`,
    `place = dict(${given})`,
    `WhatIf(corpus, ${JSON.stringify(data.task)}${stronger}${price}, place=place, settings=settings)`,
    "",
  ].join("\n");
}

function pythonValue(value) {
  if (typeof value === "boolean") return value ? "True" : "False";
  return JSON.stringify(value);
}

function render({ model, el }) {
  const { root, live, dispose } = view(el, "what-if");
  const end = mountWhatIf(root, model, { speak: live });
  return () => {
    end();
    dispose();
  };
}

export default { render };

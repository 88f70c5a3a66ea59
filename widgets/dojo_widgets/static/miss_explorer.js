// The whole loop in one view: families, spans, the span beside its nearest items, and the span in its contract.

import { copyText, element, keys, put, view } from "./dom.js";
import { mountDocument } from "./document_view.js";
import { mountFamilies } from "./family_list.js";
import { helpButton, helpDialog } from "./help.js";
import { missState } from "./miss_state.js";
import { LIST_KEYS, listKeys } from "./miss_table.js";
import { carriedSpans, spanOfTable } from "./published.js";
import { mountCompare } from "./span_compare.js";
import { mountSpans } from "./span_list.js";
import { mountSummary } from "./summary.js";
import { verdictBar, verdictMark } from "./verdict_bar.js";

const WAIT_MS = 600;
const COPIED_MS = 1500;
const LATE =
  "Nothing has arrived for this span. In a notebook, see whether its kernel is busy or stopped; " +
  "a published page holds some spans only.";
const ABSENT = "This span is not embedded in this page; open it with dojo notebook miss_attribution";
const KEYS = [
  ...LIST_KEYS,
  [["Enter", "Esc"], "open the contract, close it; Esc again drops the cause, then the family"],
  [["1", "2", "3", "4"], "compare with the nearest, the second nearest item ..."],
  [["n", "p"], "next, previous highlight in the contract"],
  [["g", "i"], "back to the label, to the compared item"],
  [["a", "r", "w"], "true miss, not a miss, label wrong (of a match: wrong, right); again: take it back"],
  [["m"], "write a note"],
];

function mountExplorer(shown, model) {
  const state = missState(model, shown);
  const carried = carriedSpans(model);
  const help = helpDialog(KEYS);
  const layout = element("div", { class: "miss explorer with-verdicts" });
  const body = element("div", { class: "body" });
  const right = element("div", { class: "right" });
  const summary = mountSummary(layout, state, shown.live, [copyButton(model, shown.live), helpButton(help)]);
  layout.append(body);
  shown.root.append(layout, help.node);
  const families = mountFamilies(body, state);
  body.append(right);
  const spans = mountSpans(right, state, {
    verdictOf: ({ id, status }) => verdictMark(model.get("judgements")?.[id], status),
    canOpen: (id) => !carried || carried.has(id),
  });
  const verdicts = verdictBar(model, { speak: shown.live, leave: spans.focus });
  const pane = mountPane(right, model, shown.live, verdicts);

  for (const part of [summary, families, spans]) state.watch(part.update);
  const drawOpened = () => layout.classList.toggle("opened", Boolean(model.get("opened")));
  const drawVerdicts = () => {
    verdicts.update();
    spans.repaint();
  };
  shown.listen(model, ["opened"], drawOpened);
  shown.listen(model, ["span", "record"], verdicts.update);
  shown.listen(model, ["judgements"], drawVerdicts);
  shown.listen(model, ["span", "record", "view", "opened"], pane.update);
  drawOpened();
  verdicts.update();
  keys(shown.root, keyMap({ model, state, help, families, spans, verdicts, pane }));
  return () => {
    for (const part of [summary, spans, pane]) part.dispose();
  };
}

function keyMap({ model, state, help, families, spans, verdicts, pane }) {
  const lists = listKeys(state, families, spans);
  const open = (event) => {
    if (event.key !== "Enter" || !spans.has(event.composedPath()[0])) return false;
    put(model, { opened: true });
    return true;
  };
  const leaveField = (event) => {
    if (event.key !== "Escape" || !event.composedPath()[0].closest?.("input")) return false;
    spans.focus();
    return true;
  };
  const close = (event) => event.key === "Escape" && state.clear();
  const ask = (event) => {
    if (event.key !== "?") return false;
    help.open();
    return true;
  };
  const judge = (event) => verdicts.judge(event.key) || (event.key === "m" && verdicts.note());
  const runs = [leaveField, lists, open, pane.keys, judge, ask, close];
  return (event) => runs.some((run) => run(event));
}

// The span at hand in two tabs; returns { update(), keys(event), dispose() }.
function mountPane(host, model, speak, verdicts) {
  const prefix = `dojo-pane-${Math.random().toString(36).slice(2)}`;
  const tab = (name, opened) =>
    element(
      "button",
      {
        type: "button",
        role: "tab",
        id: `${prefix}-${name}-tab`,
        "aria-controls": `${prefix}-${name}`,
        on: { click: () => put(model, { opened }) },
      },
      name,
    );
  const tabs = [tab("Compare", false), tab("Contract", true)];
  const title = element("div", { class: "title" });
  const panel = (name) =>
    element("div", {
      class: "pane-body",
      role: "tabpanel",
      id: `${prefix}-${name}`,
      "aria-labelledby": `${prefix}-${name}-tab`,
    });
  const compare = panel("Compare");
  const contract = panel("Contract");
  const message = element("div", { class: "empty pane-message" });
  const list = element("div", { class: "segments", role: "tablist", "aria-label": "The selected span" }, tabs);
  host.append(
    element(
      "section",
      { class: "panel pane", "aria-label": "Selected span" },
      element("div", { class: "panel-head" }, list, title, verdicts.node),
      message,
      compare,
      contract,
    ),
  );
  const endCompare = mountCompare(compare, model, { speak });
  const endContract = mountDocument(contract, model, { speak });
  const carried = carriedSpans(model);
  let timer = 0;

  const opened = () => Boolean(model.get("opened"));
  const show = (words) => {
    message.hidden = !words;
    message.replaceChildren(...[words || []].flat());
    compare.hidden = Boolean(words) || opened();
    contract.hidden = Boolean(words) || !opened();
  };

  const update = () => {
    clearTimeout(timer);
    tabs.forEach((node, at) => {
      node.setAttribute("aria-selected", String(Boolean(at) === opened()));
      node.tabIndex = Boolean(at) === opened() ? 0 : -1;
    });
    const span = model.get("span");
    const { short = "", family = "", document: name = "" } = namesOf(model, span);
    title.textContent = span ? [short, family].filter(Boolean).join(" \u00b7 ") : "No span selected";
    title.title = name;
    if (!span) return show("Select a span to see its label beside the model's nearest items, and in its contract.");
    if (isHere(model)) return show(missingContract(model));
    // What comes from Python takes a moment; until then the former span stays, so that nothing flickers.
    const known = (why) => show(rowOf(model, span) ? spanOfTable(model.get("data"), rowOf(model, span), why) : why);
    if (carried && !carried.has(span)) return known(ABSENT);
    timer = setTimeout(() => known(LATE), WAIT_MS);
  };

  list.addEventListener("keydown", (event) => {
    if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
    event.preventDefault();
    event.stopPropagation();
    put(model, { opened: !opened() });
    tabs.find((node) => node.tabIndex === 0).focus({ preventScroll: true });
  });

  const inContract = (event) => {
    if (opened() || !"npgi".includes(event.key) || event.key.length > 1) return endContract.keys(event);
    if (!model.get("view")?.text) return false;
    put(model, { opened: true });
    // The contract lands on the label when it is first drawn; other highlights are a step from there.
    if (event.key !== "g") requestAnimationFrame(() => requestAnimationFrame(() => endContract.keys(event)));
    return true;
  };

  update();
  return {
    update,
    keys: (event) => endCompare.keys(event) || inContract(event),
    dispose: () => {
      clearTimeout(timer);
      endCompare();
      endContract();
    },
  };
}

function isHere(model) {
  const span = model.get("span");
  const view = model.get("view") || {};
  return model.get("record")?.id === span && (!view.span || view.span === span);
}

function rowOf(model, span) {
  return model.get("data").spans.find(({ id }) => id === span);
}

// What the span is called: by its record or, without one, by its row in the table.
function namesOf(model, span) {
  const record = model.get("record");
  const row = rowOf(model, span);
  if (record?.id === span || !row) return record || {};
  const { documents, families } = model.get("data");
  const family = families.find(({ category }) => category === row.category)?.short ?? row.category;
  return { short: documents[row.document].short, family, document: documents[row.document].name };
}

function missingContract(model) {
  if (!model.get("opened") || model.get("view")?.span) return "";
  return "The contract is not at hand: give documents=... to see the label in it.";
}

function copyButton(model, speak) {
  const button = element(
    "button",
    { class: "button quiet", type: "button", title: "Copy the Python that reproduces this view" },
    "Copy Python",
  );
  button.addEventListener("click", async () => {
    const code = model.get("record")?.python;
    const done = code && (await copyText(code));
    button.textContent = done ? "Copied" : code ? "Not allowed" : "Nothing yet";
    speak(done ? "Python copied" : "nothing copied");
    setTimeout(() => (button.textContent = "Copy Python"), COPIED_MS);
  });
  return button;
}

function render({ model, el }) {
  const shown = view(el, "miss-explorer");
  shown.onDispose(mountExplorer(shown, model));
  return shown.dispose;
}

export default { render };

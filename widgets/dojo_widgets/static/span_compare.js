// A label beside the model's nearest items.
//
// For composition: `const end = mountCompare(host, model, { speak, actions })`
//   host     an element inside a `.dojo` root; may be hidden. The view fills its width and measures itself, not the
//            root
//   model    has the traits `record` and `item` (position in record.items); other traits are left alone
//   speak    optional, (text) => void: says a text to screen readers; without it the view brings its own live region
//   actions  optional, elements put at the right of the head, before "Copy Python"
//   end()              removes the view and its listeners
//   end.keys(event)    true when it used the key: 1-4 chooses the item. The host listens and calls it.
// Style sheet: span_compare.css (on top of base.css).

import { copyText, element, keys, put, view } from "./dom.js";
import { comparedText, scrollToMark } from "./compared_text.js";
import { difference, unmarked, wordsOf } from "./difference.js";
import { causeWords, isMatched, placeWords, statusWords } from "./meanings.js";
import { count, fixed, whole } from "./numbers.js";

const DOT = " \u00b7 ";
const COPIED_MS = 1500;
const TEXT = { label: "Label text", item: "Item text" };

export function mountCompare(host, model, { speak = null, actions = [] } = {}) {
  const spoken = speak ? null : element("div", { class: "unseen", "aria-live": "polite" });
  const say = speak || ((text) => (spoken.textContent = text));
  const panel = element("section", { class: "panel", "aria-label": "Label and nearest item" });
  const root = element("div", { class: "compare-pane" }, panel, spoken);
  const recordNow = () => model.get("record") || {};
  let shownId = recordNow().id;

  const choose = (at) => {
    const item = recordNow().items?.[at];
    if (!item) return false;
    if (at !== model.get("item")) put(model, { item: at });
    say(`item ${item.index}, similarity ${similarity(item)}, ${placeWords(item.place)}`);
    return true;
  };
  const draw = () => {
    const inFocus = partInFocus(panel);
    panel.replaceChildren(...contents(recordNow(), model.get("item") || 0, choose, actions));
    if (inFocus) focusPart(panel, inFocus);
    panel.querySelectorAll(".text").forEach(scrollToMark);
  };
  const onRecord = () => {
    const { id } = recordNow();
    if (id !== shownId && model.get("item")) put(model, { item: 0 });
    shownId = id;
    draw();
  };

  model.on("change:record", onRecord);
  model.on("change:item", draw);
  host.append(root);
  draw();
  const stopWatching = whenShown(root, () => panel.querySelectorAll(".text").forEach(scrollToMark));
  const end = () => {
    stopWatching();
    model.off("change:record", onRecord);
    model.off("change:item", draw);
    root.remove();
  };
  end.keys = ({ key }) => /^[1-4]$/.test(key) && choose(Number(key) - 1);
  return end;
}

// What is drawn while hidden cannot be scrolled; run once more when it gets a width.
function whenShown(root, run) {
  let width = root.clientWidth;
  const watch = new ResizeObserver(() => {
    if (!width && root.clientWidth) run();
    width = root.clientWidth;
  });
  watch.observe(root);
  return () => watch.disconnect();
}

// Drawing anew must not take the focus away: keys would no longer be heard.
function partInFocus(panel) {
  const active = panel.getRootNode().activeElement;
  if (!active || !panel.contains(active)) return null;
  return active.closest("[data-part]")?.dataset.part || TEXT.label;
}

function focusPart(panel, name) {
  const part = [...panel.querySelectorAll("[data-part]")].find(({ dataset }) => dataset.part === name);
  (part?.querySelector("[aria-pressed=true]") || part || panel.querySelector(".text"))?.focus({ preventScroll: true });
}

function contents(record, at, choose, actions) {
  if (!record.id) return [nothingSelected()];
  const { text } = record.label;
  const item = record.items?.[at] || record.items?.[0];
  const found = item && difference(text, item.text);
  const shared = found?.mode === "shared";
  const label = comparedText(TEXT.label, text, found ? found.label : unmarked(text), shared ? "shared" : "missing");
  const other = item
    ? comparedText(TEXT.item, item.text, found.item, shared ? "shared" : "plain")
    : element("div", { class: "text empty" }, "Nothing to compare with.");
  return [
    head(record, actions),
    sum(record, item),
    element(
      "div",
      { class: "sides" },
      element("div", { class: "side" }, labelHead(record, wordsOf(text).length), label),
      element("div", { class: "side" }, itemHead(record, item, found?.counts.item, choose), other),
    ),
    element("div", { class: "legend" }, found ? legend(record, found) : null),
  ];
}

function nothingSelected() {
  const more = "Select one to see its label beside the model's nearest items.";
  return element("div", { class: "empty" }, element("b", {}, "No span is selected. "), more);
}

function head(record, actions) {
  const place = [record.family || record.category, record.field].filter(Boolean).join(DOT);
  const title = element(
    "div",
    { class: "title", title: `${record.document}${DOT}${place}` },
    record.short || record.document,
    element("span", { class: "soft" }, `${DOT}${place}`),
  );
  const copies = record.python && copyButton(record.python);
  return element("div", { class: "panel-head" }, title, element("div", { class: "actions" }, actions, copies));
}

function copyButton(code) {
  const title = "Copy the Python that reproduces this view";
  const button = element(
    "button",
    { class: "button quiet", type: "button", title, "data-part": "copy" },
    "Copy Python",
  );
  button.addEventListener("click", async () => {
    button.textContent = (await copyText(code)) ? "Copied" : "Not allowed";
    setTimeout(() => (button.textContent = "Copy Python"), COPIED_MS);
  });
  return button;
}

// The sum behind the number, what it leads to, and what to doubt.
function sum(record, item) {
  const bold = (text) => element("b", {}, text);
  const says = item
    ? (item.says || []).map((part, at) => (at % 2 ? part : bold(part)))
    : [bold(`The model returned no ${record.field} for this document`), "."];
  const name = "How the similarity came about";
  return element(
    "div",
    { class: "sum scrolls", tabindex: 0, role: "group", "aria-label": name, "data-part": name },
    says,
    verdict(record, item, bold),
  );
}

function verdict(record, item, bold) {
  if (isMatched(record.status)) {
    const doubtful = record.check ?? item?.place === "elsewhere";
    return doubtful ? [" ", bold("This match stands elsewhere in the contract: check it.")] : null;
  }
  if (!record.cause) return null;
  const name = bold(record.cause_name || causeWords(record.cause));
  return [" \u2192 ", name, record.cause_says ? `: ${record.cause_says}.` : "."];
}

// Words are counted here, as the legend counts them, not as the measure's tokens.
function labelHead(record, words) {
  const kind = isMatched(record.status) ? "matched" : record.status === "near" ? "near" : "missed";
  const what = `${DOT}${statusWords(record.status)}${DOT}${count(words, "word")}`;
  return element(
    "div",
    { class: "side-head" },
    element("i", { class: `swatch ${kind}` }),
    element("span", { class: "what" }, element("b", {}, "label"), what),
  );
}

function itemHead(record, item, words, choose) {
  const swatch = element("i", { class: "swatch item" });
  if (!item) return element("div", { class: "side-head" }, swatch, element("b", {}, "no item"));
  const [name, place, size] = [`item ${item.index}`, placeWords(item.place), count(words, "word")];
  return element(
    "div",
    { class: "side-head" },
    swatch,
    element(
      "span",
      { class: "what", title: [name, place, size].join(DOT) },
      element("b", {}, name),
      `${DOT}${place}`,
      element("span", { class: "words" }, `${DOT}${size}`),
    ),
    record.items.length > 1 && tabs(record.items, item, choose),
  );
}

function tabs(items, chosen, choose) {
  const group = "Nearest items by similarity";
  const tab = (item, at) => {
    const here = item.here ? ", quotes the label's place" : "";
    const name = `item ${item.index}, similarity ${similarity(item)}`;
    return element(
      "button",
      {
        type: "button",
        "aria-pressed": String(item === chosen),
        "aria-label": `${name}${here}`,
        title: `${name}, ${placeWords(item.place)}${here} (key ${at + 1})`,
        on: { click: () => choose(at) },
      },
      `${fixed(item.similarity)}${here && " \u25cf"}`,
    );
  };
  return element("span", { class: "segments", role: "group", "aria-label": group, "data-part": group }, items.map(tab));
}

function similarity(item) {
  return item.similarity == null ? "too low to be kept" : fixed(item.similarity);
}

function legend(record, { mode, counts }) {
  const here = record.items.some((item) => item.here) && element("span", {}, "\u25cf quotes the label's place");
  if (mode === "skipped") {
    const sizes = `${whole(counts.label)} and ${whole(counts.item)} words`;
    return [element("span", {}, `${sizes}: too long to compare in order, nothing is marked`), here];
  }
  return [...(mode === "shared" ? sharedLegend(counts) : missingLegend(counts)), here];
}

const sample = (kind, word, text) => element("span", {}, element("span", { class: kind }, word), text);
const finding = (strong, text) => element("span", {}, element("b", {}, strong), text);

function sharedLegend({ aligned, label }) {
  if (!aligned) return [finding("no shared run", " of two or more telling words: a different text")];
  const of = `${whole(aligned)} of ${count(label, "label word")}`;
  return [sample("shared", "shared run", ` ${of}; too different to mark what is missing`)];
}

function missingLegend({ missing, lone, extra, label }) {
  const of = count(label, "label word");
  const unmarkedWords = lone ? `, ${whole(lone)} of them lone function words, not marked` : "";
  return [
    missing
      ? sample("missing", "missing", ` ${whole(missing)} of ${of}${unmarkedWords}`)
      : finding("nothing missing", ` of ${of}`),
    extra > 0 && sample("extra", "grey", ` ${count(extra, "word")} only in the item`),
  ];
}

function render({ model, el }) {
  const shown = view(el, "dojo-compare");
  const end = mountCompare(shown.root, model, { speak: shown.live });
  shown.onDispose(end);
  keys(shown.root, end.keys);
  return shown.dispose;
}

export default { render };

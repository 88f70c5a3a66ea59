// Behind a pair of reruns: the documents that change their answer. Without a pair, what is no rerun, and why.

import { copyButton } from "./copy_button.js";
import { element } from "./dom.js";
import { bandWords, factsOfPair, flipCounts, reasonCounts } from "./noise_band_facts.js";
import { count, whole } from "./numbers.js";
import { windowedList } from "./windowed_list.js";

const ROW_HEIGHT = 26;
const PATIENCE = 1500;
const PRINTED = 60;
const ICONS = { a: "\u25bc", b: "\u25b2", "": "\u25cb" };
const WAYS = { a: "worse", b: "better", "": "" };

// Returns { node, show(view), key(name), focus(), hasFocus(), dispose() }; `onClose()` goes back to no pair.
export function noiseDetail({ onClose, speak }) {
  let listed = [];
  let at = "";
  let waiting = 0;
  let shown = null;

  const title = element("h3", { class: "title" });
  const close = element("button", { class: "button quiet", type: "button", title: "Esc", on: { click: onClose } }, "close");
  const copy = copyButton({
    words: "Copy list",
    text: () => listed.map(({ line }) => line).join("\n") + "\n",
    said: () => `${count(listed.length, "line")} copied`,
    speak,
  });
  const head = element("div", { class: "panel-head" }, title, element("div", { class: "actions" }, copy, close));
  const says = element("p", { class: "says" });
  const facts = element("dl", { class: "facts" });
  const rows = windowedList({
    label: "Documents that flip",
    rowHeight: ROW_HEIGHT,
    cells: ({ cells }) => cells(),
    words: ({ line }) => line.replaceAll("\t", ", "),
    onPick: (id) => read(id),
  });
  const reading = element("div", { class: "reading scrolls", tabindex: 0, role: "group", "aria-label": "Selected line" });
  const waits = element("p", { class: "soft waits" });
  const body = element("div", { class: "behind" }, rows.node, reading, waits);
  const printed = element("ul", { class: "printed" });
  const parts = [head, says, facts, body, printed];
  const node = element("section", { class: "panel detail", "aria-label": "Behind the pair" }, parts);

  const only = (...visible) => {
    for (const part of [facts, rows.node, reading, waits]) part.hidden = !visible.includes(part);
    copy.hidden = !visible.includes(rows.node);
  };
  const list = (found, label) => {
    listed = found;
    body.style.setProperty("--listed", `${found.length * ROW_HEIGHT}px`);
    rows.node.setAttribute("aria-label", label);
    printed.replaceChildren(...found.slice(0, PRINTED).map(({ line }) => element("li", {}, line.replaceAll("\t", ", "))));
    read(found.some(({ id }) => id === at) ? at : found[0].id);
  };
  const read = (id) => {
    at = id;
    rows.show(listed, id);
    reading.replaceChildren(...listed.find((one) => one.id === id).whole());
    reading.scrollTop = 0;
  };

  const idle = ({ excluded }) => {
    close.style.visibility = "hidden";
    title.textContent = excluded.length ? `${count(excluded.length, "pair")} left out` : "Nothing left out";
    const reasons = reasonCounts(excluded).map(([reason, n]) => `${whole(n)} ${reason}`);
    says.textContent = excluded.length
      ? `Same task, model, prompt and documents, yet no reruns: ${reasons.join(", ")}.`
      : "Every pair of runs with the same task, model, prompt and documents counts. Select one to see what flips.";
    waits.textContent = "";
    if (!excluded.length) return only(waits);
    only(rows.node, reading);
    return list(excluded.map(excludedLine), "Pairs left out");
  };

  const show = (view) => {
    clearTimeout(waiting);
    const { data, pair, detail } = view;
    if (shown !== (pair?.id ?? "")) at = "";
    shown = pair?.id ?? "";
    printed.replaceChildren();
    if (!pair) return idle(data);
    close.style.visibility = "visible";
    title.textContent = pair.name;
    title.title = `${pair.name}, ${pair.prompt}`;
    facts.replaceChildren(...factsOfPair(pair).map(factNode));
    const notes = pair.notes.map((note) => `${note}.`).join(" ");
    says.textContent = [`${pair.prompt}: ${bandWords(pair.known)}.`, notes].filter(Boolean).join(" ");
    if (detail?.pair !== pair.id) {
      waits.textContent = "reading the documents \u2026";
      waiting = setTimeout(() => (waits.textContent = "The documents are not in this page."), PATIENCE);
      return only(facts, waits);
    }
    if (!detail.rows.length) {
      waits.textContent =
        pair.flips == null
          ? "Answers of this task are no labels, so none can flip; which documents moved is not kept with the noise floor."
          : "No document changes its answer.";
      return only(facts, waits);
    }
    const { won, lost, neither } = flipCounts(detail.rows);
    const cut = detail.rows.length < detail.n ? ` The first ${whole(detail.rows.length)} are listed.` : "";
    says.textContent += ` ${count(detail.n, "document")} flip: right answer won ${whole(won)}, lost ${whole(lost)}, wrong either way ${whole(neither)}.${cut}`;
    only(facts, rows.node, reading);
    return list(detail.rows.map((row) => flippedLine(row, pair)), "Documents that flip");
  };

  const key = (name) => {
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 5, PageUp: -5, Home: -Infinity, End: Infinity }[name];
    if (!rows.hasFocus() || !step || !listed.length) return false;
    const from = listed.findIndex(({ id }) => id === at);
    read(listed[Math.max(0, Math.min(listed.length - 1, from + step))].id);
    return true;
  };
  return {
    node,
    show,
    key,
    focus: () => (rows.node.hidden ? close : rows).focus({ preventScroll: true }),
    hasFocus: () => node.contains(node.getRootNode().activeElement),
    dispose: () => {
      clearTimeout(waiting);
      rows.dispose();
    },
  };
}

function factNode({ name, text, title, kind }) {
  return element("div", { class: kind ?? null, title: title || null }, element("dt", {}, name), element("dd", {}, text));
}

function flippedLine({ id, document: name, short, a, b, expected, right }, pair) {
  const side = (run, said, isRight) =>
    element(
      "div",
      { class: "side" },
      element("p", { class: "side-head" }, element("b", {}, run)),
      element("p", { class: `answer ${isRight ? "better" : ""}` }, `${said}${isRight ? ", right" : ""}`),
    );
  return {
    id,
    line: [name || short, a, b, `expected ${expected}`].join("\t"),
    cells: () => [
      element("span", { class: `sign ${WAYS[right]}`, "aria-hidden": "true" }, ICONS[right]),
      element("span", { class: "document" }, short),
      element("span", { class: "soft flip" }, `${a} \u2192 ${b}`),
    ],
    whole: () => [
      element("p", { class: "source", title: name }, name || short),
      element("div", { class: "sides" }, side(pair.a, a, right === "a"), side(pair.b, b, right === "b")),
      element("p", { class: "expected" }, element("b", {}, "expected "), expected),
    ],
  };
}

function excludedLine({ id, a, b, model, prompt, reason, detail }) {
  return {
    id: `excluded-${id}`,
    line: [`${a} and ${b}`, model, prompt, reason, detail].join("\t"),
    cells: () => [
      element("span", { class: "document" }, `${a}, ${b}`),
      element("span", { class: "soft flip" }, reason),
    ],
    whole: () => [
      element("p", { class: "source" }, `${a} and ${b}`),
      element("p", { class: "soft" }, [model, prompt].filter(Boolean).join(", ")),
      element("p", { class: "answer" }, `${reason}: ${detail}`),
    ],
  };
}

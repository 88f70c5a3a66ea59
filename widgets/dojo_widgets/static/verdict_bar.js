// Buttons to judge the span at hand, a note, and a button that copies all judgements as JSONL.

import { copyText, element, put } from "./dom.js";
import { VERDICTS, asJsonl, verdictWords, verdictsFor, withNote, withVerdict } from "./label_queue.js";
import { count, whole } from "./numbers.js";
import { KEPT, isPublished } from "./published.js";

const MARKS = { true_miss: "\u2713", not_a_miss: "\u2717", label_wrong: "L" };
const COPIED_MS = 1500;

export function verdictMark(judgement, status) {
  if (!judgement) return null;
  const words = verdictWords(judgement.verdict, status);
  return { mark: MARKS[judgement.verdict] || "\u2026", words: [words, judgement.note].filter(Boolean).join(": ") };
}

// The model has `judgements`, `who`, `recipe`, `span`, `data` and `record`. `leave()` takes the focus from the note.
// Returns { node, update(), judge(key), note() }; the last two are for keys and true when they were used.
export function verdictBar(model, { speak, leave }) {
  // A table holds the beginning of every label; records hold the whole, and have passed by when something is judged.
  const texts = new Map();
  let noted = "";

  const isKept = isPublished(model);

  const judgements = () => model.get("judgements") || {};
  const statusNow = () => model.get("data").spans.find(({ id }) => id === model.get("span"))?.status;
  const give = (verdict) => {
    const span = model.get("span");
    if (!span) return false;
    put(model, { judgements: withVerdict(judgements(), span, verdict.id) });
    const words = verdictWords(judgements()[span]?.verdict, statusNow());
    speak(`${words || "verdict taken back"}${isKept ? `, ${KEPT}` : ""}`);
    return true;
  };
  const keepNote = () => {
    const before = judgements()[noted]?.note || "";
    if (noted && note.value.trim() !== before) put(model, { judgements: withNote(judgements(), noted, note.value) });
  };

  const buttons = VERDICTS.map((verdict) => ({
    verdict,
    node: element("button", { type: "button", on: { click: () => give(verdict) } }),
  }));
  const note = element("input", {
    class: "field verdict-note",
    type: "text",
    placeholder: "note",
    title: "Write a note (m)",
    "aria-label": "Note on this span",
    on: { change: keepNote, focus: () => (noted = model.get("span")) },
  });
  note.addEventListener("keydown", (event) => {
    if (event.key === "Enter") leave();
  });
  const copy = element("button", { class: "button quiet judged", type: "button" });
  const kept = element("span", { class: "kept soft" }, KEPT);
  copy.addEventListener("click", async () => {
    const done = await copyText(asJsonl(recordsOf(model, texts), judgements(), new Date().toISOString()));
    copy.textContent = done ? "copied" : "not allowed";
    speak(done ? `${count(Object.keys(judgements()).length, "record")} copied` : "copying is not allowed");
    setTimeout(update, COPIED_MS);
  });

  const update = () => {
    const { id, label } = model.get("record") || {};
    if (id) texts.set(id, label?.text ?? "");
    const own = judgements()[model.get("span")] || { verdict: "", note: "" };
    const worded = verdictsFor(statusNow());
    for (const [at, { verdict, node }] of buttons.entries()) {
      node.textContent = worded[at].words;
      node.title = `${verdict.key}: ${worded[at].says}`;
      node.setAttribute("aria-pressed", String(own.verdict === verdict.id));
      node.disabled = !model.get("span");
    }
    const isTyping = note.getRootNode().activeElement === note;
    if (!isTyping || noted !== model.get("span")) note.value = own.note;
    note.disabled = !model.get("span");
    const n = Object.keys(judgements()).length;
    copy.disabled = !n;
    copy.textContent = `${whole(n)} judged`;
    kept.hidden = !isKept || !n;
    copy.title = n
      ? `Copy ${count(n, "record")} as JSONL${isKept ? `; ${KEPT}` : ""}`
      : "Nothing is judged yet";
  };

  return {
    node: element(
      "div",
      { class: "actions verdicts" },
      element(
        "span",
        { class: "segments", role: "group", "aria-label": "Verdict on this span" },
        buttons.map(({ node }) => node),
      ),
      note,
      copy,
      kept,
    ),
    update,
    judge: (key) => {
      const verdict = VERDICTS.find((one) => one.key === key);
      return Boolean(verdict) && give(verdict);
    },
    note: () => {
      note.focus();
      return true;
    },
  };
}

function recordsOf(model, texts) {
  const { field, spans, documents } = model.get("data");
  return {
    who: model.get("who"),
    recipe: model.get("recipe"),
    spans: spans.map(({ id, document, category, text }) => ({
      id,
      document: documents[document].name,
      field,
      category,
      text: texts.get(id) ?? text,
    })),
  };
}

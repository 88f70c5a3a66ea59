// The queue of spans to judge: what is open, what comes next, what a key does, no DOM.

export const VERDICTS = [
  { id: "true_miss", words: "True miss", key: "a", says: "the label is right and the model missed it" },
  { id: "not_a_miss", words: "Not a miss", key: "r", says: "the item is good enough, the score is wrong" },
  { id: "label_wrong", words: "Label wrong", key: "w", says: "the label is wrong" },
];

// What the same verdicts are called where the model's item was matched, and the match itself is in doubt.
const OF_A_MATCH = {
  true_miss: { words: "Match wrong", says: "the label is right and the item is another clause: a miss" },
  not_a_miss: { words: "Match right", says: "the item is the labelled clause: not a miss" },
};

// The verdicts in their order, in the words for a span of this status.
export function verdictsFor(status) {
  return status === "matched" ? VERDICTS.map((verdict) => ({ ...verdict, ...OF_A_MATCH[verdict.id] })) : VERDICTS;
}

export function verdictWords(verdict, status = "missed") {
  return verdictsFor(status).find((one) => one.id === verdict)?.words || "";
}

export function isJudged(judgements, id) {
  return Boolean(judgements[id]?.verdict);
}

export function judgedCount(spans, judgements) {
  return spans.filter((span) => isJudged(judgements, span.id)).length;
}

// The spans of a filter. The one being looked at stays, so that judging it does not take it away from under the eyes.
export function queueOf(spans, judgements, filter, current) {
  if (filter === "all") return spans;
  const wanted = filter === "judged";
  return spans.filter((span) => span.id === current || isJudged(judgements, span.id) === wanted);
}

// The id `steps` further in the queue; at an end it stays there.
export function neighbour(queue, current, steps) {
  if (!queue.length) return "";
  const at = queue.findIndex((span) => span.id === current);
  if (at < 0) return queue[steps < 0 ? queue.length - 1 : 0].id;
  return queue[Math.max(0, Math.min(queue.length - 1, at + steps))].id;
}

// The next open span after the current one, from the start again when none follows; "" when none is open.
export function nextOpen(spans, judgements, current) {
  const at = spans.findIndex((span) => span.id === current);
  const following = [...spans.slice(at + 1), ...spans.slice(0, Math.max(0, at))];
  return following.find((span) => !isJudged(judgements, span.id))?.id || "";
}

// Judgements with a verdict given or, when it was the same, taken back; always a new object.
export function withVerdict(judgements, id, verdict) {
  const before = judgements[id] || { verdict: "", note: "" };
  return settled(judgements, id, { ...before, verdict: before.verdict === verdict ? "" : verdict });
}

export function withNote(judgements, id, note) {
  const before = judgements[id] || { verdict: "", note: "" };
  return settled(judgements, id, { ...before, note: note.trim() });
}

function settled(judgements, id, judgement) {
  const next = { ...judgements };
  if (judgement.verdict || judgement.note) next[id] = judgement;
  else delete next[id];
  return next;
}

// Judgements as JSONL in the form of a file of annotations.
export function asJsonl({ spans, who, recipe }, judgements, when) {
  const lines = spans.flatMap((span) => {
    const judgement = judgements[span.id];
    if (!judgement) return [];
    const { document, field, category, text } = span;
    const verdict = judgement.verdict || null;
    return [
      JSON.stringify({
        span: span.id,
        document,
        field,
        category,
        text,
        verdict,
        note: judgement.note,
        who,
        when,
        recipe,
      }),
    ];
  });
  return lines.map((line) => `${line}\n`).join("");
}

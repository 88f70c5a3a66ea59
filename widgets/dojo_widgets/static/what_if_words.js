// What a place of the controls comes to, in words, no DOM.

import { count, fixed, whole } from "./numbers.js";
import { outcomeAt, poolOf } from "./what_if_states.js";

const MINUS = "\u2212";

export function estimateWords({ accuracy, lo, hi }) {
  return lo == null ? fixed(accuracy, 3) : `${fixed(accuracy, 3)} [${fixed(lo, 3)}, ${fixed(hi, 3)}]`;
}

// "+2.5 pp"; a change that rounds to nothing has no sign.
export function pointsWords(change) {
  const size = fixed(Math.abs(100 * change), 1);
  return size === "0.0" ? "0.0 pp" : `${change < 0 ? MINUS : "+"}${size} pp`;
}

// A share as a percentage of three digits that count.
export function shareWords(share) {
  return `${Number((100 * share).toPrecision(3))}\u00a0%`;
}

export function votesWords(votes) {
  return votes === 1 ? "One vote" : `${votes} votes`;
}

// Few numbers of documents are told apart below ten.
export function documentsWords(n) {
  if (n >= 9.95) return whole(Math.round(n));
  if (n >= 0.05) return fixed(n, 1);
  return n > 0 ? "under 0.1" : "0";
}

export function rangeWords(low, high) {
  const [from, to] = [documentsWords(Math.min(low, high)), documentsWords(Math.max(low, high))];
  return from === to ? from : `${from} to ${to}`;
}

export function timesWords(value) {
  return fixed(value, value >= 10 ? 1 : 2);
}

export function dollarsWords(value) {
  if (!value) return "$0";
  if (value >= 1) return `$${value >= 1000 ? whole(Math.round(value)) : fixed(value, 2)}`;
  return `$${fixed(value, 2 - Math.floor(Math.log10(value)))}`;
}

export function costWords(data, cost) {
  return data.call_usd == null ? `${timesWords(cost)} calls` : dollarsWords(cost * data.call_usd);
}

function doneWords(place) {
  return `${votesWords(place.votes)}, ${place.alpha > 0 ? shareWords(place.alpha) : "nothing"} escalated`;
}

// The finding: what this place would give, beside one vote and nothing escalated.
export function titleWords(data, place) {
  const outcome = outcomeAt(data, place);
  const said = `${doneWords(place)}: accuracy ${estimateWords(outcome)}`;
  if (place.votes === 1 && !place.alpha) return said;
  const before = outcomeAt(data, { ...data.base, pool: place.pool });
  const change = pointsWords(outcome.accuracy - before.accuracy);
  return `${said}, ${change} for ${timesWords(outcome.cost / before.cost)} \u00d7 the cost`;
}

// What to conclude.
export function conclusionWords(data, place) {
  const pool = poolOf(data, place.pool);
  const outcome = outcomeAt(data, place);
  const before = outcomeAt(data, { ...data.base, pool: place.pool });
  const said = [`With ever more votes of this pool alone accuracy tends to ${fixed(pool.limit.value, 3)}`];
  const change = Math.abs(outcome.accuracy - before.accuracy);
  if (data.band.value != null && change > 1e-9) {
    const side = change > data.band.value ? "larger than" : "within";
    said.push(`the change is ${side} what reruns differ by (\u00b1${fixed(100 * data.band.value, 1)} pp)`);
  }
  return `${said.join("; ")}.`;
}

// What not to conclude: every caveat that bears on a place, the weightiest first.
export function caveats(data, place) {
  const pool = poolOf(data, place.pool);
  return [...poolCaveats(pool, place), ...escalationCaveats(data, place), ...failureCaveats(data, place)];
}

function poolCaveats(pool, { votes }) {
  const same = pool.models === 1 && pool.prompts === 1;
  const who = {
    all: `${votes} votes are ${votes} random pairs of ${count(pool.models, "model")} and ` +
      `${count(pool.prompts, "prompt")}, not one model asked ${votes} times`,
    model: `${votes} votes are random ones of ${count(pool.models, "model")}, each asked once (${pool.held})`,
    prompt: `${votes} votes are random ones of ${count(pool.runs, "run")} of ${count(pool.models, "model")} ` +
      `(${pool.held})`,
    rerun: `${pool.runs > 1 ? "one model and one prompt, asked again" : "one run, drawn from again"}` +
      `${pool.held ? ` (${pool.held})` : ""}`,
  }[same ? "rerun" : pool.key];
  const said = votes > 1 ? [`${who[0].toUpperCase()}${who.slice(1)}.`] : [];
  if (pool.single) {
    said.push("Every document has one stored vote, so more votes repeat it: that nothing changes is an artefact.");
    return said;
  }
  const drawn = `Votes are drawn anew from the ${pool.per_document} a document has on average`;
  said.push(`${drawn}: errors that runs share cannot be voted away.`);
  said.push(...(pool.notes ?? []).map((note) => `${note}.`));
  return said;
}

function escalationCaveats(data, place) {
  if (!place.alpha) return [];
  const pool = poolOf(data, place.pool);
  const { tail, strongerTail, escalated } = outcomeAt(data, place);
  const hard = `${votesWords(place.votes).toLowerCase()} get${place.votes === 1 ? "s" : ""} ${fixed(tail, 3)} of ` +
    `the ${whole(escalated)} escalated documents right`;
  const real = data.stronger == null ? "" : `; ${shortModel(data.stronger)} really got ${fixed(strongerTail, 3)}`;
  const what = place.use_stronger
    ? `Real answers of ${shortModel(data.stronger)}`
    : `${fixed(place.escalated_accuracy, 2)} is an assumption, and these are the least sure ones`;
  const answered = data.stronger == null ? "" : ` It answered ${whole(pool.answered)} of ${count(pool.n, "document")}.`;
  const said = [`${what}: ${hard}${real}.${answered}`];
  if (!pool.single) {
    const rests = `The ranking rests on all stored votes, ${pool.per_document} a document`;
    said.push(`${rests}; ${place.votes === 1 ? "one paid vote" : `${place.votes} paid votes`} cannot give it.`);
  }
  const more = place.escalated_cost - 1;
  const paid = place.votes === 1 ? "The vote is" : "All votes are";
  said.push(
    `${paid} paid for before a document can be escalated, which costs ${Math.abs(more)} ` +
      `${Math.abs(more) === 1 ? "call" : "calls"} ${more < 0 ? "less" : "more"}.`,
  );
  return said;
}

function failureCaveats(data, place) {
  const { rows, failed, runs } = data.failures;
  const each = place.votes > 1 ? ", counted for one vote" : "";
  const seen = `${whole(failed)} of ${whole(rows)} ${rows === 1 ? "call" : "calls"} failed in ${count(runs, "run")}`;
  return [
    `Without an answer${each}: the first number takes tries as independent, the second lets them share an outage. ` +
      `${seen}.`,
    `${shareWords(data.level)} intervals over ${count(poolOf(data, place.pool).n, "document")}` +
      `${poolOf(data, place.pool).n < 20 ? ", too few to rely on" : ""}: not label errors, not rerun noise${bandWords(data.band)}.`,
  ];
}

function bandWords({ value, m, reason }) {
  if (value == null) return `, whose band is unknown (${reason})`;
  return ` (band \u00b1${fixed(100 * value, 1)} pp, from ${count(m, "rerun")} beyond the first)`;
}

export function shortModel(name) {
  return name.split("/").at(-1);
}

export function spokenWords(data, place) {
  const outcome = outcomeAt(data, place);
  return `${doneWords(place)}: accuracy ${fixed(outcome.accuracy, 3)}, ${costWords(data, outcome.cost)} a document`;
}

export function signedWords(change) {
  if (Math.abs(change) < 0.05) return "0";
  return `${change < 0 ? MINUS : "+"}${documentsWords(Math.abs(change))}`;
}

// Rows of the table of outcomes: { name, note, before, after, change }, intervals apart so that they can be set back.
export function outcomeRows(data, place) {
  const before = outcomeAt(data, { ...data.base, pool: place.pool });
  const after = outcomeAt(data, place);
  const scale = whole(data.scale);
  const interval = ({ lo, hi }) => `[${fixed(lo, 3)}, ${fixed(hi, 3)}]`;
  return [
    {
      name: "accuracy",
      before: fixed(before.accuracy, 3),
      beforeInterval: interval(before),
      after: fixed(after.accuracy, 3),
      afterInterval: interval(after),
      change: pointsWords(after.accuracy - before.accuracy),
    },
    {
      name: "wrong",
      note: `of ${scale}`,
      before: documentsWords(before.wrong),
      after: documentsWords(after.wrong),
      change: signedWords(after.wrong - before.wrong),
    },
    {
      name: "cost a document",
      before: costWords(data, before.cost),
      after: costWords(data, after.cost),
      change: `\u00d7 ${timesWords(after.cost / before.cost)}`,
    },
    ...(data.call_usd == null
      ? []
      : [
          {
            name: "cost",
            note: `of ${scale}`,
            before: dollarsWords(before.cost * data.call_usd * data.scale),
            after: dollarsWords(after.cost * data.call_usd * data.scale),
            change: signedDollars((after.cost - before.cost) * data.call_usd * data.scale),
          },
        ]),
    {
      name: "no answer",
      note: `of ${scale}`,
      before: rangeWords(before.failed, before.failed_clustered),
      after: rangeWords(after.failed, after.failed_clustered),
      change: signedRangeWords(after.failed - before.failed, after.failed_clustered - before.failed_clustered),
    },
  ];
}

function signedDollars(change) {
  return change ? `${change < 0 ? MINUS : "+"}${dollarsWords(Math.abs(change))}` : "$0";
}

function signedRangeWords(one, other) {
  const ends = [Math.min(one, other), Math.max(one, other)].map(signedWords);
  return ends[0] === ends[1] ? ends[0] : ends.join(" to ");
}

// What is selected in a table of misses, and what follows from a choice. The traits are the only state; several views
// of one model, and Python, may change them at any time.

import { put } from "./dom.js";
import { nextSort, readSort } from "./families.js";
import { firstSpan, heading, listed, settled } from "./span_rows.js";

const FILTERS = ["family", "cause", "show", "span"];
const CHOICES = [...FILTERS, "sort", "family_sort"];
// Python selects a span for a family it was given; where no Python runs, this view does it a little later.
const SETTLE_MS = 150;

// Returns { table(), choice(), list(), position(), choose(changes), ... }; `watch(run)` calls back, once for a bundle
// of changes. `shown` is the `view` the state belongs to.
export function missState(model, shown) {
  const watchers = [];
  let memo = { key: null, list: null, table: null };
  let isPending = false;
  let changed = new Set();
  let timer = 0;

  const table = () => model.get("data");
  const choice = () => Object.fromEntries(CHOICES.map((trait) => [trait, model.get(trait)]));

  const list = () => {
    const now = choice();
    const key = [now.family, now.cause, now.show, now.sort].join("\n");
    if (memo.key !== key || memo.table !== table()) memo = { key, table: table(), list: listed(table(), now) };
    return memo.list;
  };

  const position = () => list().rows.findIndex((span) => span.id === model.get("span"));

  // Filters change what is listed, so they select a span of their own unless the selected one may stay.
  const choose = (changes) => {
    const next = { ...choice(), ...changes };
    if ("show" in changes && changes.show !== "missed") next.cause = "";
    if (changes.cause) next.show = "missed";
    if (changes.family) next.span = firstSpan(table(), next);
    apply(settled(table(), next, "span" in changes));
  };

  const apply = (next) => {
    const now = choice();
    const different = Object.entries(next).filter(([trait, value]) => now[trait] !== value);
    if (different.length) put(model, Object.fromEntries(different));
  };

  const settle = () => {
    const asksForSpan = changed.has("span") && !["family", "cause", "show"].some((trait) => changed.has(trait));
    changed = new Set();
    apply(settled(table(), choice(), asksForSpan));
  };

  const tell = () => {
    isPending = false;
    for (const run of watchers) run();
    shown.live(words());
  };

  for (const trait of ["data", ...CHOICES]) {
    shown.listen(model, [trait], () => {
      changed.add(trait);
      clearTimeout(timer);
      timer = setTimeout(settle, SETTLE_MS);
      if (isPending) return;
      isPending = true;
      queueMicrotask(tell);
    });
  }
  shown.onDispose(() => clearTimeout(timer));

  const words = () => heading(table(), choice(), position(), list().rows);

  const move = (steps) => {
    const { rows } = list();
    const at = Math.max(0, Math.min(rows.length - 1, position() + steps));
    if (rows[at]) choose({ span: rows[at].id });
  };

  const sortBy = (trait, by, natural) => apply({ ...choice(), [trait]: nextSort(model.get(trait), by, natural) });

  // Drops the last filter: the cause, then the family. False when there is none.
  const clear = () => {
    const { cause, family } = choice();
    if (!cause && !family) return false;
    choose(cause ? { cause: "" } : { family: "" });
    return true;
  };

  apply(settled(table(), choice(), true));
  return {
    table,
    choice,
    list,
    position,
    choose,
    words,
    move,
    clear,
    sortOf: (trait) => readSort(model.get(trait)),
    sortBy,
    watch: (run) => watchers.push(run),
  };
}

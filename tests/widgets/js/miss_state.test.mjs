import assert from "node:assert/strict";
import { afterEach, beforeEach, mock, test } from "node:test";

import { missState } from "../../../widgets/dojo_widgets/static/miss_state.js";
import { SPANS, tableOf } from "./miss_records.mjs";

class Model {
  constructor(changes) {
    this.state = {
      data: tableOf(SPANS),
      family: "",
      cause: "",
      show: "missed",
      span: "",
      sort: "similarity:desc",
      family_sort: "count:desc",
      ...changes,
    };
    this.listeners = [];
    this.saved = 0;
  }
  get(name) {
    return this.state[name];
  }
  // As hosts do: every change is told at once, before the next one is set.
  set(name, value) {
    this.state[name] = value;
    for (const [event, run] of this.listeners) if (event === `change:${name}`) run();
  }
  save_changes() {
    this.saved += 1;
  }
  on(event, run) {
    this.listeners.push([event, run]);
  }
}

function start(changes) {
  const model = new Model(changes);
  const said = [];
  const shown = {
    live: (text) => said.push(text),
    listen: (of, [trait], run) => of.on(`change:${trait}`, run),
    onDispose: () => {},
  };
  return { model, said, state: missState(model, shown) };
}
const told = () => new Promise((resolve) => queueMicrotask(resolve));

beforeEach(() => mock.timers.enable({ apis: ["setTimeout"] }));
afterEach(() => mock.timers.reset());

test("a span is selected before anybody clicks", () => {
  assert.equal(start().model.get("span"), "b");
  assert.equal(start({ span: "d" }).model.get("span"), "d");
});

test("a family selects its first span in one save, and is told once", async () => {
  const { model, state, said } = start();
  let calls = 0;
  state.watch(() => (calls += 1));
  const before = model.saved;
  state.choose({ family: "Audit" });
  await told();
  assert.deepEqual([model.get("family"), model.get("span"), model.saved - before, calls], ["Audit", "d", 1, 1]);
  assert.equal(said.at(-1), "Audit \u00b7 span 1 of 1");
});

test("going back to all families keeps the span", () => {
  const { model, state } = start({ family: "Audit" });
  state.choose({ family: "" });
  assert.equal(model.get("span"), "d");
});

test("a cause shows what is missed, matched spans have no cause", () => {
  const { model, state } = start({ show: "matched" });
  state.choose({ cause: "split" });
  assert.deepEqual([model.get("show"), model.get("span")], ["missed", "b"]);
  state.choose({ show: "matched" });
  assert.deepEqual([model.get("cause"), model.get("span")], ["", "c"]);
});

test("clearing drops the cause first, then the family, then nothing", () => {
  const { model, state } = start({ family: "Cap", cause: "split" });
  assert.equal(state.clear(), true);
  assert.deepEqual([model.get("family"), model.get("cause")], ["Cap", ""]);
  assert.equal(state.clear(), true);
  assert.equal(model.get("family"), "");
  assert.equal(state.clear(), false);
});

test("moving stops at both ends", () => {
  const { model, state } = start();
  state.move(-9);
  assert.equal(model.get("span"), "d");
  state.move(1);
  assert.equal(model.get("span"), "b");
  state.move(9);
  assert.equal(model.get("span"), "a");
});

test("a family set from outside selects a span of its own, but only when nobody else did", () => {
  const { model } = start();
  model.set("family", "Audit");
  mock.timers.tick(1_000);
  assert.equal(model.get("span"), "d");
  model.set("family", "Cap");
  model.set("span", "a");
  mock.timers.tick(1_000);
  assert.equal(model.get("span"), "a");
});

test("a span set from outside is shown, whatever the filters", () => {
  const { model } = start({ family: "Audit" });
  model.set("span", "c");
  mock.timers.tick(1_000);
  assert.deepEqual([model.get("family"), model.get("show"), model.get("span")], ["", "matched", "c"]);
});

test("another table drops what it does not have", () => {
  const { model } = start({ family: "Audit" });
  model.set(
    "data",
    tableOf(
      SPANS.filter(({ category }) => category === "Cap"),
      { families: [] },
    ),
  );
  mock.timers.tick(1_000);
  assert.deepEqual([model.get("family"), model.get("span")], ["", "b"]);
});

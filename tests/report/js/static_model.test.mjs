// The model of widgets on pages without Python: node --test tests/report/js/
import assert from "node:assert/strict";
import test from "node:test";

import { addressed, readAddress, writtenAddress } from "../../../dojo_kit/templates/page_address.js";
import { StaticModel, link } from "../../../dojo_kit/templates/static_model.js";

const spans = { source: "span", target: "record", values: { a: { text: "A" }, b: { text: "B" } } };

function heard(model, ...traits) {
  const events = [];
  for (const trait of traits) model.on(`change:${trait}`, () => events.push(trait));
  return events;
}

function choose(model, trait, value) {
  model.set(trait, value);
  model.save_changes();
}

test("setting tells once, and only when something changed", () => {
  const model = new StaticModel({ span: "a", list: [1] });
  const events = heard(model, "span", "list");
  model.set("span", "a");
  model.set("list", [1]);
  assert.deepEqual(events, []);
  model.set({ span: "b", list: [2] });
  assert.deepEqual(events, ["span", "list"]);
});

test("listeners get model and value, and can be taken off in every way", () => {
  const model = new StaticModel({ span: "a" });
  const seen = [];
  const run = (from, value) => seen.push([from === model, value]);
  model.on("change:span change", run);
  model.set("span", "b");
  assert.deepEqual(seen, [[true, "b"], [true, undefined]]);
  model.off("change", run);
  model.off("change:span");
  model.on("change:span", run);
  model.off(null, run);
  model.on("change:span", run);
  model.off();
  model.set("span", "c");
  assert.equal(seen.length, 2);
});

test("what Python would answer comes from a table, after saving, once", () => {
  const model = new StaticModel({ span: "", record: {} }, [spans]);
  const events = heard(model, "record");
  model.set("span", "a");
  assert.deepEqual(model.get("record"), {});
  model.save_changes();
  assert.deepEqual(model.get("record"), { text: "A" });
  choose(model, "span", "a");
  assert.deepEqual(events, ["record"]);
});

test("a source without an entry empties its target", () => {
  const model = new StaticModel({ span: "a", record: { text: "A" } }, [spans]);
  choose(model, "span", "__proto__");
  assert.deepEqual(model.get("record"), {});
});

test("tables follow each other, numbers are looked up as text, and circles end", () => {
  const model = new StaticModel({ threshold: 0.5, span: "", record: {} }, [
    { source: "threshold", target: "span", values: { 0.6: "b" } },
    spans,
    { source: "record", target: "threshold", values: {} },
  ]);
  choose(model, "threshold", 0.6);
  assert.equal(model.get("span"), "b");
  assert.deepEqual(model.get("record"), { text: "B" });
  assert.equal(model.get("threshold"), null);
});

test("linked traits start equal and stay equal, with everything that follows", () => {
  const list = new StaticModel({ span: "a", family: "x" });
  const compare = new StaticModel({ span: "", record: {} }, [spans]);
  link([list, compare], ["span", "family"]);
  assert.equal(compare.get("span"), "a");
  assert.deepEqual(compare.get("record"), { text: "A" });
  const events = heard(list, "span");
  choose(compare, "span", "b");
  assert.equal(list.get("span"), "b");
  assert.deepEqual(events, ["span"]);
  assert.equal("family" in compare.state, false);
});

test("a target that is linked reaches the others too", () => {
  const list = new StaticModel({ span: "", record: {} }, [spans]);
  const compare = new StaticModel({ record: {} });
  link([list, compare], ["record"]);
  choose(list, "span", "b");
  assert.deepEqual(compare.get("record"), { text: "B" });
});

test("a listener may set other traits while it hears of one", () => {
  const model = new StaticModel({ family: "", span: "a" });
  const other = new StaticModel({ family: "", span: "" });
  link([model, other], ["family", "span"]);
  other.on("change:family", () => choose(other, "span", ""));
  choose(model, "family", "x");
  assert.equal(model.get("span"), "");
});

test("the address holds what differs from the start, typed as it was", () => {
  const model = new StaticModel({ span: "", threshold: 0.6, open: false, record: {} });
  const entries = addressed([{ models: [model], traits: ["span", "threshold", "open", "record"] }]);
  assert.equal(writtenAddress(entries), "");
  readAddress(entries, "#span=a%26b&threshold=0.7&open=true&record=x&stranger=1");
  assert.deepEqual({ ...model.state }, { span: "a&b", threshold: 0.7, open: true, record: {} });
  assert.equal(writtenAddress(entries), "span=a%26b&threshold=0.7&open=true");
  readAddress(entries, "#threshold=nonsense");
  assert.equal(model.get("threshold"), 0.7);
});

test("the same trait in two groups has two names", () => {
  const groups = ["a", "b"].map((span) => ({ models: [new StaticModel({ span })], traits: ["span"] }));
  const entries = addressed(groups);
  readAddress(entries, "#span.2=z");
  assert.deepEqual(groups.map(({ models }) => models[0].get("span")), ["a", "z"]);
});

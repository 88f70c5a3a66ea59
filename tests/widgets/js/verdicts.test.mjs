import assert from "node:assert/strict";
import { test } from "node:test";

import { VERDICTS, verdictWords, verdictsFor } from "../../../widgets/dojo_widgets/static/label_queue.js";
import { carriedSpans, isPublished } from "../../../widgets/dojo_widgets/static/published.js";

test("a match is judged in words of its own under the same keys", () => {
  assert.equal(verdictsFor("near"), VERDICTS);
  assert.deepEqual(
    verdictsFor("matched").map(({ id, key, words }) => [id, key, words]),
    [
      ["true_miss", "a", "Match wrong"],
      ["not_a_miss", "r", "Match right"],
      ["label_wrong", "w", "Label wrong"],
    ],
  );
  assert.equal(verdictWords("not_a_miss"), "Not a miss");
  assert.equal(verdictWords("", "matched"), "");
});

test("a page without Python knows which spans it can open", () => {
  const records = { source: "span", target: "record", values: { "": {}, a: {} } };
  const notebook = { get: () => [] };
  assert.equal(carriedSpans(notebook), null);
  assert.equal(isPublished(notebook), false);
  assert.deepEqual([...carriedSpans({ tables: [records], get: () => undefined })], ["", "a"]);
  assert.deepEqual([...carriedSpans({ get: () => [records] })], ["", "a"]);
  assert.equal(isPublished({ tables: [], get: () => undefined }), true);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { IDLE_AFTER, counts } = await load("clock.js");

test("a second counts while the page is seen and used", () => {
  assert.equal(counts({ now: 5000, lastSign: 4000, visible: true }), true);
});
test("a hidden page and an absent rater do not count", () => {
  assert.equal(counts({ now: 5000, lastSign: 4000, visible: false }), false);
  assert.equal(counts({ now: IDLE_AFTER + 1, lastSign: 0, visible: true }), false);
});

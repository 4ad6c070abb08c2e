import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { address, uidOf } = await load("guidance.js");

const form = { dataset: { guidance: "/s/rounds/1/bugs/2/guidance/" } };

test("examples are asked for at the bug's own address", () => {
  assert.equal(address(form, "abc"), "/s/rounds/1/bugs/2/guidance/abc/");
});

test("nothing is asked where the round gives none, or no category is meant", () => {
  assert.equal(address({ dataset: {} }, "abc"), null);
  assert.equal(address(form, null), null);
  assert.equal(address(null, "abc"), null);
});

test("the category is the option that one is at", () => {
  const option = { querySelector: () => ({ value: "abc" }) };
  assert.equal(uidOf({ closest: () => option }), "abc");
  assert.equal(uidOf({ closest: () => null }), null);
  assert.equal(uidOf(null), null);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { clash } = await load("codebook-hotkey.js");
const { meaning, neighbour } = await load("codebook-tree.js");

const field = { matches: () => true };
const link = { matches: () => false };
const press = (key, more = {}) => meaning({ key, target: link, ...more });

test("a key that something else has is named with its owner and the free ones", () => {
  assert.equal(clash(" a ", { A: "“Crash”" }, "B, C"), "A belongs to “Crash”. Free: B, C.");
});

test("a free key, or none, says nothing", () => {
  assert.equal(clash("b", { A: "“Crash”" }, "B"), "");
  assert.equal(clash("", { A: "“Crash”" }, "B"), "");
  assert.equal(clash("constructor", {}, "B"), "");
});

test("arrows walk and E edits, but not while typing, composing or with a modifier", () => {
  assert.deepEqual([press("ArrowDown"), press("ArrowUp"), press("e"), press("x")], [1, -1, "edit", null]);
  assert.equal(press("e", { target: field }), null);
  assert.equal(press("e", { isComposing: true }), null);
  assert.equal(press("e", { ctrlKey: true }), null);
});

test("walking ends at the ends", () => {
  assert.equal(neighbour(["a", "b"], "b", 1), "b");
  assert.equal(neighbour(["a", "b"], "a", -1), "a");
  assert.equal(neighbour(["a", "b"], "a", 1), "b");
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { meaning, moved } = await load("rules.js");

test("a rule moves up and down, and by several places when it is dragged", () => {
  assert.deepEqual(moved(["a", "b", "c"], 2, -1), ["a", "c", "b"]);
  assert.deepEqual(moved(["a", "b", "c"], 0, 2), ["b", "c", "a"]);
});

test("it stays at the ends", () => {
  assert.deepEqual(moved(["a", "b"], 0, -1), ["a", "b"]);
  assert.deepEqual(moved(["a", "b"], 1, 1), ["a", "b"]);
  assert.deepEqual(moved(["a"], -1, 1), ["a"]);
});

test("arrows move with Alt alone, so that they go on serving the fields", () => {
  assert.equal(meaning({ key: "ArrowUp", altKey: true }), -1);
  assert.equal(meaning({ key: "ArrowDown", altKey: false }), 0);
  assert.equal(meaning({ key: "ArrowDown", altKey: true, ctrlKey: true }), 0);
  assert.equal(meaning({ key: "x", altKey: true }), 0);
});

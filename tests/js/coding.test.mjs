import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { about, following, matches, meaning, neighbour } = await load("coding.js");

const field = { matches: () => true };
const box = { matches: () => false };
const press = (key, more = {}, options) => meaning({ key, target: box, ...more }, options);

test("arrows and J K walk, whatever else is a key of the board", () => {
  assert.deepEqual([press("ArrowDown"), press("k"), press("n"), press("3")], [{ move: 1 }, { move: -1 }, { key: "N" }, { key: "3" }]);
});

test("the blank marks by itself and is left to the browser", () => {
  assert.equal(press(" "), null);
});

test("nothing happens while typing, composing or with a modifier", () => {
  assert.equal(press("n", { target: field }), null);
  assert.equal(press("n", { isComposing: true }), null);
  assert.equal(press("z", { ctrlKey: true }), null);
});

test("with shortcuts off only arrows walk", () => {
  assert.equal(press("n", {}, { on: false }), null);
  assert.deepEqual(press("ArrowUp", {}, { on: false }), { move: -1 });
});

test("a key that is held acts once but goes on walking", () => {
  assert.equal(press("1", { repeat: true }), null);
  assert.deepEqual(press("j", { repeat: true }), { move: 1 });
});

test("a step is about what is marked, else about where one is", () => {
  assert.deepEqual([about(["a", "b"], "c"), about([], "c"), about([], null)], [["a", "b"], ["c"], []]);
});

test("after a step one stands at the next that is left, else at the last before", () => {
  assert.equal(following(["a", "b", "c"], ["b"], "b"), "c");
  assert.equal(following(["a", "b", "c"], ["b", "c"], "b"), "a");
  assert.equal(following(["a"], ["a"], "a"), null);
});

test("walking ends at the ends", () => {
  assert.equal(neighbour(["a", "b"], "b", 1), "b");
  assert.equal(neighbour(["a", "b"], "a", -1), "a");
});

test("the list is narrowed by any part of the words", () => {
  assert.equal(matches("crash: Test failure", " test "), true);
  assert.equal(matches("crash", "hang"), false);
  assert.equal(matches("crash", ""), true);
});

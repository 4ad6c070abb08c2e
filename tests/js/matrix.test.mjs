import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { along, meaning, stepped } = await load("matrix.js");
const rows = [
  ["a1", "a2", undefined],
  ["b1", "b2", "b3"],
];
const press = (key, more = {}) => meaning({ key, target: { matches: () => false }, ...more });

test("arrows go to the neighbour, and stay where there is none", () => {
  assert.equal(stepped(rows, "a1", [0, 1]), "a2");
  assert.equal(stepped(rows, "a2", [1, 0]), "b2");
  assert.equal(stepped(rows, "a2", [0, 1]), "a2");
  assert.equal(stepped(rows, "b3", [-1, 0]), "b3");
  assert.equal(stepped(rows, "a1", [-1, 0]), "a1");
});

test("J and K go along all cells and stop at the ends", () => {
  const cells = ["a1", "a2", "b1"];
  assert.equal(along(cells, null, 1), "a1");
  assert.equal(along(cells, "a2", 1), "b1");
  assert.equal(along(cells, "b1", 1), "b1");
  assert.equal(along(cells, "a1", -1), "a1");
});

test("keys mean nothing while typing, with a modifier, or where single keys are off", () => {
  assert.deepEqual(press("ArrowUp"), { step: [-1, 0] });
  assert.deepEqual(press("J"), { along: 1 });
  assert.equal(press("j", { target: { matches: () => true } }), null);
  assert.equal(press("j", { ctrlKey: true }), null);
  assert.equal(meaning({ key: "j", target: null }, { on: false }), null);
  assert.equal(press("x"), null);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { isTyping, meaning, neighbour } = await load("adjudication.js");
const { fileOf, places } = await load("adjudication_pins.js");

const field = (typing) => ({ matches: (selector) => typing && selector.startsWith("textarea") });
const press = (key, more = {}) => ({ key, target: field(false), ...more });

test("a letter chooses, arrows walk the queue, brackets walk the facets", () => {
  assert.deepEqual(meaning(press("a")), { act: "choose", key: "A" });
  assert.deepEqual(meaning(press("ArrowDown")), { act: "walk", along: "row", by: 1 });
  assert.deepEqual(meaning(press("[")), { act: "walk", along: "facet", by: -1 });
});

test("switched off, single keys do nothing, arrows and Ctrl Enter still do", () => {
  for (const key of ["a", "[", "?"]) assert.equal(meaning(press(key), { on: false }), null);
  assert.deepEqual(meaning(press("ArrowUp"), { on: false }), { act: "walk", along: "row", by: -1 });
  assert.deepEqual(meaning(press("Enter", { ctrlKey: true }), { on: false }), { act: "settle" });
});
test("Ctrl Enter settles even while typing; other keys are inert there and during composition", () => {
  const typing = { target: field(true) };
  assert.deepEqual(meaning(press("Enter", { ctrlKey: true, ...typing })), { act: "settle" });
  assert.equal(meaning(press("a", typing)), null);
  assert.equal(meaning(press("ArrowDown", typing)), null);
  assert.deepEqual(meaning(press("Escape", typing)), { act: "leave" });
  assert.equal(meaning(press("a", { isComposing: true })), null);
  assert.equal(meaning(press("a", { ctrlKey: true })), null);
  assert.equal(isTyping(null), false);
});

test("the neighbour of the current row, and none beyond the ends", () => {
  const link = (current) => ({ hasAttribute: () => current });
  const rows = [link(false), link(true)];
  assert.equal(neighbour(rows, -1), rows[0]);
  assert.equal(neighbour(rows, 1), null);
  assert.equal(neighbour([], 1), null);
});

test("each pinned place knows the sides that pinned it, once", () => {
  const pin = (letter, anchor) => ({ dataset: { pin: letter }, getAttribute: () => `#${anchor}` });
  const found = places([pin("A", "f0n3"), pin("B", "f0n3"), pin("A", "f0n3"), pin("B", "c1")]);
  assert.deepEqual([...found], [["f0n3", ["A", "B"]], ["c1", ["B"]]]);
});

test("a pin on a line names the file whose diff holds it", () => {
  assert.equal(fileOf("f12n178"), "12");
  assert.equal(fileOf("f1o9"), "1");
  assert.equal(fileOf("desc"), null);
  assert.equal(fileOf("c3"), null);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { stepped, counted, isTyping, matches, meaning, nextOpen } = await load("keys.js");

const page = { matches: () => false };
const field = { matches: (selector) => selector.startsWith("textarea") };
const press = (key, more = {}) => ({ key, target: page, ...more });
const facet = (name, chosen) => ({ dataset: { name }, querySelector: () => (chosen ? {} : null) });

test("a plain key asks for what the page says, in capitals", () => {
  assert.deepEqual(meaning(press("r")), { act: "key", key: "R" });
});
test("keys are inert while typing", () => {
  assert.equal(meaning(press("r", { target: field })), null);
  assert.equal(isTyping(field), true);
});
test("keys are inert during composition", () => {
  assert.equal(meaning(press("r", { isComposing: true })), null);
  assert.equal(meaning(press("Enter", { ctrlKey: true, isComposing: true })), null);
  assert.equal(meaning(press("r", { keyCode: 229 })), null);
});
test("keys are inert with a modifier, so the browser's own still work", () => {
  for (const modifier of ["ctrlKey", "metaKey", "altKey"]) assert.equal(meaning(press("r", { [modifier]: true })), null);
});
test("a key that is held down counts once", () => {
  assert.equal(meaning(press("2", { repeat: true })), null);
});
test("named keys and the space bar keep their own meaning", () => {
  for (const key of ["ArrowDown", "Tab", "Enter", " ", "F5"]) assert.equal(meaning(press(key)), null);
});
test("switched off, single keys do nothing, but saving and leaving a field still work", () => {
  assert.equal(meaning(press("r"), { on: false }), null);
  assert.deepEqual(meaning(press("Enter", { ctrlKey: true }), { on: false }), { act: "save" });
  assert.deepEqual(meaning(press("Escape", { target: field }), { on: false }), { act: "leave" });
});
test("Ctrl and Enter saves from within a field too", () => {
  assert.deepEqual(meaning(press("Enter", { ctrlKey: true, target: field })), { act: "save" });
  assert.deepEqual(meaning(press("Enter", { metaKey: true })), { act: "save" });
});
test("the next open facet is the first unanswered one after this, and then from the top", () => {
  const all = [facet("A", false), facet("B", true), facet("C", false)];
  assert.equal(nextOpen(all, all[1]), all[2]);
  const passed = [facet("A", false), facet("B", true), facet("C", true)];
  assert.equal(nextOpen(passed, passed[2]), passed[0]);
});
test("without a place to go on from, the first open facet is next, and none where all are answered", () => {
  const all = [facet("A", true), facet("B", false)];
  assert.equal(nextOpen(all), all[1]);
  assert.equal(nextOpen([facet("A", true)]), null);
});
test("what is open is counted and named", () => {
  assert.deepEqual(counted([facet("Root cause", true), facet("Level", false)]), { done: 1, all: 2, open: ["level"] });
});
test("search finds a part of a name, whatever the case, and an empty search finds all", () => {
  assert.equal(matches("Type Issue", " issue "), true);
  assert.equal(matches("Type Issue", "shape"), false);
  assert.equal(matches("Type Issue", "  "), true);
});
test("confidence goes round from not given, either way", () => {
  assert.deepEqual([-1, 0, 1, 2].map((at) => stepped(at, 1, 3)), [0, 1, 2, 3]);
  assert.deepEqual([-1, 2, 1, 0].map((at) => stepped(at, -1, 3)), [2, 1, 0, 3]);
});
test("Shift with a letter is told, for keys that go both ways", () => {
  assert.deepEqual(meaning(press("U", { shiftKey: true })), { act: "key", key: "U", back: true });
});

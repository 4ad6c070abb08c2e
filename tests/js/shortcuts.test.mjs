import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { meaning, pointOf } = await load("shortcuts.js");

const page = { matches: () => false };
const field = { matches: (selector) => selector.startsWith("textarea") };
const press = (key, more = {}) => ({ key, target: page, ...more });
const button = (kinds) => ({ matches: (selector) => kinds.includes(selector) });

test("a slash searches and a question mark tells the keys", () => {
  assert.equal(meaning(press("/")), "search");
  assert.equal(meaning(press("?", { shiftKey: true })), "keys");
  assert.equal(meaning(press("a")), null);
});
test("keys are inert while typing, during composition and with a modifier", () => {
  assert.equal(meaning(press("/", { target: field })), null);
  assert.equal(meaning(press("/", { isComposing: true })), null);
  assert.equal(meaning(press("/", { ctrlKey: true })), null);
});
test("switched off, the primary action and leaving a field still work", () => {
  assert.equal(meaning(press("?"), { on: false }), null);
  assert.equal(meaning(press("Enter", { ctrlKey: true, target: field }), { on: false }), "primary");
  assert.equal(meaning(press("Escape", { target: field }), { on: false }), "leave");
});
test("what the page's own keys took is left alone", () => {
  assert.equal(meaning(press("Enter", { ctrlKey: true, defaultPrevented: true })), null);
});
test("the point of a page is its marked button, else the only one that sends", () => {
  const [marked, sends, plain] = [button([".pri", "[type=submit]"]), button(["[type=submit]"]), button([])];
  assert.equal(pointOf([plain, sends, marked]), marked);
  assert.equal(pointOf([plain, sends]), sends);
});
test("where several could be meant, none is", () => {
  assert.equal(pointOf([button([".pri"]), button([".pri"])]), null);
  assert.equal(pointOf([button([])]), null);
});

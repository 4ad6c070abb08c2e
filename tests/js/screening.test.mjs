import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { asked, words } = await load("screening.js");
const pressed = (key, more = {}) => ({ key, target: { matches: () => false }, ...more });
const typing = { matches: () => true };

test("I and the other letters press what the page names so", () => {
  assert.deepEqual(asked(pressed("i")), { act: "press", key: "I" });
  assert.deepEqual(asked(pressed("z")), { act: "press", key: "Z" });
});
test("E waits for the key of a criterion, in either case", () => {
  assert.deepEqual(asked(pressed("e")), { act: "arm" });
  assert.deepEqual(asked(pressed("2"), { armed: true }), { act: "cite", key: "2" });
  assert.deepEqual(asked(pressed("q"), { armed: true }), { act: "cite", key: "Q" });
});
test("once E is pressed no other key votes, and E or Escape takes it back", () => {
  assert.deepEqual(asked(pressed("i"), { armed: true }), { act: "cite", key: "I" });
  assert.deepEqual(asked(pressed("e"), { armed: true }), { act: "disarm" });
  assert.deepEqual(asked(pressed("Escape"), { armed: true }), { act: "disarm" });
  assert.equal(asked(pressed("Escape")), null);
});
test("C goes to the comment", () => {
  assert.deepEqual(asked(pressed("c")), { act: "comment" });
});
test("nothing is asked for while typing, composing, with a modifier, by a held key or with keys off", () => {
  assert.equal(asked(pressed("i", { target: typing })), null);
  for (const more of [{ ctrlKey: true }, { metaKey: true }, { altKey: true }, { repeat: true }, { isComposing: true }, { keyCode: 229 }, { defaultPrevented: true }])
    assert.equal(asked(pressed("i", more)), null);
  assert.equal(asked(pressed("i"), { on: false }), null);
});
test("keys without a letter are left to the browser", () => {
  for (const key of ["Enter", "ArrowDown", " ", "Tab"]) assert.equal(asked(pressed(key)), null);
});
test("saved is said with the time of the server's answer, trouble as trouble", () => {
  assert.deepEqual(words("kept", new Date(2026, 0, 1, 9, 5)), ["Saved 09:05", "good"]);
  for (const state of ["offline", "signedOut", "unsaved"]) assert.equal(words(state)[1], "bad");
});

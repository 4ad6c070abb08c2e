import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { isTheirs, same, snapshot, verdict, words } = await load("draft.js");
const server = { data: [["f-cause", "u1"]], base: "t1", revision: "0" };
const local = (more) => ({ data: [["f-cause", "u2"]], base: "t1", revision: "0", synced: false, ...more });

test("only what the rater says is kept, never tokens, times or an act", () => {
  const sent = [["csrfmiddlewaretoken", "x"], ["revision", "0"], ["active_seconds", "3"], ["act", "submit"], ["further", "y"], ["f-cause", "u1"], ["note", ""], ["confidence", "sure"], ["pin", "{}"]];
  assert.deepEqual(snapshot(sent), [["f-cause", "u1"], ["confidence", "sure"], ["pin", "{}"]]);
});
test("nothing on the device leaves the page as it is", () => {
  assert.equal(verdict(null, server), "none");
});
test("a copy that the server has, or that says the same, is dropped", () => {
  assert.equal(verdict(local({ synced: true, base: "t0" }), server), "drop");
  assert.equal(verdict(local({ data: server.data }), server), "drop");
});
test("a newer copy from a lost connection comes back", () => {
  assert.equal(verdict(local(), server), "restore");
});
test("a copy from before another draft or answer is never put back by itself", () => {
  assert.equal(verdict(local({ base: "t0" }), server), "conflict");
  assert.equal(verdict(local({ revision: "1" }), server), "conflict");
});
test("a draft is kept, with the time; saved is never said of it", () => {
  assert.deepEqual(words("kept", new Date(2026, 0, 1, 10, 42)), ["Draft kept 10:42", "good"]);
  for (const state of ["kept", "dirty", "keeping", "offline", "signedOut", "notYou", "elsewhere", "failed", "sent", "unsaved"]) {
    assert.doesNotMatch(words(state)[0], /^Saved/);
  }
  assert.match(words("signedOut")[0], /^Signed out, kept/);
});
test("order matters when drafts are compared", () => {
  assert.equal(same([["a", "1"]], [["a", "1"]]), true);
  assert.equal(same([["a", "1"]], [["a", "2"]]), false);
});
test("a draft goes to nobody else who is signed in by now", () => {
  assert.equal(isTheirs("bob", "alice"), true);
  assert.equal(isTheirs("alice", "alice"), false);
  assert.equal(isTheirs(undefined, "alice"), false);
  assert.match(words("notYou")[0], /kept on this device/);
});

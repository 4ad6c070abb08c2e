import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { follow, isAtEnd } = await load("follow.js");

const box = () => {
  const heard = {};
  return { scrollHeight: 500, clientHeight: 100, scrollTop: 0, heard, addEventListener: (name, act) => (heard[name] = act) };
};
const grown = () => {
  const acts = [];
  class Observer {
    constructor(act) {
      acts.push(act);
    }
    observe() {}
  }
  return { Observer, grow: () => acts.forEach((act) => act()) };
};

test("it stays at the end while the log grows", () => {
  const [log, { Observer, grow }] = [box(), grown()];
  follow(log, Observer);
  assert.equal(log.scrollTop, 500);
  log.scrollHeight = 900;
  grow();
  assert.equal(log.scrollTop, 900);
});

test("who scrolled up is left where they are, until they are at the end again", () => {
  const [log, { Observer, grow }] = [box(), grown()];
  follow(log, Observer);
  log.scrollTop = 120;
  log.heard.scroll();
  log.scrollHeight = 900;
  grow();
  assert.equal(log.scrollTop, 120);
  log.scrollTop = 800;
  log.heard.scroll();
  grow();
  assert.equal(log.scrollTop, 900);
});

test("near the end counts as the end", () => {
  assert.equal(isAtEnd({ scrollHeight: 500, clientHeight: 100, scrollTop: 390 }), true);
  assert.equal(isAtEnd({ scrollHeight: 500, clientHeight: 100, scrollTop: 300 }), false);
});

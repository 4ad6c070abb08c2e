import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { clipped, pinOf, step } = await load("evidence.js");
const row = (old, now, code, kinds = "") => ({
  id: "f0n9",
  matches: (selector) => selector === "tr" || (kinds !== "" && selector === `.${kinds}`),
  children: [{ textContent: old }, { textContent: now }],
  lastElementChild: { textContent: code },
  closest: () => ({ dataset: { path: "core/sum.cc" } }),
});

test("a pinned line says path, number and code", () => {
  assert.deepEqual(pinOf(row("8", "9", "  return  x;")), { kind: "line", anchor: "f0n9", place: "core/sum.cc:9", quote: "return x;" });
});
test("a removed line is named by its old number", () => {
  assert.equal(pinOf(row("8", "", "x", "del")).place, "core/sum.cc:8 (old)");
});
test("a selection within the place is quoted instead of the whole", () => {
  const comment = { id: "c1", matches: (selector) => selector === ".cmt", dataset: { place: "quill-7, 1 Mar 2026" }, querySelector: () => ({ textContent: "all of it" }) };
  assert.deepEqual(pinOf(comment, "some of it"), { kind: "comment", anchor: "c1", place: "quill-7, 1 Mar 2026", quote: "some of it" });
  assert.equal(pinOf(comment).quote, "all of it");
});
test("long quotes are clipped with a sign", () => {
  assert.equal(clipped("x".repeat(400)).length, 300);
  assert.match(clipped("x".repeat(400)), /…$/);
});
test("the cursor stops at both ends", () => {
  assert.deepEqual([step(0, -1, 3), step(2, 1, 3), step(1, 1, 3)], [0, 2, 2]);
});

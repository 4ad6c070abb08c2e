import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { offer } = await load("copy.js");

const part = () => {
  const heard = {};
  return { value: "secret", hidden: true, textContent: "Copy", heard, addEventListener: (name, act) => (heard[name] = act) };
};
const made = () => {
  const [text, button] = [part(), part()];
  return { text, button, querySelector: (which) => (which === "input" ? text : button) };
};

test("the button copies the text and says so", async () => {
  const place = made();
  const copied = [];
  offer(place, { writeText: async (text) => copied.push(text) });
  assert.equal(place.button.hidden, false);
  await place.button.heard.click();
  assert.deepEqual([copied, place.button.textContent], [["secret"], "Copied"]);
});

test("without a clipboard there is no button", () => {
  const place = made();
  offer(place, undefined);
  assert.equal(place.button.hidden, true);
});

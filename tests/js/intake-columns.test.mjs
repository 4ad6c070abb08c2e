import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { tie } = await load("intake-columns.js");

const line = (chosen) => {
  const heard = {};
  const option = (isPerson) => ({ hasAttribute: (name) => isPerson && name === "data-person" });
  const select = { selectedOptions: [option(chosen)], addEventListener: (name, act) => (heard[name] = act) };
  const whose = {};
  return {
    whose,
    choose: (isPerson) => {
      select.selectedOptions = [option(isPerson)];
      heard.change();
    },
    querySelector: (wanted) => (wanted === "select" ? select : whose),
  };
};

test("a rater's name is asked for where the column holds one person's answers", () => {
  const place = line(true);
  tie(place);
  assert.deepEqual([place.whose.hidden, place.whose.required], [false, true]);
});
test("it is asked for and left alone as the choice changes", () => {
  const place = line(false);
  tie(place);
  assert.deepEqual([place.whose.hidden, place.whose.required], [true, false]);
  place.choose(true);
  assert.equal(place.whose.hidden, false);
  place.choose(false);
  assert.deepEqual([place.whose.hidden, place.whose.required], [true, false]);
});

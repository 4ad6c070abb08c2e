import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { after, order } = await load("preferences.js");

test("the button goes through system, light and dark and comes back", () => {
  const seen = order.map((now) => after(now));
  assert.deepEqual(seen, ["light", "dark", "system"]);
});

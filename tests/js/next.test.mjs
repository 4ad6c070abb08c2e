import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

for (const name of ["next.js", "failures.js"]) {
  const { isSignIn, sentence } = await load(name);

  test(`${name}: a sign-in page is known by its address`, () => {
    assert.equal(isSignIn("http://here/accounts/login/?next=/a/"), true);
    assert.equal(isSignIn("http://here/study/rounds/1/label/"), false);
  });
  test(`${name}: a refusal is told in the page's own words`, () => {
    const page = '<h1 tabindex="-1">Not possible</h1><p>The round is &quot;closed&quot; &amp; final.</p>';
    assert.equal(sentence(409, page), 'Not possible. The round is "closed" & final.');
  });
  test(`${name}: a failure without words still says what happened`, () => {
    assert.match(sentence(502, "<html></html>"), /answered 502/);
    assert.match(sentence(502, undefined), /answered 502/);
  });
}
test("saved is what the server answered with the next bug, not a page to which it sent the browser", async () => {
  const { outcome } = await load("next.js");
  const asked = "/study/rounds/1/bugs/2/";
  assert.equal(outcome({ status: 200, asked, answered: `http://here${asked}` }), "kept");
  assert.equal(outcome({ status: 200, asked, answered: "http://here/accounts/login/?next=/a/" }), "signedOut");
  assert.equal(outcome({ status: 200, asked, answered: "http://here/" }), "unsaved");
  assert.equal(outcome({ status: 422, asked, answered: `http://here${asked}` }), "refused");
});
test("failures.js: a problem document is told by its detail", async () => {
  const { sentence } = await load("failures.js");
  assert.equal(sentence(400, JSON.stringify({ detail: "No such facet." })), "No such facet.");
});

// Save and next: one request answers with the next bug, whose text was fetched ahead; a failed one is said and sent again.
const pathOf = (url) => new URL(url, "http://here/").pathname;
export const isSignIn = (url) => pathOf(url).startsWith("/accounts/");

// What came back for what was sent: the next bug ("kept"), the same one with what is wrong, or a page that is no answer.
export const outcome = ({ status, asked, answered }) => {
  if (answered && isSignIn(answered)) return "signedOut";
  if (answered && pathOf(answered) !== pathOf(asked)) return "unsaved";
  return status === 200 ? "kept" : "refused";
};

// What a refused request means for the person: the sentence of the page or problem document that came back.
export const sentence = (status, body) => {
  const found = /<h1[^>]*>([^<]*)<\/h1>\s*<p>([^<]*)<\/p>/.exec(body ?? "");
  if (found) return decoded(`${found[1]}. ${found[2]}`);
  return `The server answered ${status}. Nothing was stored; your draft is kept on this device.`;
};
const decoded = (text) =>
  text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&quot;", '"').replaceAll("&#x27;", "'").replaceAll("&amp;", "&");

const form = () => document.querySelector("#answer");
const bug = () => document.querySelector("[data-draft]")?.dataset.draft.split("/").at(-1);
const tell = (name, detail) => document.dispatchEvent(new CustomEvent(name, { detail }));
let ahead = null; // the text of the next bug: { number, html }
let left = null; // the text on the page while an answer is on its way: { number, node, top }
let act = "submit";
let pressed = null;
let waiting = 0;
let renewed = false;
let came = "";
const SIGNED_OUT = "Not saved: you are signed out. Your answer is kept on this device; sign in again and save it.";
const ELSEWHERE = "Not saved: the server sent another page. Your answer is kept on this device; load this page again.";

const fetchAhead = async () => {
  const { next, nextUrl } = form()?.dataset ?? {};
  if (!nextUrl || ahead?.number === next) return;
  ahead = null;
  try {
    const answer = await fetch(nextUrl, { redirect: "manual", priority: "low" });
    if (answer.ok) ahead = { number: next, html: await answer.text() };
  } catch {
    // fetched with the answer instead
  }
};
const idle = (run) => ("requestIdleCallback" in window ? requestIdleCallback(run, { timeout: 2000 }) : setTimeout(run, 500));

const fill = () => {
  const spot = document.querySelector("#read[data-prefetched]");
  if (!spot) return;
  const number = spot.dataset.prefetched;
  if (left?.number === number) {
    spot.replaceWith(left.node);
    left.node.scrollTop = left.top;
  } else if (ahead?.number === number) {
    const holder = document.createElement("template");
    holder.innerHTML = ahead.html;
    const section = holder.content.querySelector("#read");
    spot.replaceWith(section);
    window.htmx?.process(section);
  } else location.reload();
};
const hush = () => (document.querySelector("#live").textContent = "");
const note = (text) => {
  hush();
  document.querySelector("[data-problem]")?.remove();
  const el = document.createElement("div");
  el.className = "note bad";
  el.dataset.problem = "";
  el.setAttribute("role", "alert");
  el.textContent = text;
  form().querySelector("#panel").prepend(el);
};
const again = (wait) => {
  clearTimeout(waiting);
  const mine = form();
  waiting = setTimeout(() => form() === mine && pressed?.click(), wait);
};
const renew = async () => {
  const page = await fetch(form().action, { redirect: "manual" });
  if (!page.ok) return false;
  const there = new DOMParser().parseFromString(await page.text(), "text/html");
  const token = there.querySelector("[name=csrfmiddlewaretoken]")?.value;
  const rater = there.querySelector("#answer [name=rater]")?.value;
  if (!token || (rater !== undefined && rater !== form().elements.namedItem("rater").value)) return false; // another is signed in
  for (const field of document.querySelectorAll("#main [name=csrfmiddlewaretoken]")) field.value = token;
  document.body.setAttribute("hx-headers", JSON.stringify({ "X-CSRFToken": token }));
  return true;
};
const refused = async ({ status, responseText }) => {
  if (status === 403 && !renewed && (renewed = true) && (await renew())) return again(0);
  tell("answer:failed", { state: "unsaved", again: status >= 500 });
  note(sentence(status, responseText));
};
// A refused answer comes back with what was chosen: on with the first open question, else with what was said.
const refusedHere = (problem) => {
  const open = act === "submit" ? [...form().querySelectorAll(".fct")].find((facet) => !facet.querySelector(":checked")) : null;
  (open?.querySelector(".opt > input") ?? problem).focus();
  problem.scrollIntoView({ block: "nearest" });
};
const arrived = () => {
  idle(fetchAhead);
  hush();
  const problem = document.querySelector("[data-problem]");
  if (problem) return refusedHere(problem);
  document.querySelector("#bug-title, main h1")?.focus({ preventScroll: true });
  if (came !== "kept") return;
  const done = { park: "Put off for later.", skip: "Skipped.", further: "Note kept." }[act] ?? "Saved.";
  document.querySelector("#live").textContent = `${done} ${document.title}`;
};

if (typeof document !== "undefined") {
  const OURS = "#answer, [data-act]"; // the answer, and the forms of the popovers
  const ours = ({ target, detail }) => Boolean((detail?.requestConfig?.elt ?? detail?.elt ?? target)?.matches?.(OURS));
  document.addEventListener("submit", (event) => {
    if (!event.target.matches(OURS)) return;
    pressed = event.submitter;
    act = event.target.querySelector("input[name=act]")?.value ?? event.submitter?.value ?? "submit";
  });
  document.addEventListener("htmx:configRequest", (event) => {
    if (!ours(event)) return;
    event.detail.headers["X-Fetched"] = [bug(), ahead?.number].filter(Boolean).join(",");
  });
  document.addEventListener("htmx:beforeRequest", (event) => {
    if (!ours(event)) return;
    const node = document.querySelector("#read");
    left = { number: bug(), node, top: node.scrollTop };
    came = "";
    hush();
    tell("answer:sending");
  });
  document.addEventListener("htmx:beforeSwap", (event) => {
    if (!ours(event)) return;
    const { xhr, requestConfig } = event.detail;
    came = outcome({ status: xhr.status, asked: requestConfig.path, answered: xhr.responseURL });
    if (came === "kept") {
      renewed = false;
      return tell("answer:kept");
    }
    if (came === "refused") return;
    event.detail.shouldSwap = false;
    tell("answer:failed", { state: came, again: came === "signedOut" });
    note(came === "signedOut" ? SIGNED_OUT : ELSEWHERE);
  });
  document.addEventListener("htmx:afterSwap", (event) => {
    if (event.detail.target?.id === "main" || event.target.id === "main") fill();
  });
  document.addEventListener("htmx:responseError", (event) => ours(event) && refused(event.detail.xhr));
  document.addEventListener("htmx:sendError", (event) => {
    if (!ours(event)) return;
    tell("answer:failed", { state: "offline" });
    again(5000);
  });
  window.addEventListener("online", () => waiting && again(0));
  let seen = form();
  document.addEventListener("htmx:afterSettle", () => {
    if (form() === seen) return;
    seen = form();
    clearTimeout(waiting);
    waiting = 0;
    arrived();
  });
  idle(fetchAhead);
}

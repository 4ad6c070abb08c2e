// Failed requests: htmx swaps nothing when the server refuses, so this says what happened, and keeps a sign-in page from being swapped into a fragment.
const told = (text) => {
  let note = document.querySelector("[data-failure]");
  if (!note) {
    note = document.createElement("div");
    note.className = "note bad";
    note.setAttribute("role", "alert");
    note.dataset.failure = "";
    document.querySelector("main")?.before(note);
  }
  note.textContent = text;
};

export const sentence = (status, body) => {
  const found = /<h1[^>]*>([^<]*)<\/h1>\s*<p>([^<]*)<\/p>/.exec(body ?? "");
  if (found) return decode(`${found[1]}. ${found[2]}`);
  try {
    const problem = JSON.parse(body);
    if (problem.detail) return String(problem.detail);
  } catch {
    // not a problem document: say the plain fact below
  }
  return `The server answered ${status}. Nothing was changed; try again.`;
};

const decode = (text) =>
  text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&quot;", '"').replaceAll("&#x27;", "'").replaceAll("&amp;", "&");

export const isSignIn = (url) => new URL(url, "http://here/").pathname.startsWith("/accounts/login");

if (typeof document !== "undefined") {
  document.addEventListener("htmx:beforeSwap", (event) => {
    const { xhr } = event.detail;
    if (!xhr.responseURL || !isSignIn(xhr.responseURL) || location.pathname.startsWith("/accounts/login")) return;
    event.detail.shouldSwap = false;
    event.preventDefault();
    told("You are signed out. Sign in again in another tab, then repeat this.");
  });
  document.addEventListener("htmx:responseError", (event) => told(sentence(event.detail.xhr.status, event.detail.xhr.responseText)));
  document.addEventListener("htmx:sendError", () => told("No connection to the server. Nothing was changed; try again when you are back online."));
  document.addEventListener("htmx:afterSwap", () => document.querySelector("[data-failure]")?.remove());
}

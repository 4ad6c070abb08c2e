// The draft: each change is kept on this device at once and on the server within a second, and can be undone.
const KEPT = /^(f-.*|not_a_bug|confidence|note|pin)$/;
export const WAIT = 800;

export const snapshot = (entries) => [...entries].filter(([name, value]) => KEPT.test(name) && value !== "").map(([name, value]) => [name, String(value)]);
export const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

// What to do with a copy found on this device when the page opens.
export const verdict = (local, server) => {
  if (!local) return "none";
  if (local.synced || same(local.data, server.data)) return "drop";
  return local.revision === server.revision && local.base === server.base ? "restore" : "conflict";
};

const clock = (date) => date.toTimeString().slice(0, 5);
export const words = (state, at = new Date()) =>
  ({
    kept: [`Draft kept ${clock(at)}`, "good"],
    dirty: ["Draft not kept yet", "warn"],
    keeping: ["Keeping the draft…", ""],
    offline: ["Offline, kept on this device", "bad"],
    signedOut: ["Signed out, kept on this device", "bad"],
    notYou: ["Another is signed in, kept on this device", "bad"],
    elsewhere: ["Changed elsewhere", "bad"],
    failed: ["The server failed, draft kept on this device", "bad"],
    sent: ["Saving…", ""],
    unsaved: ["Not saved, kept on this device", "bad"],
  })[state];

const box = {
  get: (key) => {
    try {
      return JSON.parse(localStorage.getItem(`draft:${key}`));
    } catch {
      return null;
    }
  },
  set: (key, record) => {
    try {
      localStorage.setItem(`draft:${key}`, JSON.stringify(record));
    } catch {
      // storage is closed or full: the server's copy is the only one
    }
  },
  drop: (key) => {
    try {
      localStorage.removeItem(`draft:${key}`);
    } catch {
      // nothing was kept
    }
  },
};

let form = null;
let key = "";
let base = ""; // when the server's draft was kept that this page knows of
let past = []; // states to go back to
let now = [];
let timer = 0;
let retry = 0;
let busy = false;
let closed = false; // the answer is on its way: no draft may follow it

const fields = () => {
  const all = new FormData(form);
  const reason = form.querySelector("[name=not_a_bug]:checked"); // it is sent by a form of its own
  if (reason) all.append(reason.name, reason.value);
  return all;
};
const data = () => snapshot(fields());
const revision = () => form.elements.namedItem("revision").value;
const record = (synced) => box.set(key, { data: data(), base, revision: revision(), synced, at: Date.now() });
const show = (state) => {
  const [text, kind] = words(state);
  const chip = document.querySelector("#save-state");
  chip.textContent = text;
  chip.className = kind ? `chip ${kind}` : "chip";
  document.querySelector("#save-help").hidden = state !== "signedOut";
};
const showUndo = () => {
  const button = form.querySelector("[data-undo]");
  if (button) button.hidden = past.length === 0 && !document.querySelector("[data-previous]");
};

const later = (wait) => {
  clearTimeout(timer);
  timer = setTimeout(send, wait);
};
const later5 = () => {
  clearTimeout(retry);
  retry = setTimeout(send, 5000);
};
// A draft is its rater's: whoever is signed in by now never gets it.
export const isTheirs = (there, here) => there !== undefined && there !== here;
const freshToken = async () => {
  const page = await fetch(form.action, { redirect: "manual" });
  if (!page.ok) return false;
  const there = new DOMParser().parseFromString(await page.text(), "text/html");
  const token = there.querySelector("[name=csrfmiddlewaretoken]")?.value;
  if (!token || isTheirs(there.querySelector("#answer [name=rater]")?.value, form.elements.namedItem("rater").value)) return false;
  for (const field of document.querySelectorAll("#main [name=csrfmiddlewaretoken]")) field.value = token;
  document.body.setAttribute("hx-headers", JSON.stringify({ "X-CSRFToken": token }));
  return true;
};
const post = (force) => {
  const body = new URLSearchParams([...fields()].filter(([, value]) => typeof value === "string"));
  body.set("draft_at", base);
  if (force) body.set("force", "yes");
  return fetch(form.dataset.draftUrl, { method: "POST", body, redirect: "manual", headers: { Accept: "application/json" } });
};
const settle = async (answer, sent) => {
  if (answer.type === "opaqueredirect") return "signedOut";
  if (answer.status === 403) return "notYou";
  if (answer.status === 409) return elsewhere(), "elsewhere";
  if (!answer.ok) return "failed";
  base = (await answer.json()).kept_at;
  const still = same(sent, data());
  record(still);
  return still ? "kept" : "dirty";
};
async function send({ force = false } = {}) {
  if (!form?.isConnected || closed) return;
  if (busy) return later(WAIT);
  const mine = form;
  const sent = data();
  busy = true;
  const slow = setTimeout(() => show("keeping"), 1000);
  let state;
  try {
    let answer = await post(force);
    if (answer.status === 403 && (await freshToken())) answer = await post(force);
    state = mine === form && !closed ? await settle(answer, sent) : null;
  } catch {
    state = "offline";
  }
  clearTimeout(slow);
  busy = false;
  if (!state || mine !== form || closed) return;
  show(state);
  if (state === "dirty") later(WAIT);
  if (["offline", "failed", "signedOut"].includes(state)) later5();
}

const note = (text, choices) => {
  document.querySelector("[data-choice]")?.remove();
  const el = document.createElement("div");
  el.className = "note warn";
  el.dataset.choice = "";
  el.setAttribute("role", "alert");
  const say = document.createElement("span");
  say.textContent = `${text} `;
  for (const [label, act] of choices) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "btn s";
    button.textContent = label;
    button.addEventListener("click", () => {
      el.remove();
      act();
    });
    say.append(button, " ");
  }
  el.append(say);
  form.querySelector("#panel").prepend(el);
};
const elsewhere = () =>
  note("This bug was changed elsewhere since this page was opened. Nothing is lost yet.", [
    ["Keep what stands here", () => send({ force: true })],
    ["Load the other", () => (box.drop(key), location.reload())],
  ]);

const put = (entries) => {
  for (const input of form.querySelectorAll("[name^=f-], [name=confidence], [name=not_a_bug]")) {
    input.checked = entries.some(([name, value]) => name === input.name && value === input.value);
  }
  form.elements.namedItem("note").value = entries.find(([name]) => name === "note")?.[1] ?? "";
  const pins = entries.filter(([name]) => name === "pin").map(([, value]) => value);
  document.dispatchEvent(new CustomEvent("form:restored", { detail: { pins } }));
  now = entries;
};
const undo = () => {
  if (past.length === 0) return document.querySelector("[data-previous]")?.click();
  put(past.pop());
  showUndo();
  dirty();
  document.querySelector("#live").textContent = "Undone";
};
const dirty = () => {
  record(false);
  show("dirty");
  later(WAIT);
};
const changed = (event) => {
  if (!form?.contains(event.target) || !KEPT.test(event.target.name ?? "pin") && !event.target.matches("#pins")) return;
  const next = data();
  if (same(next, now)) return;
  if (event.type === "change") {
    past.push(now);
    now = next;
    showUndo();
  }
  dirty();
};
const open = () => {
  const found = document.querySelector("#answer");
  if (!found || found === form) return;
  form = found;
  key = document.querySelector("[data-draft]").dataset.draft;
  base = form.dataset.draftAt;
  past = [];
  now = data();
  closed = false;
  clearTimeout(timer);
  clearTimeout(retry);
  showUndo();
  if (form.querySelector("[data-problem]")) dirty(); // sent, refused, and not stored anywhere yet
  else meet(box.get(key));
};
const meet = (local) => {
  const what = verdict(local, { data: now, base, revision: revision() });
  if (what === "drop") box.drop(key);
  if (what === "restore") {
    past.push(now);
    put(local.data);
    showUndo();
    dirty();
  }
  if (what === "conflict") {
    note("This device kept another draft of this bug than the server.", [
      ["Use this device's", () => (put(local.data), send({ force: true }))],
      ["Drop it", () => box.drop(key)],
    ]);
  }
};

if (typeof document !== "undefined") {
  document.addEventListener("change", changed);
  document.addEventListener("input", changed);
  document.addEventListener("click", (event) => event.target.closest?.("[data-undo]") && undo());
  document.addEventListener("htmx:afterSettle", open);
  window.addEventListener("online", () => send());
  document.addEventListener("answer:sending", () => {
    closed = true;
    show("sent");
  });
  document.addEventListener("answer:kept", () => box.drop(key));
  document.addEventListener("answer:failed", (event) => {
    closed = false;
    record(false);
    show(event.detail.state);
    if (event.detail.again) later5();
  });
  if (document.readyState === "loading" || document.readyState === "interactive") document.addEventListener("DOMContentLoaded", open);
  else open();
}

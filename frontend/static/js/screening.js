// Keys of the reading page: I includes, E and the key of a criterion excludes. Shortcuts to a form that works without them.
const isTyping = (el) =>
  Boolean(el?.matches?.("textarea, select, input:not([type=radio], [type=checkbox], [type=submit], [type=button]), [contenteditable]"));

// What a keydown asks for; armed: E was pressed, and the next key names a criterion.
export const asked = (event, { on = true, armed = false } = {}) => {
  if (event.defaultPrevented || event.isComposing || event.keyCode === 229) return null;
  if (event.key === "Escape") return armed ? { act: "disarm" } : null;
  if (!on || event.ctrlKey || event.metaKey || event.altKey || event.repeat || isTyping(event.target)) return null;
  if (event.key.length !== 1 || event.key === " ") return null;
  const key = event.key.toUpperCase();
  if (key === "E") return { act: armed ? "disarm" : "arm" };
  if (armed) return { act: "cite", key };
  return key === "C" ? { act: "comment" } : { act: "press", key };
};

const clock = (date) => date.toTimeString().slice(0, 5);
export const words = (state, at = new Date()) =>
  ({
    sending: ["Saving…", ""],
    kept: [`Saved ${clock(at)}`, "good"],
    offline: ["Offline, sent again by itself", "bad"],
    signedOut: ["Signed out, not saved", "bad"],
    unsaved: ["Not saved", "bad"],
  })[state];

const list = () => document.querySelector("#exclude");
const isArmed = () => Boolean(list()?.classList.contains("armed"));
const say = (text) => (document.querySelector("#live").textContent = text);
const byData = (root, name, value) => [...root.querySelectorAll(`[data-${name}]`)].find((el) => el.dataset[name] === value && !el.hidden);
const acts = {
  arm: () => {
    if (!list()) return false;
    list().classList.add("armed");
    list().querySelector(".crit")?.focus();
    say("Exclude: press the key of the criterion, or Escape.");
    return true;
  },
  disarm: () => {
    list()?.classList.remove("armed");
    document.querySelector("#bug-title")?.focus({ preventScroll: true });
    say("");
    return true;
  },
  cite: (key) => {
    const button = byData(list(), "k", key);
    if (button) button.click();
    else say(`No criterion has the key ${key}.`);
    return true;
  },
  comment: () => {
    const field = document.querySelector("#comment");
    field?.focus();
    return Boolean(field);
  },
  press: (key) => {
    const el = byData(document, "press", key);
    el?.click();
    return Boolean(el);
  },
};
const show = (state) => {
  const chip = document.querySelector("#save-state");
  if (!chip) return;
  const [text, kind] = words(state);
  chip.textContent = text;
  chip.className = kind ? `chip ${kind}` : "chip wide";
  document.querySelector("#save-help").hidden = state !== "signedOut";
};
let kept = null; // when the vote before this candidate was kept
const start = () => {
  const arm = document.querySelector("[data-arm]");
  if (arm) arm.hidden = false;
  if (kept) show("kept");
  kept = null;
};

if (typeof document !== "undefined") {
  document.addEventListener("keydown", (event) => {
    if (document.querySelector("[popover]:popover-open")) return;
    const wanted = asked(event, { on: document.documentElement.dataset.keys !== "off", armed: isArmed() });
    if (wanted && acts[wanted.act](wanted.key)) event.preventDefault();
  });
  document.addEventListener("click", (event) => event.target.closest("[data-arm]") && acts.arm());
  document.addEventListener("answer:sending", () => show("sending"));
  document.addEventListener("answer:kept", () => (kept = new Date()));
  document.addEventListener("answer:failed", (event) => show(event.detail.state));
  document.addEventListener("htmx:afterSettle", start);
  start();
}

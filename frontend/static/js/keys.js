// Keys of the labelling page: shortcuts to a form that works without them. Which key means what stands in the page.
export const isTyping = (el) =>
  Boolean(el?.matches?.("textarea, select, input:not([type=radio], [type=checkbox], [type=submit], [type=button]), [contenteditable]"));

// What a keydown asks for: nothing while typing, composing or with a modifier; Ctrl+Enter and Escape always.
export const meaning = (event, { on = true } = {}) => {
  if (event.isComposing || event.keyCode === 229) return null;
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) return { act: "save" };
  if (event.key === "Escape") return isTyping(event.target) ? { act: "leave" } : null;
  if (!on || event.ctrlKey || event.metaKey || event.altKey || event.repeat || isTyping(event.target)) return null;
  if (event.key.length !== 1 || event.key === " ") return null;
  return { act: "key", key: event.key.toUpperCase(), ...(event.shiftKey && { back: true }) };
};

// The open facet that comes next: after this one, else from the top; the first open one where none is given.
export const nextOpen = (facets, from) => {
  const at = facets.indexOf(from);
  return [...facets.slice(at + 1), ...facets.slice(0, at + 1)].find((f) => !f.querySelector(":checked")) ?? null;
};

export const counted = (facets) => {
  const open = facets.filter((f) => !f.querySelector(":checked")).map((f) => f.dataset.name.toLowerCase());
  return { done: facets.length - open.length, all: facets.length, open };
};

export const matches = (text, query) => query.trim() === "" || text.toLowerCase().includes(query.trim().toLowerCase());

const form = () => document.querySelector("#answer");
const facets = () => [...(form()?.querySelectorAll(".fct") ?? [])];
const names = (option) => [...option.querySelectorAll("label")].map((label) => label.textContent).join(" ");
const byData = (root, name, value) => [...root.querySelectorAll(`[data-${name}]`)].find((el) => el.dataset[name] === value);
let active = null; // the facet that a plain key chooses in
let last = null; // the option chosen last: `.` and a digit narrows it
let narrowing = false;
let going = false; // the keys go on by themselves: what can be narrowed stays in sight until one moves

const activate = (facet) => {
  active = facet;
  for (const each of facets()) each.classList.toggle("on", each === facet);
};
const focusFacet = (facet) => {
  activate(facet);
  const target = facet.querySelector("input:checked:not(.detail input)") ?? facet.querySelector(".opt > input");
  target?.focus();
};
// What is open is what the next key answers, so that no key rewrites an answer unasked.
const nextHere = () => {
  const open = nextOpen(facets());
  if (open) activate(open);
  return Boolean(open);
};
// Choosing by key always goes on to the next open facet; one that takes any number keeps the keys.
const choose = (input) => {
  const facet = input.closest(".fct");
  input.checked = input.type === "checkbox" ? !input.checked : true;
  input.focus();
  input.dispatchEvent(new Event("change", { bubbles: true }));
  const next = facet.hasAttribute("data-many") ? null : nextOpen(facets(), facet);
  going = true;
  if (next) focusFacet(next);
  going = false;
};
const hold = (option) => {
  for (const held of document.querySelectorAll(".opt.held")) held.classList.remove("held");
  if (option?.querySelector(".sub")) option.classList.add("held");
};
const chooseHere = (key) => {
  const input = active && [...active.querySelectorAll(".opt > input")].find((el) => el.dataset.k === key);
  if (!input) return false;
  choose(input);
  hold(last);
  return true;
};
const narrow = (key) => {
  const input = last && byData(last.querySelector(".detail") ?? last, "k", key);
  if (input) choose(input);
  else document.querySelector("#live").textContent = `Nothing is narrowed by . and ${key}`;
};
const popover = () => document.querySelector("[popover]:popover-open");
const inPopover = (open, key) => {
  const input = byData(open, "k", key);
  if (!input) return;
  input.checked = true;
  input.focus();
  input.dispatchEvent(new Event("change", { bubbles: true }));
};
const find = () => {
  const field = active?.querySelector("[data-find]") ?? form()?.querySelector("[data-find]");
  field?.focus();
  return Boolean(field);
};
const propose = () => {
  const button = active?.querySelector("[data-propose]") ?? form()?.querySelector("[data-propose]");
  button?.click();
  return Boolean(button);
};
const press = (key) => {
  const el = byData(document, "press", key);
  if (!el || el.hidden) return false;
  el.click();
  if (el.type === "radio") el.focus();
  return true;
};
// Unsure, fairly sure, sure, not given, and again; the other way with Shift.
export const stepped = (at, by, count) => ((at < 0 ? count : at) + by + count + 1) % (count + 1);
const sureness = (by) => {
  const steps = [...(form()?.querySelectorAll("[name=confidence]") ?? [])].reverse();
  if (!steps.length) return false;
  const to = steps[stepped(steps.findIndex((el) => el.checked), by, steps.length)];
  for (const el of steps) el.checked = el === to;
  steps[0].dispatchEvent(new Event("change", { bubbles: true }));
  document.querySelector("#live").textContent = `Confidence: ${to?.parentElement.textContent.trim() ?? "not given"}`;
  return true;
};
const onKey = (key, back) => {
  const open = popover();
  if (open) return inPopover(open, key), true;
  if (narrowing) {
    narrowing = false;
    return narrow(key), true; // never a choice elsewhere
  }
  if (key === ".") return (narrowing = true);
  if (key === "/") return find();
  if (key === "+") return propose();
  if (key === "U") return sureness(back ? -1 : 1);
  const facet = facets().find((each) => each.dataset.key === key);
  if (facet) return focusFacet(facet), hold(null), true;
  return chooseHere(key) || press(key);
};
const save = () => {
  const open = popover();
  const button = open ? open.querySelector("button[type=submit]") : form()?.querySelector("[data-save]");
  button?.click(); // not requestSubmit: htmx sends the button that was clicked
};

// A chosen category with those above it, as far as the page shows them.
export const pathOf = (input) => {
  if (input.dataset.path) return input.dataset.path;
  const top = input.closest(".opt").querySelector(".cut").textContent;
  const sub = input.closest(".sub")?.querySelector("label").lastChild.textContent;
  return sub ? `${top} › ${sub}` : top;
};

const say = () => {
  const all = facets();
  for (const facet of all) {
    const picked = [...facet.querySelectorAll("input:checked")];
    const out = facet.querySelector("output");
    if (!out) continue;
    const text = picked.length === 0 ? "open" : facet.matches(".broad, [data-many]") ? picked.map(pathOf).join(", ") : "";
    if (out.textContent !== text) out.textContent = text;
    out.classList.toggle("open", picked.length === 0);
  }
  const { done, all: of, open } = counted(all);
  const line = document.querySelector("#count");
  if (line) line.textContent = `${done} of ${of} answered${open.length ? ` · open: ${open.join(", ")}` : ""}`;
};
let seen = null; // the form that was started: a swap brings another
const start = () => {
  if (!form() || form() === seen) return;
  seen = form();
  last = null;
  narrowing = false;
  if (!nextHere()) activate(facets()[0] ?? null);
  const box = document.querySelector("[data-keys-switch]");
  if (box) box.checked = document.documentElement.dataset.keys !== "off";
  say();
};

if (typeof document !== "undefined") {
  document.addEventListener("keydown", (event) => {
    const asked = meaning(event, { on: document.documentElement.dataset.keys !== "off" });
    if (!asked) return;
    if (asked.act === "leave") event.target.blur();
    else if (asked.act === "save") {
      event.preventDefault();
      save();
    } else if (onKey(asked.key, asked.back)) event.preventDefault();
  });
  document.addEventListener("change", (event) => {
    const option = event.target.closest?.(".opt");
    if (option) {
      last?.classList.remove("last");
      last = option;
      last.classList.add("last");
    }
    if (form()?.contains(event.target)) say();
  });
  document.addEventListener("form:restored", () => {
    say();
    nextHere();
  });
  document.addEventListener("focusin", (event) => {
    const facet = event.target.closest?.(".fct");
    if (facet) activate(facet);
    if (!going) hold(null);
  });
  // search: names alone, not definitions; dims what does not match and never moves a row
  document.addEventListener("input", (event) => {
    if (!event.target.matches("[data-find]")) return;
    for (const option of event.target.closest(".fct").querySelectorAll(".opt")) {
      option.classList.toggle("off", !matches(names(option), event.target.value));
    }
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.isComposing || event.ctrlKey || event.metaKey || !event.target.matches?.("[data-find]")) return;
    event.preventDefault();
    const hit = event.target.closest(".fct").querySelector(".opt:not(.off) > input");
    if (!hit || event.target.value.trim() === "") return;
    event.target.value = "";
    event.target.dispatchEvent(new Event("input", { bubbles: true }));
    choose(hit);
    hold(last);
  });
  document.addEventListener("htmx:afterSettle", start);
  start();
}

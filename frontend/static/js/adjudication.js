// Adjudication: keys choose a label, walk the queue and the facets; the form works without them.
export const isTyping = (el) =>
  Boolean(el?.matches?.("textarea, select, input:not([type=radio], [type=checkbox], [type=submit], [type=button])"));

// What a keydown asks for: nothing while typing or composing; Ctrl+Enter always.
export const meaning = (event, { on = true } = {}) => {
  if (event.isComposing || event.keyCode === 229) return null;
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) return { act: "settle" };
  if (event.key === "Escape") return isTyping(event.target) ? { act: "leave" } : null;
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || isTyping(event.target)) return null;
  if (!on && event.key.length === 1) return null;
  const walks = { ArrowUp: ["row", -1], ArrowDown: ["row", 1], "[": ["facet", -1], "]": ["facet", 1] };
  if (event.key in walks) return { act: "walk", along: walks[event.key][0], by: walks[event.key][1] };
  return event.key.length === 1 && event.key !== " " ? { act: "choose", key: event.key.toUpperCase() } : null;
};

// The neighbour of the current one in a list, none beyond its ends.
export const neighbour = (links, by) => {
  const at = links.findIndex((link) => link.hasAttribute("aria-current"));
  return links[at < 0 ? 0 : at + by] ?? null;
};

const form = () => document.querySelector("#decide");
const show = () => {
  const chosen = form()?.querySelector("[name=choice]:checked");
  const note = form()?.elements.namedItem("note");
  if (!note) return;
  note.required = Boolean(chosen?.hasAttribute("data-needs-note"));
  const need = form().querySelector("#need");
  if (need) need.className = note.required ? "bad" : "dim";
  const other = form().querySelector("[data-other]");
  if (other) other.hidden = chosen?.dataset.k !== "O";
  const leaves = Boolean(chosen?.hasAttribute("data-leaves-open"));
  const reason = form().querySelector("[name=reason]");
  if (reason) reason.required = !leaves;
};
const walk = (along, by) => {
  const step = document.querySelector(by < 0 ? "[data-previous]" : "[data-next]");
  const target = along === "row" && step ? step : neighbour([...document.querySelectorAll(`[data-${along}]`)], by);
  target?.click();
  return Boolean(target);
};
const choose = (key) => {
  const input = [...(form()?.querySelectorAll("[data-k]") ?? [])].find((el) => el.dataset.k === key);
  if (!input) return false;
  input.checked = true;
  input.focus();
  show();
  const other = form().querySelector("[data-other]:not([hidden]) select, [data-other]:not([hidden]) input");
  if (key === "O") other?.focus();
  return true;
};

if (typeof document !== "undefined") {
  document.addEventListener("change", (event) => event.target.form === form() && show());
  document.addEventListener("keydown", (event) => {
    if (document.querySelector("[popover]:popover-open")) return;
    const asked = meaning(event, { on: document.documentElement.dataset.keys !== "off" });
    if (!asked) return;
    const done = {
      settle: () => form() && (form().requestSubmit(), true),
      leave: () => (event.target.blur(), true),
      walk: () => walk(asked.along, asked.by),
      choose: () => choose(asked.key),
    }[asked.act]();
    if (done) event.preventDefault();
  });
  document.addEventListener("htmx:afterSettle", () => {
    show();
    (document.querySelector("[data-problem]") ?? document.querySelector("#bug-title, #main h1"))?.focus({ preventScroll: true });
    document.querySelector("#item")?.scrollTo(0, 0);
    document.querySelector("#live").textContent = document.title;
  });
  show();
}

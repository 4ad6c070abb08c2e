// Keys that every page has: / searches, ? tells the keys, Escape leaves a field, Ctrl+Enter does what the page is for.
// What cannot be taken back (data-final) is left to a deliberate click. A page's own keys come first: what they took is left alone here.
export const isTyping = (el) =>
  Boolean(el?.matches?.("textarea, select, input:not([type=radio], [type=checkbox], [type=submit], [type=button]), [contenteditable]"));

export const meaning = (event, { on = true } = {}) => {
  if (event.defaultPrevented || event.isComposing || event.keyCode === 229) return null;
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) return "primary";
  if (event.key === "Escape") return isTyping(event.target) ? "leave" : null;
  if (!on || event.ctrlKey || event.metaKey || event.altKey || event.repeat || isTyping(event.target)) return null;
  return { "/": "search", "?": "keys" }[event.key] ?? null;
};

// The one button that is the point of a form, a popover or the page; none where there are several.
export const pointOf = (buttons) => {
  const marked = buttons.filter((button) => button.matches(".pri"));
  const asked = marked.length ? marked : buttons.filter((button) => button.matches("[type=submit]"));
  return asked.length === 1 ? asked[0] : null;
};

const search = () => {
  const field = document.querySelector("main [data-search]");
  if (field) field.focus();
  else document.querySelector("[data-press='/']")?.click();
  return true;
};
const keys = () => (document.querySelector("[data-press='?']")?.click(), true);
const primary = (from) => {
  const place = document.querySelector("[popover]:popover-open") ?? from.form ?? from.closest("form") ?? document.querySelector("main");
  const seen = [...place.querySelectorAll("button, a.btn")].filter((el) => el.checkVisibility() && !el.matches("[aria-disabled], [data-final]"));
  const button = pointOf(seen);
  button?.click();
  return Boolean(button);
};

if (typeof document !== "undefined") {
  document.addEventListener("keydown", (event) => {
    const asked = meaning(event, { on: document.documentElement.dataset.keys !== "off" });
    const acts = { primary: () => primary(event.target), leave: () => event.target.blur(), search, keys };
    if (asked && acts[asked]()) event.preventDefault();
  });
}

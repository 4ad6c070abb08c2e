// The codebook's tree by keyboard: arrows walk its links, E goes to the form.
export const isTyping = (el) => Boolean(el?.matches?.("textarea, select, input, [contenteditable]"));

export const neighbour = (all, from, by) => all[Math.min(all.length - 1, Math.max(0, all.indexOf(from) + by))];

export const meaning = (event, { on = true } = {}) => {
  if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return null;
  if (!on && event.key.length === 1) return null;
  return { ArrowDown: 1, ArrowUp: -1, e: "edit", E: "edit" }[event.key] ?? null;
};

const listen = (tree) =>
  document.addEventListener("keydown", (event) => {
    const wanted = meaning(event, { on: document.documentElement.dataset.keys !== "off" });
    const here = document.activeElement;
    if (wanted === "edit") document.querySelector("[data-edit] input:not([type=hidden])")?.focus();
    else if (wanted && tree.contains(here)) neighbour([...tree.querySelectorAll("a")], here, wanted).focus();
    else return;
    event.preventDefault();
  });

if (typeof document !== "undefined") document.querySelectorAll("[data-tree]").forEach(listen);

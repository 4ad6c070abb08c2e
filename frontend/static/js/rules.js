// The order of path rules by drag and by Alt with an arrow. Without script the arrows beside each rule do it.
export const moved = (list, from, by) => {
  const to = from + by;
  if (from < 0 || to < 0 || to >= list.length) return list;
  const next = [...list];
  next.splice(to, 0, ...next.splice(from, 1));
  return next;
};

export const meaning = (event) => {
  if (!event.altKey || event.ctrlKey || event.metaKey || event.isComposing) return 0;
  return { ArrowUp: -1, ArrowDown: 1 }[event.key] ?? 0;
};

const rows = (form) => [...form.querySelectorAll("[data-rule]")];
// The places in the buttons follow the rows, so that a later press moves what stands beside it.
const number = (form) =>
  rows(form).forEach((row, place) => {
    for (const button of row.querySelectorAll("[name=act]")) button.value = button.value.replace(/:\d+/, `:${place}`);
  });
const say = (row, form) => {
  const place = rows(form).indexOf(row) + 1;
  document.querySelector("#live").textContent = `${row.querySelector("[name=prefix]").value}: place ${place} of ${rows(form).length}, not kept yet`;
};
const lay = (form, list) => {
  const before = form.querySelector("tbody");
  for (const row of [...list].reverse()) before.prepend(row);
  number(form);
};

const listen = (form) => {
  let dragged = null;
  form.addEventListener("keydown", (event) => {
    const by = meaning(event);
    const row = event.target.closest("[data-rule]");
    if (!by || !row) return;
    event.preventDefault();
    const focused = document.activeElement;
    lay(form, moved(rows(form), rows(form).indexOf(row), by));
    focused.focus();
    say(row, form);
  });
  form.addEventListener("dragstart", (event) => {
    dragged = event.target.closest?.("[data-rule]") ?? null;
    event.dataTransfer?.setData("text/plain", "");
  });
  form.addEventListener("dragover", (event) => {
    const over = event.target.closest?.("[data-rule]");
    if (!dragged || !over || over === dragged) return;
    event.preventDefault();
    const list = rows(form);
    lay(form, moved(list, list.indexOf(dragged), list.indexOf(over) - list.indexOf(dragged)));
  });
  form.addEventListener("drop", (event) => event.preventDefault());
  form.addEventListener("dragend", () => {
    if (dragged) say(dragged, form);
    dragged = null;
  });
};

if (typeof document !== "undefined") document.querySelectorAll("[data-rules]").forEach(listen);

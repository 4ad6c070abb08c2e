// The matrix of runs by keyboard: arrows go from cell to cell, J and K along them. Enter opens the log, as a link does.
const isTyping = (el) => Boolean(el?.matches?.("textarea, select, input, [contenteditable]"));

export const meaning = (event, { on = true } = {}) => {
  if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return null;
  const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
  if (step) return { step };
  return on ? ({ j: { along: 1 }, k: { along: -1 } }[event.key.toLowerCase()] ?? null) : null;
};

// Rows of cells, with gaps where there is none: the cell a step away, or the same where there is none.
export const stepped = (rows, here, [down, right]) => {
  const row = rows.findIndex((cells) => cells.includes(here));
  return rows[row + down]?.[rows[row].indexOf(here) + right] ?? here;
};
export const along = (cells, here, by) => cells[here ? Math.min(cells.length - 1, Math.max(0, cells.indexOf(here) + by)) : 0];

const rowsOf = (table) => [...table.querySelectorAll("tbody tr")].map((row) => [...row.querySelectorAll("td")].map((td) => td.querySelector("[data-cell]")));

const mark = (link) => {
  for (const cell of document.querySelectorAll("[data-cell][aria-current]")) cell.removeAttribute("aria-current");
  link.setAttribute("aria-current", "true");
};

if (typeof document !== "undefined") {
  document.addEventListener("keydown", (event) => {
    const wanted = meaning(event, { on: document.documentElement.dataset.keys !== "off" });
    const table = document.querySelector("[data-matrix]");
    if (!wanted || !table || document.querySelector("[popover]:popover-open")) return;
    const here = document.activeElement?.closest?.("[data-cell]");
    if (wanted.step && !here) return; // arrows scroll the page
    const cells = [...table.querySelectorAll("[data-cell]")];
    (wanted.step ? stepped(rowsOf(table), here, wanted.step) : along(cells, here, wanted.along))?.focus();
    event.preventDefault();
  });
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("[data-cell]");
    if (link) mark(link);
  });
  // the matrix is fetched anew while runs go on: for the run whose log is open now
  document.addEventListener("htmx:configRequest", (event) => {
    const open = document.querySelector("[data-cell][aria-current]");
    if (event.detail.elt.id === "matrix" && open) event.detail.path = new URL(open.href).pathname + new URL(open.href).search;
  });
}

// Open coding by keyboard and by drag: shortcuts to a form that works without them.
export const isTyping = (el) =>
  Boolean(el?.matches?.("textarea, select, input:not([type=radio], [type=checkbox], [type=submit], [type=button]), [contenteditable]"));

// What a keydown asks for: nothing while typing, composing or with a modifier.
export const meaning = (event, { on = true } = {}) => {
  if (event.isComposing || event.keyCode === 229 || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return null;
  if (event.key === "ArrowDown") return { move: 1 };
  if (event.key === "ArrowUp") return { move: -1 };
  if (!on || event.key.length !== 1 || event.key === " ") return null;
  const key = event.key.toUpperCase();
  if (key === "J" || key === "K") return { move: key === "J" ? 1 : -1 };
  return event.repeat ? null : { key };
};

export const neighbour = (all, from, by) => all[Math.min(all.length - 1, Math.max(0, all.indexOf(from) + by))];

// What a step is about: all that is marked, else the one that one is at.
export const about = (marked, at) => (marked.length ? marked : at ? [at] : []);

// Where one stands once these are gone: at the next that is left, else at the last before.
export const following = (all, gone, at) => {
  const from = Math.max(0, all.indexOf(at));
  const left = (uid) => !gone.includes(uid);
  return all.slice(from).find(left) ?? all.slice(0, from).reverse().find(left) ?? null;
};

export const matches = (text, query) => query.trim() === "" || text.toLowerCase().includes(query.trim().toLowerCase());

const board = () => document.querySelector("[data-board]");
const rows = () => [...(board()?.querySelectorAll("[data-codes] > li:not([hidden])") ?? [])];
const uids = () => rows().map((row) => row.dataset.row);
const boxes = () => [...(board()?.querySelectorAll("[data-code]") ?? [])];
const boxOf = (uid) => boxes().find((box) => box.value === uid);
const marked = () => boxes().filter((box) => box.checked).map((box) => box.value);
const row = (uid) => rows().find((each) => each.dataset.row === uid);
let at = null; // the code that one is at
let query = "";
const open = new Set(); // categories whose codes are shown

const say = () => {
  const line = board()?.querySelector("[data-marked-says]");
  const n = marked().length;
  if (line) line.textContent = n ? `${n} marked` : "";
};
const rove = () => {
  for (const each of rows()) {
    const here = each.dataset.row === at;
    for (const el of each.querySelectorAll("input, a, button")) el.tabIndex = here ? 0 : -1;
  }
};
const stand = (uid, { focus = true } = {}) => {
  at = uid;
  rove();
  if (focus) boxOf(uid)?.focus();
};
const step = (uid, button) => {
  const boxed = boxOf(uid);
  if (!marked().length && boxed) boxed.checked = true;
  const gone = about(marked(), uid);
  at = following(uids(), gone, uid);
  button.click();
};
const press = (name) => {
  const button = board()?.querySelector(`[data-press="${name}"]`);
  button?.click();
  return Boolean(button);
};
const ofRow = (name) => {
  const button = row(at)?.querySelector(`[data-${name}]`);
  if (!button) {
    document.querySelector("#live").textContent = name === "make" ? "Stand at a code first" : "This code has none of its like";
    return true;
  }
  at = following(uids(), [at], at);
  button.click();
  return true;
};
const onKey = (key) => {
  const here = document.activeElement?.matches?.("[data-code]") ? document.activeElement.value : at;
  const button = [...(board()?.querySelectorAll("[data-k]") ?? [])].find((el) => el.dataset.k === key);
  if (button) return step(here, button), true;
  if (key === "N") return ofRow("make");
  if (key === "W") return ofRow("with");
  if (key === "M") return ofRow("merge");
  if (key === "Z") return press("Z");
  if (key === "U") {
    const box = boxOf(here);
    if (!marked().length && box) box.checked = true;
    return press("U");
  }
  if (key === "X") {
    const box = boxOf(here);
    if (!box) return false;
    box.checked = !box.checked;
    say();
    if (row(here)) stand(neighbour(uids(), here, 1));
    return true;
  }
  if (key === "=") {
    const like = row(here)?.dataset.like;
    for (const each of like ? rows().filter((one) => one.dataset.like === like) : [row(here)]) if (each) boxOf(each.dataset.row).checked = true;
    say();
    return true;
  }
  if (key === "P") {
    const to = board()?.querySelector("[data-to]");
    to?.focus();
    return Boolean(to);
  }
  return false;
};

const narrow = () => {
  for (const each of board()?.querySelectorAll("[data-codes] > li") ?? []) each.hidden = !matches(each.querySelector(".nm").textContent, query);
};
let timer = 0;
const show = (uid) => {
  clearTimeout(timer);
  timer = setTimeout(() => {
    const link = row(uid)?.querySelector("[data-about]");
    if (link) globalThis.htmx?.ajax("GET", link.href, { target: "#about", swap: "innerHTML" });
  }, 250);
};
// After a swap: the same list narrowed as before, the same categories open, at the code that comes next.
const restore = ({ focus }) => {
  for (const group of board()?.querySelectorAll("[data-group]") ?? []) {
    const details = group.querySelector("details");
    if (details && open.has(group.dataset.group)) details.open = true;
  }
  const field = board()?.querySelector("[data-narrow]");
  if (field) field.value = query;
  narrow();
  stand(uids().includes(at) ? at : (uids()[0] ?? null), { focus });
  say();
};

const drop = (target) => {
  const group = target.closest?.("[data-group]");
  if (group) return step(at, group.querySelector("[name=under]"));
  if (target.closest?.("[data-codes]") && board().querySelector("[data-placed] :checked")) press("U");
  return undefined;
};

if (typeof document !== "undefined" && board()) {
  document.addEventListener("keydown", (event) => {
    if (event.target.matches?.("[data-to]") && event.key === "Enter") {
      event.preventDefault();
      if (event.target.value) step(at, board().querySelector("[data-put]"));
      return;
    }
    if (event.target.matches?.("[data-narrow]") && (event.key === "Enter" || event.key === "ArrowDown")) {
      event.preventDefault();
      if (uids().length) stand(uids()[0]);
      return;
    }
    if (document.querySelector("[popover]:popover-open")) return;
    const asked = meaning(event, { on: document.documentElement.dataset.keys !== "off" });
    if (!asked) return;
    if (asked.move) {
      const list = document.activeElement?.closest?.("[data-placed]") ? boxes().map((box) => box.value) : uids();
      const from = document.activeElement?.matches?.("[data-code]") ? document.activeElement.value : at;
      if (!list.length) return;
      const next = neighbour(list, from, document.activeElement?.matches?.("[data-code]") ? asked.move : 0);
      if (row(next)) stand(next);
      else boxOf(next)?.focus();
      event.preventDefault();
    } else if (onKey(asked.key)) event.preventDefault();
  });
  document.addEventListener("focusin", (event) => {
    const here = event.target.closest?.("[data-row]");
    if (!here) return;
    if (at !== here.dataset.row) stand(here.dataset.row, { focus: false });
    show(here.dataset.row);
  });
  document.addEventListener("change", (event) => event.target.matches?.("[data-code]") && say());
  document.addEventListener("input", (event) => {
    if (!event.target.matches?.("[data-narrow]")) return;
    query = event.target.value;
    narrow();
    if (!row(at)) at = uids()[0] ?? null;
    rove();
  });
  document.addEventListener("toggle", (event) => {
    const group = event.target.closest?.("[data-group]");
    if (group) open[event.target.open ? "add" : "delete"](group.dataset.group);
  }, true);
  document.addEventListener("dragstart", (event) => {
    const dragged = event.target.closest?.("[draggable=true]");
    if (!dragged) return;
    const box = dragged.querySelector("[data-code]");
    if (!box.checked) for (const each of boxes()) each.checked = each === box;
    if (dragged.dataset.row) at = dragged.dataset.row;
    event.dataTransfer.setData("text/plain", dragged.textContent.trim());
    event.dataTransfer.effectAllowed = "move";
    say();
  });
  document.addEventListener("dragover", (event) => {
    const over = event.target.closest?.("[data-group], [data-codes]");
    for (const each of document.querySelectorAll(".grp.over")) each.classList.toggle("over", each === over);
    if (!over) return;
    over.classList.add("over");
    event.preventDefault();
  });
  document.addEventListener("dragend", () => document.querySelectorAll(".over").forEach((each) => each.classList.remove("over")));
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    drop(event.target);
  });
  document.addEventListener("htmx:afterSettle", (event) => {
    if (event.detail.target?.id === "board" || event.target?.id === "board") restore({ focus: true });
  });
  restore({ focus: false });
}

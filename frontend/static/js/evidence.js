// Evidence: J and K move a cursor over lines, comments and columns, P pins what it stands on; [ and ] go from file to file.
const PLACES = ".diff tr[id], .cmt[id], .prose[id], dd[id]";

export const clipped = (text, most = 300) => {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > most ? `${line.slice(0, most - 1)}…` : line;
};

export const step = (at, by, count) => Math.min(count - 1, Math.max(0, at + by));

// What a pin on this element says: which kind, where, and what stands there.
export const pinOf = (el, selected = "") => {
  const quote = clipped(selected || (el.matches("tr") ? el.lastElementChild : (el.querySelector(".prose") ?? el)).textContent);
  if (el.matches("tr")) {
    const number = el.children[1].textContent || el.children[0].textContent;
    const path = el.closest("[data-path]").dataset.path;
    return { kind: "line", anchor: el.id, place: `${path}:${number}${el.matches(".del") ? " (old)" : ""}`, quote };
  }
  return { kind: el.matches(".cmt") ? "comment" : "description", anchor: el.id, place: el.dataset.place ?? el.id, quote };
};

const reader = () => document.querySelector("#read");
const list = () => document.querySelector("#pins");
const inputs = () => [...(list()?.querySelectorAll("input[name=pin]") ?? [])];
const places = () => [...(reader()?.querySelectorAll(PLACES) ?? [])].filter((el) => el.getClientRects().length);
let cursor = null;

const put = (el) => {
  cursor?.classList.remove("cur");
  cursor = el;
  el?.classList.add("cur");
};
const move = (by) => {
  const all = places();
  if (!all.length) return;
  const at = all.indexOf(cursor);
  put(at < 0 ? all.find((el) => el.getBoundingClientRect().bottom > 80) ?? all[0] : all[step(at, by, all.length)]);
  cursor.scrollIntoView({ block: "nearest" });
};

const short = (place) => place.split("/").at(-1);
const line = (pin) => {
  const li = document.querySelector("#pin").content.cloneNode(true).firstElementChild;
  const link = li.querySelector("a");
  link.textContent = short(pin.place);
  link.href = `#${pin.anchor}`;
  link.title = pin.place;
  li.querySelector("q").textContent = pin.quote;
  li.querySelector("input").value = JSON.stringify(pin);
  return li;
};
// Numbers in the list, and the same numbers where the pins are.
const number = () => {
  for (const mark of reader()?.querySelectorAll(".pinned, [data-mark]") ?? []) {
    if (mark.matches("[data-mark]")) mark.remove();
    else mark.classList.remove("pinned");
  }
  inputs().forEach((input, at) => {
    const li = input.closest("li");
    li.querySelector(".tile").textContent = String(at + 1);
    li.querySelector("[data-unpin]").setAttribute("aria-label", `Remove pin ${at + 1}`);
    const el = document.getElementById(JSON.parse(input.value).anchor);
    if (!el) return;
    el.classList.add("pinned");
    const mark = document.createElement("span");
    mark.className = "tile a";
    mark.dataset.mark = "";
    mark.textContent = String(at + 1);
    (el.matches("tr") ? el.children[2] : el.matches(".cmt") ? (el.querySelector(".pn") ?? el) : el).append(mark);
  });
};
const changed = () => {
  number();
  list()?.dispatchEvent(new Event("change", { bubbles: true }));
};
const pin = () => {
  if (!cursor?.isConnected) return move(0);
  const held = inputs().find((input) => JSON.parse(input.value).anchor === cursor.id);
  const chosen = document.getSelection();
  const inside = chosen && !chosen.isCollapsed && cursor.contains(chosen.anchorNode) ? chosen.toString() : "";
  if (held) held.closest("li").remove();
  else list().append(line(pinOf(withoutMarks(cursor), inside)));
  changed();
  document.querySelector("#live").textContent = held ? "Pin removed" : "Pinned as evidence";
};
const withoutMarks = (el) => {
  for (const mark of el.querySelectorAll("[data-mark]")) mark.remove();
  return el;
};
const toFile = (by) => {
  const files = [...(reader()?.querySelectorAll(".file") ?? [])];
  if (!files.length) return;
  const at = files.findIndex((file) => file.contains(document.activeElement));
  const file = files[at < 0 ? 0 : step(at, by, files.length)];
  file.open = true;
  file.querySelector("summary").focus();
  file.scrollIntoView({ block: "start" });
};
const fold = (button) => {
  const files = [...reader().querySelectorAll(".file")];
  const anyOpen = files.some((file) => file.open);
  for (const file of files) file.open = !anyOpen && Boolean(file.querySelector(".diff"));
  button.textContent = anyOpen ? "Open all" : "Fold all";
};
let seen = null; // the form that was started: a swap brings another, a file opened on demand does not
const start = () => {
  const form = document.querySelector("#answer");
  if (!form) return;
  if (form !== seen) put(null);
  seen = form;
  for (const button of document.querySelectorAll("[data-fold]")) button.hidden = false;
  number();
};

if (typeof document !== "undefined") {
  const ACTS = { J: () => move(1), K: () => move(-1), P: pin, "[": () => toFile(-1), "]": () => toFile(1) };
  document.addEventListener("keydown", (event) => {
    const act = ACTS[event.key.toUpperCase()];
    if (!act || event.defaultPrevented || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (!document.querySelector("#answer") || document.querySelector("[popover]:popover-open")) return;
    if (event.target.matches?.("textarea, select, input:not([type=radio], [type=checkbox])")) return;
    if (document.documentElement.dataset.keys === "off") return;
    event.preventDefault();
    act();
  });
  document.addEventListener("click", (event) => {
    const remove = event.target.closest?.("[data-unpin]");
    if (remove) {
      remove.closest("li").remove();
      changed();
      return;
    }
    const button = event.target.closest?.("[data-fold]");
    if (button) return fold(button);
    const place = event.target.closest?.("#read")?.contains(event.target) && event.target.closest(PLACES);
    if (!place || event.target.closest("a, summary")) return;
    put(place);
    if (event.target.closest(".diff td:nth-child(3)")) pin();
  });
  document.addEventListener("form:restored", (event) => {
    if (!list() || !event.detail?.pins) return;
    list().replaceChildren(...event.detail.pins.map((text) => line(JSON.parse(text))));
    number();
  });
  document.addEventListener("htmx:afterSettle", start);
  start();
}

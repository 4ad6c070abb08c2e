// The codebook's tree by keyboard: arrows walk its links, E goes to the form.
const typing = (el) => el.matches("textarea, select, input, [contenteditable]");
const tree = document.querySelector("[data-tree]");
const links = () => [...tree.querySelectorAll("a")];

const step = (by) => {
  const all = links();
  const at = all.indexOf(document.activeElement);
  all[Math.min(all.length - 1, Math.max(0, at + by))].focus();
};

document.addEventListener("keydown", (event) => {
  if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return;
  if (tree.contains(document.activeElement) && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
    step(event.key === "ArrowDown" ? 1 : -1);
  } else if (event.key.toLowerCase() === "e") {
    document.querySelector("[data-edit] input:not([type=hidden])")?.focus();
  } else {
    return;
  }
  event.preventDefault();
});

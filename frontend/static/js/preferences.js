// What a person prefers on this device: the theme, and whether single keys act. Both stand on the root element, where style
// sheets and the other modules find them. Without script the system's theme holds.
export const order = ["system", "light", "dark"];
export const after = (now) => order[(order.indexOf(now) + 1) % order.length];

const kept = (name) => {
  try {
    return localStorage.getItem(name);
  } catch {
    return null; // storage is closed to this page
  }
};
const keep = (name, value) => {
  try {
    localStorage.setItem(name, value);
  } catch {
    // the choice lasts as long as the page
  }
};

const theme = (root, button) => {
  let now = order.includes(kept("theme")) ? kept("theme") : "system";
  const show = () => {
    if (now === "system") root.removeAttribute("data-theme");
    else root.setAttribute("data-theme", now);
    if (button) button.textContent = `Theme: ${now}`;
  };
  show();
  if (!button) return;
  button.hidden = false;
  button.addEventListener("click", () => {
    now = after(now);
    keep("theme", now);
    show();
  });
};
const keys = (root) => {
  const box = document.querySelector("[data-keys-switch]");
  root.dataset.keys = kept("keys") === "off" ? "off" : "on";
  if (box) box.checked = root.dataset.keys === "on";
  document.addEventListener("change", (event) => {
    if (!event.target.matches("[data-keys-switch]")) return;
    root.dataset.keys = event.target.checked ? "on" : "off";
    keep("keys", root.dataset.keys);
  });
};

if (typeof document !== "undefined") {
  theme(document.documentElement, document.querySelector("[data-theme-button]"));
  keys(document.documentElement);
}

// Theme: the system's by default; the button goes through system, light and dark, and remembers. Without script the system decides.
export const order = ["system", "light", "dark"];
export const after = (now) => order[(order.indexOf(now) + 1) % order.length];

const remembered = () => {
  try {
    const kept = localStorage.getItem("theme");
    return order.includes(kept) ? kept : "system";
  } catch {
    return "system"; // storage is closed to this page: the system's theme still works
  }
};
const remember = (theme) => {
  try {
    localStorage.setItem("theme", theme);
  } catch {
    // nothing to do: the choice lasts as long as the page
  }
};

const start = () => {
  const root = document.documentElement;
  const button = document.querySelector("[data-theme-button]");
  let now = remembered();
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
    remember(now);
    show();
  });
};
if (typeof document !== "undefined") start();

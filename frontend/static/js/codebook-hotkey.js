// Says at once when a hotkey belongs to something else, and which are free. The server decides all the same.
export const clash = (typed, taken, free) => {
  const key = typed.trim().toUpperCase();
  return Object.hasOwn(taken, key) ? `${key} belongs to ${taken[key]}. Free: ${free}.` : "";
};

const watch = (place) => {
  const input = place.querySelector("input");
  const says = place.querySelector("[data-hotkey-says]");
  const parent = document.querySelector("#id_parent");
  const taken = JSON.parse(place.dataset.taken);
  const check = () => {
    const problem = parent?.value ? "" : clash(input.value, taken, place.dataset.free); // narrower ones clash with their like alone
    says.textContent = problem;
    says.classList.toggle("bad", problem !== "");
    input.setAttribute("aria-invalid", String(problem !== ""));
  };
  input.addEventListener("input", check);
  parent?.addEventListener("change", check);
};

if (typeof document !== "undefined") document.querySelectorAll("[data-hotkey]").forEach(watch);

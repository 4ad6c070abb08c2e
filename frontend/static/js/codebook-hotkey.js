// Says at once when a hotkey belongs to something else, and which are free. The server decides all the same.
for (const place of document.querySelectorAll("[data-hotkey]")) {
  const input = place.querySelector("input");
  const says = place.querySelector("[data-hotkey-says]");
  const parent = document.querySelector("#id_parent");
  const taken = JSON.parse(place.dataset.taken);
  const check = () => {
    const key = input.value.trim().toUpperCase();
    const owner = parent?.value ? undefined : taken[key];
    says.textContent = owner ? `${key} belongs to ${owner}. Free: ${place.dataset.free}.` : "";
    says.classList.toggle("bad", Boolean(owner));
    input.setAttribute("aria-invalid", String(Boolean(owner)));
  };
  input.addEventListener("input", check);
  parent?.addEventListener("change", check);
}

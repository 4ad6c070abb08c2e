// A text made to be copied: selected as soon as it is entered, and copied by its button.
export const offer = (place, clipboard) => {
  const text = place.querySelector("input");
  const button = place.querySelector("[data-copy-button]");
  text.addEventListener("focus", () => text.select());
  if (!clipboard) return; // plain http elsewhere than on this machine: select and copy by hand
  button.hidden = false;
  button.addEventListener("click", async () => {
    await clipboard.writeText(text.value);
    button.textContent = "Copied";
  });
};

if (typeof document !== "undefined")
  for (const place of document.querySelectorAll("[data-copy]")) offer(place, navigator.clipboard);

// A text made to be copied: selected as soon as it is entered, and copied by its button.
for (const place of document.querySelectorAll("[data-copy]")) {
  const text = place.querySelector("input");
  const button = place.querySelector("[data-copy-button]");
  text.addEventListener("focus", () => text.select());
  if (!navigator.clipboard) continue; // plain http elsewhere than on this machine: select and copy by hand
  button.hidden = false;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(text.value);
    button.textContent = "Copied";
    document.querySelector("#live")?.replaceChildren("Copied.");
  });
}

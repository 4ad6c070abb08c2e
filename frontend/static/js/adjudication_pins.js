// Adjudication: marks the lines and comments that the sides have pinned, with the letter of the side.
export const places = (links) => {
  const found = new Map();
  for (const link of links) {
    const anchor = link.getAttribute("href").slice(1);
    found.set(anchor, [...(found.get(anchor) ?? []), link.dataset.pin].filter((letter, at, all) => all.indexOf(letter) === at));
  }
  return found;
};

const mark = () => {
  for (const [anchor, letters] of places(document.querySelectorAll("[data-pin]"))) {
    const place = document.getElementById(anchor);
    if (!place || place.classList.contains("pin")) continue;
    place.classList.add("pin");
    const spot = place.querySelector(".pn");
    if (!spot) continue;
    for (const letter of letters) {
      const tile = document.createElement("span");
      tile.className = letter === "A" ? "tile a" : "tile";
      tile.textContent = letter;
      const said = document.createElement("span");
      said.className = "vh";
      said.textContent = " pinned this";
      tile.append(said);
      spot.append(tile);
    }
  }
};

if (typeof document !== "undefined") {
  document.addEventListener("htmx:afterSettle", mark);
  mark();
}

// Adjudication: marks the lines and comments that the sides have pinned, with the letter of the side.
export const places = (links) => {
  const found = new Map();
  for (const link of links) {
    const anchor = link.getAttribute("href").slice(1);
    found.set(anchor, [...(found.get(anchor) ?? []), link.dataset.pin].filter((letter, at, all) => all.indexOf(letter) === at));
  }
  return found;
};

// The file whose diff holds an anchor such as f2n178; nothing where it is no line of a diff.
export const fileOf = (anchor) => /^f(\d+)[no]\d+$/.exec(anchor)?.[1] ?? null;

// The cell for pins of a diff's line, the mark's place in a comment or a heading, else the passage itself.
const spotIn = (place) => (place.matches("tr") ? place.children[2] : (place.querySelector(".pn") ?? place));

const mark = () => {
  for (const [anchor, letters] of places(document.querySelectorAll("[data-pin]"))) {
    const place = document.getElementById(anchor);
    if (!place || place.classList.contains("pin")) continue;
    place.classList.add("pin");
    const spot = spotIn(place);
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

// A long file comes when it is opened: one that holds a pin is.
const open = () => {
  for (const anchor of places(document.querySelectorAll("[data-pin]")).keys()) {
    const waiting = fileOf(anchor) && document.querySelector(`#files [hx-get$="/files/${fileOf(anchor)}/"]`);
    if (waiting && !document.getElementById(anchor)) waiting.closest("details").open = true;
  }
};

if (typeof document !== "undefined") {
  document.addEventListener("htmx:afterSettle", (event) => {
    mark();
    if (event.target.id === "main") open();
  });
  window.addEventListener("load", open);
  mark();
}

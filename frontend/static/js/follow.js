// A log that grows stays at its end as long as the reader is there; whoever scrolled up is left where they are.
export const isAtEnd = (box, near = 24) => box.scrollHeight - box.scrollTop - box.clientHeight <= near;

export const follow = (box, Observer) => {
  let atEnd = true;
  const go = () => atEnd && (box.scrollTop = box.scrollHeight);
  box.addEventListener("scroll", () => (atEnd = isAtEnd(box)));
  new Observer(go).observe(box, { childList: true, subtree: true });
  go();
};

if (typeof document !== "undefined") {
  const seen = new WeakSet();
  const start = () => {
    for (const box of document.querySelectorAll("[data-follow]")) {
      if (seen.has(box)) continue;
      seen.add(box);
      follow(box, MutationObserver);
    }
  };
  document.addEventListener("htmx:afterSettle", start);
  start();
}

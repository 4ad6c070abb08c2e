// Active time: seconds in which the page was visible and somebody was at it. Sent with the answer, and kept with the draft.
export const IDLE_AFTER = 60_000; // without a key, click, scroll or move

export const counts = ({ now, lastSign, visible }) => visible && now - lastSign < IDLE_AFTER;

if (typeof document !== "undefined") {
  let lastSign = Date.now();
  for (const sign of ["keydown", "pointerdown", "pointermove", "wheel", "scroll"]) {
    document.addEventListener(sign, () => (lastSign = Date.now()), { passive: true, capture: true });
  }
  // What helps with a choice comes with the first act: the page itself stays light.
  const later = document.querySelector("script[data-later]")?.dataset.later;
  for (const act of later ? ["keydown", "pointerdown"] : []) {
    document.addEventListener(act, () => import(later).catch(() => {}), { once: true }); // offline: no answer is lost
  }
  setInterval(() => {
    const field = document.querySelector("[data-clock]");
    if (field && counts({ now: Date.now(), lastSign, visible: document.visibilityState === "visible" })) {
      field.value = String(Number(field.value || 0) + 1);
    }
  }, 1000);
}

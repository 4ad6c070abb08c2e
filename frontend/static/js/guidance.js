// Settled bugs of a category, laid into its definition once one stays at it. Without script they stand on a page of their own.
export const uidOf = (el) => el?.closest?.(".opt")?.querySelector(":scope > input")?.value ?? null;

// Where they are asked for; nothing where the round gives none.
export const address = (form, uid) => (form?.dataset.guidance && uid ? `${form.dataset.guidance}${uid}/` : null);

const WAIT = 600; // one who only passes by asks for nothing
const asked = new Map();
let timer = 0;

const lay = (uid, html) => {
  const detail = document.querySelector(`#o-${CSS.escape(uid)}`)?.closest(".opt")?.querySelector(".detail");
  if (detail && html && !detail.querySelector(".exs")) detail.insertAdjacentHTML("beforeend", html);
};
const ask = async (uid) => {
  const from = address(document.querySelector("#answer"), uid);
  if (!from) return;
  if (!asked.has(from)) {
    asked.set(from, "");
    try {
      const response = await fetch(from, { headers: { "HX-Request": "true" }, redirect: "manual" });
      if (!response.ok) return void asked.delete(from); // signed out: a page to sign in is no definition
      asked.set(from, (await response.text()).trim());
    } catch {
      asked.delete(from); // offline: they are no answer that could be lost
      return;
    }
  }
  if (address(document.querySelector("#answer"), uid) === from) lay(uid, asked.get(from));
};

const consider = (el) => {
  const uid = uidOf(el);
  clearTimeout(timer);
  if (uid) timer = setTimeout(() => ask(uid), WAIT);
};

if (typeof document !== "undefined") {
  for (const kind of ["focusin", "change"]) document.addEventListener(kind, (event) => consider(event.target));
  consider(document.activeElement); // the act that brought this module
}

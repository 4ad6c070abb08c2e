// Asks for a rater's name only where a column holds one person's answers.
export const asksForPerson = (select) => select.selectedOptions[0]?.hasAttribute("data-person") ?? false;

export const tie = (line) => {
  const select = line.querySelector("select");
  const whose = line.querySelector("[data-whose]");
  const show = () => {
    whose.hidden = !asksForPerson(select);
    whose.required = !whose.hidden;
  };
  select.addEventListener("change", show);
  show();
};

if (typeof document !== "undefined") for (const line of document.querySelectorAll("[data-column]")) tie(line);

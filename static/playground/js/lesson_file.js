// A lesson as a file: answers are compared with the key that stands beside them, in the file.

/**
 * @param {string[]} given
 * @param {string[]} key
 * @param {DOMStringMap} about
 */
function isRight(given, key, { kind, tolerance }) {
  if (kind === "number") return Math.abs(Number(given[0]) - Number(key[0])) <= Number(tolerance);
  const [one, other] = kind === "victims" ? [given.toSorted(), key.toSorted()] : [given, key];
  return one.join() === other.join();
}

for (const form of document.forms) {
  const answer = form.nextElementSibling;
  if (!(answer instanceof HTMLDetailsElement)) continue;
  const key = [...answer.querySelectorAll("data")].map((each) => each.value);
  for (const button of form.querySelectorAll("button")) button.hidden = false;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const given = new FormData(form).getAll("answer").map(String).filter(Boolean);
    const right = given.length > 0 && isRight(given, key, form.dataset);
    for (const wrong of form.querySelectorAll(".verdict")) wrong.toggleAttribute("hidden", right);
    const number = form.dataset.kind === "number" && given.length > 0;
    for (const mistake of form.querySelectorAll("[data-given]")) {
      const about = mistake.getAttribute("data-given");
      mistake.toggleAttribute(
        "hidden",
        about !== given[0] && !(number && Number(about) === Number(given[0])),
      );
    }
    for (const side of form.querySelectorAll("[data-too]")) {
      const far = side.getAttribute("data-too") === "high"
        ? Number(given[0]) > Number(key[0])
        : Number(given[0]) < Number(key[0]);
      side.toggleAttribute("hidden", !number || !far);
    }
    // As in the studio: two options leave no second try, and after a second wrong answer the right one is told.
    const told = right || "tried" in form.dataset || form.querySelectorAll("[type=radio]").length === 2;
    if (given.length > 0) form.dataset.tried = "1";
    for (const part of form.closest(".card")?.querySelectorAll("details") ?? []) part.open = told;
    if (told) answer.scrollIntoView({ block: "nearest" });
  });
}

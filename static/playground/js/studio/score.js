// The score stage's sliders: while one moves its weight is told, and once it rests the totals are added up again (presenters/stage/score).
import { all, maybe } from "../shared/dom.js";

/** Listens to the sliders. */
export function listenScore() {
  document.addEventListener("input", ({ target }) => {
    const output = isSlider(target) && target.parentElement?.querySelector("output");
    if (output) output.textContent = `×${target.value}`;
  });
  document.addEventListener("change", ({ target }) => {
    if (isSlider(target)) imagine(all("#score-weights [name=weights]"));
  });
}

/**
 * @param {EventTarget | null} target
 * @returns {target is HTMLInputElement}
 */
function isSlider(target) {
  return target instanceof HTMLInputElement && target.name === "weights" && target.type === "range";
}

/**
 * Puts the weights into the field that the look is read from.
 * @param {HTMLElement[]} sliders
 */
function imagine(sliders) {
  const field = maybe("score-weights-look", HTMLInputElement);
  if (!field) return;
  field.value = sliders.map((slider) => /** @type {HTMLInputElement} */ (slider).value).join(".");
  field.dispatchEvent(new Event("input", { bubbles: true }));
}

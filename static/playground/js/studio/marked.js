// The field that a number led to is scrolled to in the YAML tab, once for each field.
import { maybe } from "../shared/dom.js";

let shown = "";

/** Scrolls to the marked lines where they are new. */
export function showMarked() {
  const mark = maybe("yaml-mark", HTMLElement);
  const field = `${mark?.previousSibling?.textContent} ${mark?.textContent}`;
  if (mark && field !== shown) scrollTo(mark);
  shown = field;
}

/**
 * Scrolls only what is around the mark, not the page.
 * @param {HTMLElement} mark
 */
function scrollTo(mark) {
  for (let around = mark.parentElement; around; around = around.parentElement) {
    if (around.scrollHeight <= around.clientHeight || getComputedStyle(around).overflowY === "hidden") {
      continue;
    }
    const from = around.getBoundingClientRect();
    around.scrollTop += mark.getBoundingClientRect().top - from.top - from.height / 3;
    return;
  }
}

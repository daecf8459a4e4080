// What a choice led to is scrolled to, once: the field in the YAML tab, and on the stage the row or column of what was chosen.
import { first, maybe } from "../shared/dom.js";

let shown = "";
let subject = "";

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

/**
 * Scrolls the stage to what was chosen, where that is new.
 * @param {import("./look.js").Look} look
 */
export function showChosen({ about, node, pod }) {
  const chosen = `${about} ${about === "node" ? node : pod}`;
  if (subject && chosen !== subject) {
    first("#panel-stage .chosen")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }
  subject = chosen;
}

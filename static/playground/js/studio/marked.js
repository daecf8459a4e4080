// The field that a number led to is scrolled to in the YAML tab, once for each field.
import { maybe } from "../shared/dom.js";

let shown = "";

/** Scrolls to the marked lines where they are new. */
export function showMarked() {
  const mark = maybe("yaml-mark", HTMLElement);
  const field = mark ? `${mark.closest("[id]:not(mark)")?.id} ${mark.dataset.field} ${mark.textContent}` : "";
  if (mark && field !== shown) mark.scrollIntoView({ block: "center" });
  shown = field;
}

// Short messages that come and go; assistive technology reads them out.
import { by } from "../shared/dom.js";

const SHORTEST = 7000;
const A_LETTER = 60;

/**
 * Shows a text in place of the last one, for as long as it takes to read it.
 * @param {string | null | undefined} text
 */
export function toast(text) {
  if (!text) return;
  const note = document.createElement("p");
  note.className = "toast";
  note.textContent = text;
  by("toasts").replaceChildren(note);
  setTimeout(() => note.remove(), Math.max(SHORTEST, A_LETTER * text.length));
}

// The first page's lessons: how far this browser has come in each.
import { first } from "../shared/dom.js";
import { progress } from "../shared/progress.js";

/** @param {HTMLElement} lesson */
export function startLesson(lesson) {
  const { lesson: slug = "", cards = "0", begun = "", done = "" } = lesson.dataset;
  const card = progress()[slug];
  const line = first(".come", lesson);
  if (!card || !line) return;
  const words = card >= Number(cards) ? done : begun;
  line.textContent = words.replace("{card}", String(card)).replace("{cards}", cards);
  line.hidden = false;
}

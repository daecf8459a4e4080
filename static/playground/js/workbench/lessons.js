// The first page's lessons: how far this browser has come in each, and in each track.
import { all, first } from "../shared/dom.js";
import { progress, shownAnswers } from "../shared/progress.js";

/** @param {HTMLElement} lesson */
export function startLesson(lesson) {
  const { lesson: slug = "", cards = "0", begun = "", done = "" } = lesson.dataset;
  const card = progress()[slug];
  const line = first(".come", lesson);
  if (!card || !line) return;
  const over = card >= Number(cards) && !(shownAnswers()[slug] ?? []).length;
  lesson.dataset.come = over ? "done" : "begun";
  line.textContent = (over ? done : begun).replace("{card}", String(card)).replace("{cards}", cards);
  line.hidden = false;
}

const NARROW = "(max-width: 700px)";

/**
 * Once its lessons have been started: how many of them are done. On a phone only what was begun, or else the first track, is unfolded.
 * @param {HTMLElement} track
 */
export function startTrack(track) {
  const lessons = all("[data-lesson]", track);
  const going = lessons.some((each) => each.dataset.come) &&
    !lessons.every((each) => each.dataset.come === "done");
  const begun = Object.keys(progress()).length > 0;
  if (matchMedia(NARROW).matches && !(begun ? going : track.matches(":first-child"))) {
    first("details", track)?.removeAttribute("open");
  }
  const done = lessons.filter((each) => each.dataset.come === "done").length;
  const line = first(".so-far", track);
  if (!done || !line) return;
  line.textContent = (track.dataset.soFar ?? "")
    .replace("{done}", String(done))
    .replace("{lessons}", String(lessons.length));
  line.hidden = false;
}

// What goes on by itself, playing, running or a search: the play button, and the progress beside it.
import { by, maybe, the } from "../shared/dom.js";
import { count } from "../shared/words.js";

/** @typedef {{kind: string, done: number, total?: number | null, rate?: number, until?: string, left?: number | null, search?: boolean}} Job */

/**
 * Shows what drives the session, or else what this viewer searches for.
 * @param {import("./state.js").State} state
 */
export function showJob({ running, searching }) {
  const job = running ?? (searching && ofSearch(searching));
  document.body.classList.toggle("playing", Boolean(running));
  showPlay(Boolean(running));
  by("job").hidden = !job;
  if (job) showProgress(job);
}

/**
 * @param {import("./state.js").Searching} searching
 * @returns {Job}
 */
function ofSearch({ back, scanned, of }) {
  return { kind: back ? "back" : "forward", done: scanned, total: of, search: true };
}

/** @param {boolean} playing */
function showPlay(playing) {
  const play = maybe("play", HTMLButtonElement);
  if (!play) return;
  const { labelPause, labelPlay } = play.dataset;
  play.setAttribute("aria-label", (playing ? labelPause : labelPlay) ?? "");
  play.querySelector("use")?.setAttribute("href", playing ? "#i-pause" : "#i-play");
}

/** @param {Job} job */
function showProgress(job) {
  const bar = the("job-bar", HTMLProgressElement);
  if (job.total) {
    bar.max = job.total;
    bar.value = job.done;
  } else bar.removeAttribute("value");
  const says = by("job-says");
  says.textContent = sentence(job, says.dataset);
}

/**
 * A job in words, which the page brings along in its reader's language.
 * @param {Job} job
 * @param {DOMStringMap} words
 */
export function sentence(job, words) {
  const what = words[job.kind] ?? words.play;
  const parts = [job.until ? `${what} ${words.until} ${job.until}` : what];
  const unit = job.search ? words.steps : words.pods;
  if (job.total) parts.push(`${count(job.done)} / ${count(job.total)} ${unit}`);
  else if (job.done) parts.push(`${count(job.done)} ${words.steps}`);
  if (job.kind === "run" && job.rate) parts.push(`${count(Math.round(job.rate))}/s`);
  if (job.left) parts.push(`${count(Math.ceil(job.left))} s ${words.left}`);
  return parts.join(" · ");
}

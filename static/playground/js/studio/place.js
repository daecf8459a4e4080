// What stands outside of the panels and follows the viewer: head, rail, marks, hidden fields, links, the URL.
import { showCaption, withPresenter } from "../frame/presenter.js";
import { all, by, first } from "../shared/dom.js";
import { standAt } from "../shared/standing.js";
import { count } from "../shared/words.js";
import { showBranches } from "./branches.js";
import { showChanges } from "./changes.js";
import { showJob } from "./job.js";
import { readLook, writeLook } from "./look.js";
import { bookmarks, showMarks } from "./marks.js";
import { isDragged, showRail } from "./rail.js";

const CHOICES = new Set(["about", "pod", "node", "claim", "controller", "stage", "form", "tab", "plugin"]);
const BESIDE = 8; // pixels between a candidate and the edge
const SOON = 60; // ms: the step is painted first, as the browser asks a process of its own whether a page may say another URL

/** @type {string | null} The query of the latest step, where the URL is still to show it. */
let waiting = null;

/**
 * Shows where the viewer stands and what goes on.
 * @param {import("./state.js").State} state
 */
export function showPlace(state) {
  const { look, seen, head, running } = state;
  standAt(look.at);
  showStanding(look.at !== null, String(seen));
  all(".of-head").forEach((place) => (place.textContent = ` / ${count(head)}`));
  showStage();
  showCaption();
  requestAnimationFrame(() => [showPoint(), showCandidate()]); // when all has its place: asked now, the page would be laid out twice
  by("clock").textContent = first("#panel-transport .clock")?.lastChild?.textContent ?? "";
  by("profile").textContent = by("panel-transport").dataset.profile ?? "";
  showRail(seen, head);
  showBranches(seen, head, Boolean(running));
  showMarks(head, Boolean(running));
  if (!running) showChanges(seen, bookmarks());
  showJob(state);
  if (parent !== self) parent.postMessage({ standing: look }, location.origin); // a classroom's desk
  if (!isDragged()) showUrlSoon(look);
}

/**
 * Forms and links act where the viewer stands, or at the head where it follows.
 * @param {boolean} standing
 * @param {string} seen
 */
function showStanding(standing, seen) {
  by("standing").hidden = !standing;
  by("follow-form").hidden = !standing;
  fill("[data-standing]", standing ? seen : "");
  fill("input[data-position]", seen);
  for (const link of all("a[data-standing-link]")) {
    if (link instanceof HTMLAnchorElement) link.search = standing ? `?at=${seen}` : "";
  }
}

/**
 * @param {string} selector
 * @param {string} value
 */
function fill(selector, value) {
  for (const field of all(selector)) if (field instanceof HTMLInputElement) field.value = value;
}

/** Where the line of points is longer than the screen, the present one is in sight; between two of them, the latest of the cycle. */
function showPoint() {
  const line = document.getElementById("points");
  const now = line && (first(".point.now", line) ?? all(".line:not(.branch) .point.done", line).at(-1));
  if (!now || line.scrollWidth <= line.clientWidth) return;
  line.scrollLeft += now.getBoundingClientRect().left - (line.clientWidth - now.clientWidth) / 2;
}

/** Where the candidates of a preemption are wider than the screen, the one that is looked at is in sight, or the best one, beside the criteria. */
function showCandidate() {
  const theatre = document.querySelector(".theatre-scroll");
  const best = theatre && (first("thead .chosen", theatre) ?? first("thead .best", theatre));
  if (!best || theatre.scrollWidth <= theatre.clientWidth) return;
  const beyond = best.getBoundingClientRect().right - theatre.getBoundingClientRect().right;
  if (beyond > 0) theatre.scrollLeft += beyond + BESIDE;
}

/** The stage says which one it is, and whether the map is seen in it. */
function showStage() {
  const { stage, form, map } = by("panel-stage").dataset;
  const holder = by("stage");
  holder.toggleAttribute("data-changed", holder.dataset.stage !== stage); // it fades in
  Object.assign(holder.dataset, { stage, form, map });
}

/**
 * The URL shows what the viewer looks at, so that a link to it shows the same. Choices are kept in the browser's history.
 * @param {import("./look.js").Look} look
 * @param {boolean} chosen
 */
export function showUrl(look, chosen = false) {
  if (chosen) showWaiting(); // the entry that is left says the step that it was left at
  waiting = null;
  show(writeLook(look), chosen);
}

/**
 * The same, a moment later.
 * @param {import("./look.js").Look} look
 */
function showUrlSoon(look) {
  if (waiting === null) setTimeout(showWaiting, SOON);
  waiting = writeLook(look);
}

function showWaiting() {
  if (waiting !== null) show(waiting, false);
  waiting = null;
}

/**
 * @param {string} query
 * @param {boolean} chosen
 */
function show(query, chosen) {
  const url = location.pathname + withPresenter(query);
  if (url === location.pathname + location.search) return;
  if (chosen) history.pushState(null, "", url);
  else history.replaceState(null, "", url);
}

/**
 * Whether a change of the look is a choice of what to look at.
 * @param {Partial<import("./look.js").Look>} changes
 */
export const isChoice = (changes) => Object.keys(changes).some((name) => CHOICES.has(name));

/**
 * Back and forward walk the choices; the viewer stays at the step.
 * @param {(look: Partial<import("./look.js").Look>) => void} choose
 */
export function listenHistory(choose) {
  addEventListener("pagehide", showWaiting);
  addEventListener("popstate", () => {
    waiting = null;
    const look = readLook(location.search);
    choose(Object.fromEntries([...CHOICES].map((name) => [name, look[name]])));
  });
}

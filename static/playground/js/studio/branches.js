// The strip of branches: where the viewer stands on the present one, links that take the look along, and fresh lines now and then.
import { around, first } from "../shared/dom.js";

const REFRESH = 4000; // while the session goes on by itself
const SOON = 300; // after somebody has changed it, or a run has ended
const ABOVE = 66; // pixels of other branches that stay in sight above the present one

let waiting = 0;
let due = Infinity;
/** @type {number | null} The head that the lines are drawn for. */
let drawn = null;
/** Where the viewer stands, and how far the session has come. */
let now = { position: 0, head: 0 };

/**
 * Shows where the viewer stands; when the session has gone on, its lines are fetched again: now and then while it runs, soon once it stands.
 * @param {number} position
 * @param {number} head
 * @param {boolean} running
 */
export function showBranches(position, head, running) {
  const here = document.getElementById("branch-here");
  if (!here) return;
  /** @type {[number, string][]} */
  const line = JSON.parse(here.dataset.line ?? "[]");
  const [, y] = line.findLast(([at]) => at < position) ?? line[0];
  here.setAttribute("cy", y);
  here.setAttribute("cx", `${Math.min(100, (100 * position) / Math.max(1, Number(here.dataset.most)))}%`);
  drawn ??= head;
  now = { position, head };
  if (head !== drawn) refreshIn(running ? REFRESH : SOON);
}

/** @param {number} time An earlier time that was meant before stays. */
function refreshIn(time) {
  const at = performance.now() + time;
  if (waiting && due <= at) return;
  clearTimeout(waiting);
  due = at;
  waiting = setTimeout(refresh, time);
}

async function refresh() {
  const { position, head } = now;
  const scrolled = first(".branch-scroll")?.scrollTop ?? 0;
  waiting = 0;
  if (document.activeElement?.closest("#branches")) return refreshIn(REFRESH); // nobody loses the link in focus
  drawn = head;
  const asking = { target: "#branches", swap: "outerHTML" };
  await htmx.ajax("GET", `branches?strip=1&at=${position}`, asking);
  first(".branch-scroll")?.scrollTo({ top: scrolled });
}

/**
 * A link to another branch opens it with the look of this page.
 * @param {Event} event
 */
function takeAlong(event) {
  const link = around(event, "a[data-keeps-look]");
  if (link instanceof HTMLAnchorElement) link.search = location.search;
}

document.addEventListener("pointerdown", takeAlong, true);
document.addEventListener("focusin", takeAlong);

const box = first(".branch-scroll");
const current = box && first(".current > .branch-row", box);
if (current) box.scrollTop = current.offsetTop - box.offsetTop - ABOVE;

// The strip of branches: where the viewer stands on the present one, links that take the look along, and fresh lines now and then.
import { around, first } from "../shared/dom.js";

const REFRESH = 4000;
const ABOVE = 66; // pixels of other branches that stay in sight above the present one

let waiting = 0;
/** @type {number | null} The head that the lines are drawn for. */
let drawn = null;

/**
 * Shows where the viewer stands; when the session has gone on, its lines are fetched again after a while.
 * @param {number} position
 * @param {number} head
 */
export function showBranches(position, head) {
  const here = document.getElementById("branch-here");
  if (!here) return;
  /** @type {[number, string][]} */
  const line = JSON.parse(here.dataset.line ?? "[]");
  const [, y] = line.findLast(([at]) => at < position) ?? line[0];
  here.setAttribute("cy", y);
  here.setAttribute("cx", `${Math.min(100, (100 * position) / Math.max(1, Number(here.dataset.most)))}%`);
  drawn ??= head;
  if (head !== drawn && !waiting) waiting = setTimeout(() => refresh(position, head), REFRESH);
}

/**
 * @param {number} position
 * @param {number} head
 */
async function refresh(position, head) {
  const scrolled = first(".branch-scroll")?.scrollTop ?? 0;
  if (!document.activeElement?.closest("#branches")) {
    const asking = { target: "#branches", swap: "outerHTML" };
    await htmx.ajax("GET", `branches?strip=1&at=${position}`, asking);
    first(".branch-scroll")?.scrollTo({ top: scrolled });
  }
  drawn = head;
  waiting = 0;
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

// Links and fields that change what the viewer looks at or where it stands, and buttons with an action: without leaving the page.
import { around } from "../shared/dom.js";
import { isPlain } from "../shared/drawer.js";
import { filterOf, patchOf } from "./look.js";

const PAUSE = 180; // after the last letter that was typed

/** @typedef {import("./look.js").Look} Look */

/**
 * @typedef {object} Studio
 * @property {(changes: Partial<Look>) => boolean} change
 * @property {(at: number) => boolean} goto
 * @property {Record<string, import("./actions.js").Act>} actions
 */

/**
 * Listens to what is clicked, typed and chosen; what can't be sent now is left to the browser.
 * @param {Studio} studio
 */
export function listenLinks(studio) {
  document.addEventListener("click", (event) => {
    if (event.defaultPrevented || !isPlain(event)) return;
    const button = around(event, "[data-act]");
    const link = linkAt(event);
    const isDone = button ? pressed(button, studio) : link && followed(link, studio);
    if (isDone) event.preventDefault();
  });
  let typing = 0;
  document.addEventListener("input", ({ target }) => {
    if (!(target instanceof HTMLInputElement)) return;
    const changes = filterOf(target);
    if (!changes) return;
    clearTimeout(typing);
    typing = setTimeout(() => studio.change(changes), PAUSE);
  });
  document.addEventListener("change", ({ target }) => {
    const changes = target instanceof HTMLSelectElement && filterOf(target);
    if (changes) studio.change(changes);
  });
}

/**
 * @param {HTMLElement} button
 * @param {Studio} studio
 */
function pressed({ dataset: { act = "", seek } }, { actions }) {
  return (seek ? actions[act](JSON.parse(seek)) : actions[act]()) !== false;
}

/**
 * The link around where an event happened; in a figure it is an SVG's.
 * @param {Event} event
 */
function linkAt({ target }) {
  return target instanceof Element ? target.closest("a") : null;
}

/**
 * @param {HTMLAnchorElement} link
 * @param {Studio} studio
 */
function followed({ dataset }, { change, goto }) {
  const patch = patchOf(dataset);
  if (!patch && dataset.goto === undefined) return false;
  return (!patch || change(patch)) && (dataset.goto === undefined || goto(Number(dataset.goto)));
}

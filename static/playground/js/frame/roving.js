// Long lists of links are one stop of the Tab key: ↑ and ↓ go on from there. A list says so by data-roving.
import { all, around } from "../shared/dom.js";

const LISTS = "[data-roving]";
const CHOSEN = ".chosen a";

/** @type {Record<string, number>} */
const WAYS = { ArrowUp: -1, ArrowDown: 1 };

/** Leaves each list one link to stop at: the one in focus, else the chosen one, else the first. */
export function rove() {
  for (const list of all(LISTS)) {
    const links = all("a", list);
    const stop = links.find((link) => link === document.activeElement) ?? all(CHOSEN, list)[0] ?? links[0];
    for (const link of links) link.tabIndex = link === stop ? 0 : -1;
  }
}

export function listenRoving() {
  document.addEventListener("keydown", (event) => {
    const way = WAYS[event.key];
    const list = way && !event.altKey && !event.ctrlKey && !event.metaKey ? around(event, LISTS) : null;
    if (!list || !(event.target instanceof HTMLAnchorElement)) return;
    const links = all("a", list).filter((link) => link.offsetParent);
    const next = links[links.indexOf(event.target) + way];
    if (!next) return;
    event.preventDefault();
    next.focus();
  });
  document.addEventListener("focusin", (event) => around(event, LISTS) && rove());
}

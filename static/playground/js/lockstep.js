// Two sessions side by side: the links of the one transport without leaving the page. Both stages go where the server says that they are
// level; between two steps only what differs just now is sent again.
import { all, around, by, the } from "./shared/dom.js";
import { isPlain } from "./shared/drawer.js";

const PAUSE = 120; // while the attempt is dragged
const PARTS = ["lockstep-bar", "lockstep-now"];
const WAYS = new Map([["ArrowRight", "step"], ["ArrowLeft", "back"], ["Home", "home"], ["≠", "first"]]);

const frames = all("iframe[data-side]");
let asked = 0;
let typing = 0;

/**
 * Shows the moment that an address means; whatever else the server has to say about it is a page of its own.
 * @param {string} address
 */
async function show(address) {
  const mine = ++asked;
  const answer = await fetch(`${address}&part=1`, { headers: { Accept: "text/html" } });
  if (mine !== asked) return;
  if (answer.status !== 200) return location.assign(address);
  const parsed = new DOMParser().parseFromString(await answer.text(), "text/html");
  if (mine !== asked) return;
  const focused = document.activeElement?.getAttribute("data-way") || document.activeElement?.id;
  for (const id of PARTS) {
    const fresh = parsed.getElementById(id);
    if (!fresh) return location.assign(address);
    by(id).replaceWith(fresh);
  }
  if (focused) refocus(focused);
  history.replaceState(null, "", address);
  const { a, b } = by(PARTS[0]).dataset;
  for (const frame of frames) tell(frame, Number(frame.dataset.side === "0" ? a : b));
}

/** @param {string} name */
function refocus(name) {
  const found = document.querySelector(`[data-way="${CSS.escape(name)}"], #${CSS.escape(name)}`);
  if (found instanceof HTMLElement) found.focus();
}

/**
 * @param {HTMLElement} frame
 * @param {number} at
 */
function tell(frame, at) {
  if (frame instanceof HTMLIFrameElement) frame.contentWindow?.postMessage({ at }, location.origin);
}

/** @param {string} way */
function go(way) {
  const link = document.querySelector(`#lockstep-bar a[data-way="${way}"]`);
  if (link instanceof HTMLAnchorElement) show(link.getAttribute("href") ?? "");
  return link !== null;
}

document.addEventListener("click", (event) => {
  const link = around(event, "#lockstep-bar a[href], #lockstep-now a[data-way]");
  if (!link || event.defaultPrevented || !isPlain(event)) return;
  event.preventDefault();
  show(link.getAttribute("href") ?? "");
});
document.addEventListener("keydown", (event) => {
  const way = WAYS.get(event.key);
  if (!way || event.target instanceof HTMLInputElement || event.ctrlKey || event.metaKey || event.altKey) {
    return;
  }
  if (go(way)) event.preventDefault();
});
document.addEventListener("input", ({ target }) => {
  if (!(target instanceof HTMLInputElement) || target.id !== "lockstep-attempt" || !target.form) return;
  const fields = [...new FormData(target.form)].map(([name, value]) => [name, String(value)]);
  clearTimeout(typing);
  typing = setTimeout(() => show(`?${new URLSearchParams(fields)}`), PAUSE);
});
addEventListener("message", ({ data, origin, source }) => {
  const isOurs = frames.some((frame) => frame instanceof HTMLIFrameElement && frame.contentWindow === source);
  if (origin === location.origin && isOurs && data.way) go(data.way === "back" ? "back" : "step");
});
the("main", HTMLElement).dataset.scripted = "1";

// Puts a delta's fragments into the page. A pod that went from one queue to another, or to a node, is seen to move (View Transitions).
import { all } from "../shared/dom.js";
import { readRings, turnRings } from "./rings.js";

const MOST_MOVING = 24;
const calm = matchMedia("(prefers-reduced-motion: reduce)");

/** @typedef {{element: HTMLElement, box: string | undefined}} Chip A pod's picture, and the id of the queue or node that it is in. */
/** @typedef {{key: string, chips: Chip[]}} Traveller */

/** @type {(() => void)[]} Updates that came while a transition was about to begin. */
const waiting = [];
/** @type {ViewTransition | null} */
let transition = null;

/**
 * Swaps the fragments in.
 * @param {string} html
 * @param {string[]} moved The keys of pods that came to another place.
 * @param {() => void} after Called once the page is changed.
 */
export function paint(html, moved, after) {
  const update = () => {
    swap(html);
    after();
  };
  if (transition) {
    waiting.push(update);
    transition.skipTransition();
    return;
  }
  const pods = travellers(moved);
  if (pods.length) move(pods, update);
  else update();
}

/**
 * @param {Traveller[]} pods
 * @param {() => void} update
 */
function move(pods, update) {
  pods.forEach(({ chips }, i) => name(chips[0].element, `pod-${i}`));
  /** @type {HTMLElement[]} */
  let arrived = [];
  const current = document.startViewTransition(() => {
    update();
    pods.forEach(({ chips }) => name(chips[0].element, ""));
    arrived = pods.flatMap((pod, i) => {
      const element = arrival(pod);
      return element ? [name(element, `pod-${i}`)] : [];
    });
    while (waiting.length) waiting.shift()?.();
  });
  transition = current;
  current.updateCallbackDone.finally(() => (transition = null));
  current.finished.finally(() => arrived.forEach((element) => name(element, "")));
  current.ready.catch(() => {});
}

/**
 * @param {HTMLElement} element
 * @param {string} transitionName
 */
function name(element, transitionName) {
  element.style.viewTransitionName = transitionName;
  return element;
}

/**
 * The pods that have moved and are on the page now; each is taken up from its queue where it is in one.
 * @param {string[]} moved
 * @returns {Traveller[]}
 */
function travellers(moved) {
  const tooMany = moved.length > MOST_MOVING;
  if (!moved.length || tooMany || calm.matches || !document.startViewTransition) return [];
  return moved.map((key) => ({ key, chips: chipsOf(key) })).filter(({ chips }) => chips.length);
}

/**
 * Where a pod stands now and did not before; undefined where it only left.
 * @param {Traveller} pod
 */
function arrival({ key, chips }) {
  const before = new Set(chips.map(({ box }) => box));
  return chipsOf(key).find(({ box }) => !before.has(box))?.element;
}

/**
 * A pod's chips, those in queues first.
 * @param {string} key
 * @returns {Chip[]}
 */
function chipsOf(key) {
  const links = all(`:is(.queue .pod, .node) [data-pod="${CSS.escape(key)}"]:not(.why-link)`);
  return links.map((link) => ({
    element: /** @type {HTMLElement} */ (link.closest(".pod") ?? link),
    box: link.closest(".queue, .node")?.id,
  }));
}

/** @param {string} html */
function swap(html) {
  if (!html) return;
  const before = readRings();
  htmx.swap(document.body, html, { swapStyle: "none", swapDelay: 0, settleDelay: 0 });
  turnRings(before);
}

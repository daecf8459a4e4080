// Puts a delta's fragments into the page. A pod that went from one queue to another, or to a node, is seen to move (View Transitions).
import { readRings, turnRings } from "./rings.js";

const MOVING = 24;
const calm = matchMedia("(prefers-reduced-motion: reduce)");
const waiting = [];
let transition = null;

/** Swaps the fragments in; `moved` are the keys of pods that came to another place. Calls `after` once the page is changed. */
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
  if (!pods.length) {
    update();
    return;
  }
  pods.forEach(({ chips }, i) => (chips[0].element.style.viewTransitionName = `pod-${i}`));
  let arrived = [];
  transition = document.startViewTransition(() => {
    update();
    pods.forEach(({ chips }) => (chips[0].element.style.viewTransitionName = ""));
    arrived = pods.flatMap((pod, i) => {
      const element = arrival(pod);
      if (element) element.style.viewTransitionName = `pod-${i}`;
      return element ? [element] : [];
    });
    while (waiting.length) waiting.shift()();
  });
  transition.updateCallbackDone.finally(() => (transition = null));
  transition.finished.finally(() => arrived.forEach((element) => (element.style.viewTransitionName = "")));
  transition.ready.catch(() => {});
}

/** The pods that stand in a queue or on a node now and are told to have moved; each is taken up from its queue where it is in one. */
function travellers(moved) {
  if (!moved.length || moved.length > MOVING || calm.matches || !document.startViewTransition) return [];
  return moved.map((key) => ({ key, chips: chipsOf(key) })).filter(({ chips }) => chips.length);
}

/** Where a pod stands now and did not before; null where it only left. */
function arrival({ key, chips }) {
  const before = new Set(chips.map(({ box }) => box));
  return chipsOf(key).find(({ box }) => !before.has(box))?.element ?? null;
}

/** A pod's chips with the id of the queue or node that each is in, queues first. */
function chipsOf(key) {
  const found = document.querySelectorAll(
    `:is(.queue .pod, .node) [data-pod="${CSS.escape(key)}"]:not(.why-link)`,
  );
  return [...found].map((link) => ({
    element: link.closest(".pod") ?? link,
    box: link.closest(".queue, .node").id,
  }));
}

function swap(html) {
  if (!html) return;
  const before = readRings();
  htmx.swap(document.body, html, { swapStyle: "none", swapDelay: 0, settleDelay: 0 });
  turnRings(before);
}

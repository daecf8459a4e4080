// Puts a delta's fragments into the page. A pod that went from a queue to a node is seen to move (View Transitions).

const MOVING = 24;
const calm = matchMedia("(prefers-reduced-motion: reduce)");
const waiting = [];
let transition = null;

/** Swaps the fragments in; `moved` are the keys of pods that came to a node. Calls `after` once the page is changed. */
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
  pods.forEach(({ element }, i) => (element.style.viewTransitionName = `pod-${i}`));
  let arrived = [];
  transition = document.startViewTransition(() => {
    update();
    arrived = pods.flatMap(({ key }, i) => {
      const [target] = find([key], ".node");
      if (target) target.element.style.viewTransitionName = `pod-${i}`;
      return target ? [target.element] : [];
    });
    while (waiting.length) waiting.shift()();
  });
  transition.updateCallbackDone.finally(() => (transition = null));
  transition.finished.finally(() => arrived.forEach((element) => (element.style.viewTransitionName = "")));
  transition.ready.catch(() => {});
}

/** The pods that leave a queue for a node now; one that stands on its node already (assumed, and now bound) stays there. */
function travellers(moved) {
  if (!moved.length || moved.length > MOVING || calm.matches || !document.startViewTransition) return [];
  return find(moved, ".pod").filter(({ key }) => !find([key], ".node").length);
}

function swap(html) {
  if (!html) return;
  htmx.swap(document.body, html, { swapStyle: "none", swapDelay: 0, settleDelay: 0 });
}

function find(keys, within) {
  return keys.flatMap((key) => {
    const element = document.querySelector(`${within} [data-pod="${CSS.escape(key)}"]`);
    return element ? [{ key, element: within === ".pod" ? element.closest(".pod") : element }] : [];
  });
}

// A pod dragged onto a node asks why it is not there. Without a pointer that drags, the pod's menu asks the same, and `w` on the large map.
import { singleKeys } from "../frame/single_keys.js";
import { all, around, first, maybe } from "../shared/dom.js";
import { openInDrawer } from "../shared/drawer.js";

const POD = '[data-pod]:not([data-pod=""])';
const NODE = '[data-node]:not([data-node=""])';
const AROUND_NODE = ".node, tr, li"; // what stands for a node as a whole
const OVER = "why-here";

/**
 * The node that an event happened on, with the element that stands for it.
 * @param {Event} event
 */
function nodeAt(event) {
  const named = around(event, NODE);
  if (named) return { element: named, name: named.dataset.node ?? "" };
  const element = around(event, AROUND_NODE);
  const inside = element ? all(NODE, element) : [];
  return element && inside.length === 1 ? { element, name: inside[0].dataset.node ?? "" } : null;
}

/**
 * @param {string} pod
 * @param {string} node
 */
const ask = (pod, node) => openInDrawer(`why?${new URLSearchParams({ pod, node })}`);

/**
 * Asks why the chosen pod, or else the first in the rail, is not on the node that an element means now; false where it means none.
 * @param {HTMLElement} element
 */
function askAt({ dataset: { node } }) {
  const pod = first("#rail .pod.chosen [data-pod]") ?? first("#rail .pod [data-pod]");
  return Boolean(node && pod?.dataset.pod && (ask(pod.dataset.pod, node), true));
}

/** Listens to pods being dragged, and to the key that asks the same on the large map. */
export function listenDrag() {
  /** @type {string | undefined} */
  let pod;
  const clear = () => all(`.${OVER}`).forEach((element) => element.classList.remove(OVER));
  document.addEventListener("dragstart", (event) => {
    pod = around(event, POD)?.dataset.pod;
    if (!pod || !event.dataTransfer) return;
    event.dataTransfer.effectAllowed = "all";
    event.dataTransfer.setData("text/plain", pod);
  });
  document.addEventListener("dragover", (event) => {
    if (!pod) return;
    clear();
    const over = nodeAt(event);
    if (!over) return;
    over.element.classList.add(OVER);
    event.preventDefault();
  });
  document.addEventListener("drop", (event) => {
    const over = pod && nodeAt(event);
    if (!pod || !over) return;
    event.preventDefault();
    ask(pod, over.name);
  });
  const map = maybe("heat", HTMLCanvasElement);
  map?.addEventListener("keydown", (event) => {
    if (event.key === "w" && singleKeys() && askAt(map)) event.preventDefault();
  });
  document.addEventListener("dragend", () => {
    pod = undefined;
    clear();
  });
}

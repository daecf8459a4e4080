// A pod dragged onto a node asks why it is not there. Without a pointer that drags, the pod's menu asks the same.
import { all, around } from "../shared/dom.js";
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

/** Listens to pods being dragged. */
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
    openInDrawer(`why?${new URLSearchParams({ pod, node: over.name })}`);
  });
  document.addEventListener("dragend", () => {
    pod = undefined;
    clear();
  });
}

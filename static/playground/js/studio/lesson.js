// The lesson's card: how far it has come is kept, what it is about is marked, and a click on a node or pod chooses it as the answer.
import { all, around, maybe } from "../shared/dom.js";
import { reach } from "../shared/progress.js";

const NAMESPACE = "default/";

/** After each painting. */
export function showLesson() {
  const card = maybe("panel-story", HTMLElement);
  for (const marked of all(".spotlit")) marked.classList.remove("spotlit");
  if (!card?.dataset.lesson) return;
  reach(card.dataset.lesson, Number(card.dataset.card));
  for (const part of all(selectorOf(card.dataset.spotlight ?? ""))) part.classList.add("spotlit");
}

/**
 * @param {string} spotlight A part of the studio, or an object: its kind and name.
 */
function selectorOf(spotlight) {
  const [kind, name] = spotlight.split(" ");
  if (name) return `#panel-map [data-${CSS.escape((kind ?? "").toLowerCase())}="${CSS.escape(name)}"]`;
  return { queue: "#rail", points: "#points", stage: "#panel-stage", map: "#panel-map" }[spotlight] ??
    "#timeline";
}

/** Clicks anywhere on the stage and in the queues; what they do besides goes on. */
export function listenLesson() {
  document.addEventListener("click", (event) => {
    for (const kind of ["node", "pod"]) {
      const named = around(event, `#stage [data-${kind}], #rail [data-${kind}]`);
      if (named) choose((named.dataset[kind] ?? "").replace(NAMESPACE, ""));
    }
  });
}

/** @param {string} name */
function choose(name) {
  for (const option of document.querySelectorAll("#panel-story .question .option input")) {
    if (option instanceof HTMLInputElement && option.value === name) {
      option.checked = option.type === "radio" || !option.checked;
    }
  }
}

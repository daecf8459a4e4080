// The lesson's card: how far it has come is kept, what it is about is marked, a click on a node or pod chooses it as the answer, and
// what would give the answer away is covered until it is given.
import { all, around, by, first, maybe } from "../shared/dom.js";
import { reach } from "../shared/progress.js";

const NAMESPACE = "default/";
const ANSWERED = "answered";

/** After each painting. */
export function showLesson() {
  const card = maybe("panel-story", HTMLElement);
  for (const marked of all(".spotlit")) marked.classList.remove("spotlit");
  const asks = card !== null && first("form.question", card) !== null && !answered().includes(nameOf(card));
  card?.toggleAttribute("data-asks", asks);
  cover(asks ? card?.dataset.veils : undefined);
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

/** @param {HTMLElement} card The card of this session, by its number. */
const nameOf = (card) => `${document.body.dataset.key} ${card.dataset.card}`;

/** @returns {string[]} The cards whose questions were answered in this tab. */
function answered() {
  try {
    return JSON.parse(sessionStorage.getItem(ANSWERED) ?? "[]");
  } catch {
    return [];
  }
}

/** @param {string | undefined} words What stands there instead; nothing: it is seen. */
function cover(words) {
  document.body.toggleAttribute("data-covered", words !== undefined);
  by("stage").dataset.cover = words ?? "";
}

/** The answer, or what it would have been, has come. */
function listenAnswers() {
  document.addEventListener("htmx:afterSwap", ({ target }) => {
    const card = maybe("panel-story", HTMLElement);
    if (!card || !(target instanceof Element) || target.id !== "lesson-answer") return;
    try {
      sessionStorage.setItem(ANSWERED, JSON.stringify([...answered(), nameOf(card)]));
    } catch {
      // a browser that keeps nothing asks again
    }
    showLesson();
    target.scrollIntoView({ block: "nearest" });
  });
}

/** Clicks anywhere on the stage and in the queues; what they do besides goes on. */
export function listenLesson() {
  listenAnswers();
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

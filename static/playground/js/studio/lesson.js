// The lesson's card: how far it has come is kept, what it is about is marked, a click on a node or pod chooses it as the answer, and
// what would give the answer away is covered until it is given.
import { all, around, by, first, maybe } from "../shared/dom.js";
import { reach } from "../shared/progress.js";

const NAMESPACE = "default/";
const ANSWERED = "answered";
const COVERED = "#stage, #rail, #points, #lanes";
let focusedThere = false; // also when painting has replaced what had the focus

/** After each painting. */
export function showLesson() {
  const card = maybe("panel-story", HTMLElement);
  for (const marked of all(".spotlit")) marked.classList.remove("spotlit");
  const asks = card !== null && first("form.question", card) !== null && !answered().includes(nameOf(card));
  card?.toggleAttribute("data-asks", asks);
  cover(asks && card?.dataset.veils !== undefined);
  if (!card?.dataset.lesson) return;
  reach(card.dataset.lesson, Number(card.dataset.card));
  showVerdict(card);
  showNodes(card);
  for (const part of spotlit(card.dataset.spotlight ?? "")) part.classList.add("spotlit");
}

let agreed = false;

/**
 * The task is done: what is said of it comes into sight.
 * @param {HTMLElement} card
 */
function showVerdict(card) {
  const verdict = first(".lesson-end > .verdict", card);
  if (verdict && !agreed) verdict.scrollIntoView({ block: "center" });
  agreed = verdict !== null;
}

/** @type {string | undefined} The card that was shown last. */
let shown;

/**
 * When a card about nodes comes, and the stage shows none: its form that does, unless the page was opened by a link that says what to
 * show. From then on it is the learner's choice. It waits for the connection: without one the link would load the page anew.
 * @param {HTMLElement} card
 */
function showNodes(card) {
  if (document.body.dataset.connected !== "1") return;
  const before = shown;
  shown = nameOf(card);
  const opened = new URLSearchParams(location.search);
  const chosen = before === undefined && ["at", "stage", "form"].some((name) => opened.has(name));
  if (shown === before || chosen || !/^(map|Node )/.test(card.dataset.spotlight ?? "")) return;
  if (by("stage").dataset.map !== "1") first("#stage .forms [data-form=nodes]")?.click();
}

/**
 * The parts of the studio that a card is about: the first of these that is in sight, as each stage shows the nodes in its own form.
 * @param {string} spotlight A part of the studio, or an object: its kind and name.
 */
function spotlit(spotlight) {
  const found = selectorsOf(spotlight).map((selector) =>
    all(selector).filter((part) => part.checkVisibility())
  );
  return found.find((parts) => parts.length > 0) ?? [];
}

/** @param {string} spotlight */
function selectorsOf(spotlight) {
  const [kind, name] = spotlight.split(" ");
  if (name) {
    const object = `[data-${CSS.escape((kind ?? "").toLowerCase())}="${CSS.escape(name)}"]`;
    return [`#panel-map ${object}`, `#panel-stage ${object}`, "#panel-stage"];
  }
  return {
    queue: ["#rail"],
    points: ["#points"],
    stage: ["#panel-stage"],
    map: ["#panel-map :is(.zones, .window)", "#stage > .heat", "#panel-stage"],
  }[spotlight] ?? ["#timeline"];
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

/**
 * What is covered is neither seen nor read aloud; the keys go to the question.
 * @param {boolean} covered
 */
function cover(covered) {
  const before = document.body.hasAttribute("data-covered");
  document.body.toggleAttribute("data-covered", covered);
  if (!covered || before) return;
  for (const place of all(COVERED)) place.scrollTop = 0;
  const focused = document.activeElement;
  if (focusedThere && (focused === document.body || focused?.closest(COVERED))) by("panel-story").focus();
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
    first(".lesson-transport", card)?.scrollIntoView({ block: "nearest" });
    target.scrollIntoView({ block: "nearest" });
  });
}

/** Clicks anywhere on the stage and in the queues; what they do besides goes on. */
export function listenLesson() {
  listenAnswers();
  document.addEventListener("focusin", ({ target }) => {
    focusedThere = target instanceof Element && target.closest(COVERED) !== null;
  });
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

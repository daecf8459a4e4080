// The lesson's card: how far it has come is kept, what it is about is marked, a click on a node or pod chooses it as the answer, and
// what would give the answer away is covered until it is given.
import { all, around, by, first, maybe } from "../shared/dom.js";
import { followHeights } from "../shared/height.js";
import { keepShown, reach } from "../shared/progress.js";

const NAMESPACE = "default/";
const ANSWERED = "answered";
const ACTED = "acted";
const HINTED = "hinted";
const COVERED = "#stage, #rail, #points, #lanes";
const WITHOUT_CYCLE = ["cluster", "queue", "controller"];
let focusedThere = false; // also when painting has replaced what had the focus
let focusedCard = false;

/** After each painting. */
export function showLesson() {
  const card = maybe("panel-story", HTMLElement);
  if (focusedCard && document.activeElement === document.body) card?.focus();
  for (const marked of all(".spotlit")) marked.classList.remove("spotlit");
  const answered = card === null || isTask() || kept(ANSWERED).includes(nameOf(card));
  const asks = !answered && first("form.question", card) !== null;
  card?.toggleAttribute("data-asks", asks);
  card?.toggleAttribute("data-acted", card !== null && kept(ACTED).includes(nameOf(card)));
  cover(asks && card?.dataset.veils !== undefined);
  showGiven(asks);
  document.body.toggleAttribute("data-hinted", kept(HINTED).includes(document.body.dataset.key ?? ""));
  if (!card?.dataset.lesson) return;
  reach(card.dataset.lesson, Number(card.dataset.card));
  showVerdict(card);
  showNodes(card);
  for (const part of spotlit(card.dataset.spotlight ?? "")) part.classList.add("spotlit");
}

/** A fork that was made for a lesson's task. */
const isTask = () => document.body.hasAttribute("data-task");

/**
 * What is known before the answer stands on the stage where the answer is hidden, and where the stage shows no attempt yet.
 * @param {boolean} asks
 */
function showGiven(asks) {
  const place = by("given");
  const source = maybe("given-of-card", HTMLTemplateElement);
  const early = WITHOUT_CYCLE.includes(by("stage").dataset.stage ?? "");
  const shows = asks && source !== null && (early || document.body.hasAttribute("data-covered"));
  if (shows) place.replaceChildren(source.content.cloneNode(true));
  place.hidden = !shows;
  document.body.toggleAttribute("data-given", shows);
  addWhatFits(all("[data-spare]", place));
}

/**
 * Shows each part for which the stage has room.
 * @param {HTMLElement[]} parts
 */
function addWhatFits(parts) {
  const stage = by("stage");
  for (const part of parts) part.hidden = true;
  for (const part of parts) {
    part.hidden = false;
    part.hidden = stage.scrollHeight > stage.clientHeight;
  }
}

let agreed = false;

/**
 * The task is done: what is said of it comes into sight.
 * @param {HTMLElement} card
 */
function showVerdict(card) {
  const verdict = first(".lesson-end > .verdict", card);
  if (verdict && !agreed) showEnd(verdict);
  agreed = verdict !== null;
}

/**
 * The nodes beside what was learned, where a task is done; an assignment hears of it.
 * @param {HTMLElement} verdict
 */
function showEnd(verdict) {
  verdict.scrollIntoView({ block: "center" });
  if (isTask()) choosing({ stage: "cluster" });
  const form = maybe("assigned", HTMLFormElement);
  if (form) fetch(form.action, { method: "POST", body: new FormData(form) }).catch(() => null);
}

/** @type {string | undefined} The card that was shown last. */
let shown;

/** @type {(changes: Record<string, string>) => void} Chooses what the stage shows. */
let choosing = () => {};

/**
 * When a card comes: its text from the top, and the stage that it names, or the nodes where it is about nodes and the stage shows none,
 * unless the page was opened by a link that says what to show. From then on it is the learner's choice. It waits for the connection:
 * without one the link would load the page anew.
 * @param {HTMLElement} card
 */
function showNodes(card) {
  if (document.body.dataset.connected !== "1") return;
  const before = shown;
  shown = nameOf(card);
  if (shown === before) return;
  const opened = new URLSearchParams(location.search);
  if (before === undefined && ["at", "stage", "form"].some((name) => opened.has(name))) return;
  for (const place of [card, card.parentElement, card.closest(".sheet")]) {
    if (place && before !== undefined) place.scrollTop = 0; // an opened page already shows what matters
  }
  const { stageOfCard: stage, podOfCard: pod = "", pluginOfCard: plugin = "" } = card.dataset;
  if (stage) choosing({ stage, ...(pod && { pod }), ...(plugin && { plugin }) });
  else if (/^(map|Node )/.test(card.dataset.spotlight ?? "") && by("stage").dataset.map !== "1") {
    first("#stage .forms [data-form=nodes]")?.click();
  }
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
    return [
      `#panel-map .node:has(header ${object})`,
      `#panel-map ${object}`,
      `#panel-stage ${object}`,
      "#panel-stage",
    ];
  }
  return {
    queue: ["#rail"],
    points: ["#points"],
    stage: ["#panel-stage"],
    map: ["#panel-map :is(.zones, .window)", "#stage > .heat", "#panel-stage"],
  }[spotlight] ?? ["#timeline"];
}

let going = ""; // the number of the card whose offer Next takes

/** @param {HTMLElement} card The card of this session, by its number. */
const nameOf = (card) => `${document.body.dataset.key} ${card.dataset.card}`;

/**
 * @param {string} what The cards whose questions were answered, or whose offers were taken, in this tab; forks whose hint was opened.
 * @returns {string[]}
 */
function kept(what) {
  try {
    return JSON.parse(sessionStorage.getItem(what) ?? "[]");
  } catch {
    return [];
  }
}

/**
 * @param {string} what
 * @param {string} name
 */
function keep(what, name) {
  try {
    sessionStorage.setItem(what, JSON.stringify([...new Set([...kept(what), name])]));
  } catch {
    // a browser that keeps nothing asks again
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

/** The answer, or what it would have been, has come; or hints for another try. An offer was taken. */
function listenAnswers() {
  document.addEventListener("htmx:afterSwap", ({ target }) => {
    const card = maybe("panel-story", HTMLElement);
    if (!card || !(target instanceof Element) || target.id !== "lesson-answer") return;
    const again = first("[data-again]", target) !== null;
    card.toggleAttribute("data-again", again);
    if (!again) {
      keep(ANSWERED, nameOf(card));
      keepShown(card.dataset.lesson ?? "", Number(card.dataset.card), first("[data-shown]", target) !== null);
    }
    showLesson();
    target.scrollIntoView({ block: "nearest" });
  });
  // The stream may replace the card, and the form that was sent with it, before htmx says that the answer has come.
  document.addEventListener("htmx:beforeRequest", (event) => {
    const { elt, xhr } = /** @type {CustomEvent} */ (event).detail;
    if (!(elt instanceof HTMLFormElement) || !elt.matches("#panel-story form.act")) return;
    const number = elt.action.split("/").at(-1) ?? "";
    xhr.addEventListener("loadend", () => {
      const [goes, card] = [going === number, maybe("panel-story", HTMLElement)];
      going = "";
      if (!card || xhr.status < 200 || xhr.status >= 300) return;
      keep(ACTED, `${document.body.dataset.key} ${number}`);
      showLesson();
      const next = first("form.on", card);
      if (goes && card.dataset.card === number && next instanceof HTMLFormElement) next.requestSubmit();
    });
  });
  document.addEventListener("submit", takeOffer, true);
  // The hint of a task opens at the end of the panel; from then on the studio shows fixes, too.
  document.addEventListener("toggle", ({ target }) => {
    if (target instanceof Element && target.matches(".lesson-end details[open]")) {
      keep(HINTED, document.body.dataset.key ?? "");
      document.body.toggleAttribute("data-hinted", true);
      target.scrollIntoView({ block: "nearest" });
    }
  }, true);
  document.addEventListener("click", (event) => {
    if (around(event, ".lesson-transport .answers")) {
      markShown(around(event, ".lesson-transport [name=show]") !== null);
    }
  }, true);
}

/**
 * The buttons stand outside the form, where htmx does not look for the one that was pressed.
 * @param {boolean} show Whether the answer is to be shown.
 */
function markShown(show) {
  const form = by("question");
  first("input[name=show]", form)?.remove();
  if (show) form.insertAdjacentHTML("beforeend", '<input type="hidden" name="show" value="1">');
}

/**
 * Next does what the card offers, if that was not done, and goes on.
 * @param {SubmitEvent} event
 */
function takeOffer(event) {
  const card = maybe("panel-story", HTMLElement);
  const form = around(event, "form.on");
  const offer = card && first("form.act", card);
  if (!form || !(form instanceof HTMLFormElement) || !(offer instanceof HTMLFormElement) || !card) return;
  if (card.hasAttribute("data-acted")) return;
  event.preventDefault();
  event.stopPropagation();
  going = card.dataset.card ?? "";
  offer.requestSubmit();
}

/**
 * Clicks anywhere on the stage and in the queues; what they do besides goes on.
 * @param {(changes: Record<string, string>) => void} look Changes what the stage shows.
 */
export function listenLesson(look) {
  followHeights();
  choosing = look;
  listenAnswers();
  document.addEventListener("focusin", ({ target }) => {
    focusedThere = target instanceof Element && target.closest(COVERED) !== null;
    focusedCard = target instanceof Element && target.id === "panel-story";
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

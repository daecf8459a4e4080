// Puts a delta's fragments into the page, at once. A pod that went from one queue to another, or to a node, is seen to move: a picture of it
// travels over the page from where it was, in the rail and on the stage by itself.
import { all } from "../shared/dom.js";
import { between, calm, MOVE, moveSegments, played, readSegments, wayTo } from "./motion.js";
import { readRings, turnRings } from "./rings.js";

const MOST_MOVING = 24;
const MOST_SEEN = 200; // pods among which those are found that have gone back
const WORK_OF_HTMX = "[hx-get], [hx-post]";
const UNSEEN = [{ opacity: 0 }, { opacity: 0 }];

/**
 * @typedef {{element: HTMLElement, box: string | undefined, railed: boolean}} Chip A pod's picture, the id of the queue or node that it is in,
 * and whether that is in the rail.
 */
/** @typedef {{key: string, chips: Chip[], from: DOMRect, railed: boolean, anywhere: boolean}} Traveller */

/**
 * @typedef {object} Delta
 * @property {number} seq The position that it leads to.
 * @property {number} head
 * @property {boolean} following
 * @property {import("./state.js").Running | null} running
 * @property {string} html
 * @property {string[]} moved
 */

/**
 * The handler of deltas: the page goes where each leads.
 * @param {import("./state.js").State} state
 * @param {() => boolean} isDragged Whether the rail is being dragged.
 * @param {() => void} after Called once the page is changed.
 */
export function paintDeltas(state, isDragged, after) {
  return (/** @type {Delta} */ { seq, head, following, running, html, moved }) => {
    state.head = head;
    state.running = running;
    if (following || state.look.at !== null || seq !== head) state.look.at = following ? null : seq;
    const way = wayTo(state.seen, seq, running, isDragged());
    document.body.toggleAttribute("data-still", way === "still" && seq !== state.seen);
    paint(html, moved, () => {
      state.seen = seq;
      after();
    }, way);
  };
}

/**
 * Swaps the fragments in.
 * @param {string} html
 * @param {string[]} moved The keys of pods that came to another place.
 * @param {() => void} after Called once the page is changed.
 * @param {import("./motion.js").Way} way
 */
export function paint(html, moved, after, way = "on") {
  const isStill = way === "still" || calm.matches;
  const pods = isStill ? [] : travellers(way === "back" ? podsSeen() : moved);
  const [rings, segments] = [readRings(), readSegments()];
  const opened = all("details[open][id]").map(({ id }) => id);
  swap(html);
  opened.forEach((id) => document.getElementById(id)?.setAttribute("open", ""));
  after();
  if (isStill) return;
  turnRings(rings, way);
  moveSegments(segments, way);
  const arrived = new Map(pods.map((pod) => [pod, arrival(pod)]));
  const keys = new Set([...arrived].filter(([, element]) => element).map(([{ key }]) => key));
  if (keys.size > MOST_MOVING || (way !== "back" && moved.length > MOST_MOVING)) return;
  const come = [...arrived].flatMap(([pod, element]) =>
    element ? [{ pod, element, to: element.getBoundingClientRect() }] : []
  );
  for (const { pod, element, to } of come) travel(pod, element, to, way); // all places are known: a picture moves none
}

/** The pods of all chips: the server says who moved on, but a step back has no moves of its own. */
function podsSeen() {
  const keys = all(":is(.queue .pod, .node) [data-pod]").map(({ dataset }) => dataset.pod ?? "");
  const pods = [...new Set(keys)];
  return pods.length <= MOST_SEEN ? pods : [];
}

/**
 * The pods that have moved and are on the page now; each is taken up from its queue where it is in one.
 * @param {string[]} moved
 * @returns {Traveller[]}
 */
function travellers(moved) {
  return moved.flatMap((key) => {
    const chips = chipsOf(key);
    const onStage = chips.some(({ railed }) => !railed);
    return [true, false].flatMap((railed) => {
      const from = chips.find((chip) => chip.railed === railed)?.element.getBoundingClientRect();
      return from?.width ? [{ key, chips, from, railed, anywhere: railed && !onStage }] : [];
    });
  });
}

/**
 * Lets a picture of the pod go to where it stands now; meanwhile the pod itself is not seen a second time.
 * @param {Traveller} pod
 * @param {HTMLElement} element
 * @param {DOMRect} to
 * @param {import("./motion.js").Way} way
 */
function travel(pod, element, to, way) {
  const picture = pictureOf(element, to);
  document.body.append(picture);
  element.animate(UNSEEN, MOVE);
  const start = { transform: `translate(${pod.from.x - to.x}px, ${pod.from.y - to.y}px)` };
  picture.animate(between(way, start, { transform: "none" }), played(way)).onfinish = () => picture.remove();
}

/**
 * @param {HTMLElement} element
 * @param {DOMRect} place
 */
function pictureOf(element, place) {
  const picture = /** @type {HTMLElement} */ (element.cloneNode(true));
  for (const part of [picture, ...picture.querySelectorAll("[id]")]) part.removeAttribute("id");
  picture.classList.add("travelling");
  picture.inert = true;
  picture.ariaHidden = "true"; // the pod itself stands on the page already
  picture.style.left = `${place.x}px`;
  picture.style.top = `${place.y}px`;
  picture.style.width = `${place.width}px`;
  picture.style.height = `${place.height}px`;
  return picture;
}

/**
 * Where a pod stands now and did not before; undefined where it only left.
 * @param {Traveller} pod
 */
function arrival({ key, chips, railed, anywhere }) {
  const before = new Set(chips.map(({ box }) => box));
  const come = chipsOf(key).filter(({ box }) => !before.has(box));
  const near = come.find((chip) => chip.railed === railed) ?? (anywhere ? come[0] : undefined);
  return near?.element;
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
    railed: Boolean(link.closest("#rail")),
  }));
}

/**
 * Puts each fragment in the place of the element with its id. htmx gets those that it has work in: its own swap asks all elements of all
 * fragments several times, a third of the time from a click to its picture.
 * @param {string} html
 */
function swap(html) {
  if (!html) return;
  const focusAgain = focused();
  const template = document.createElement("template");
  template.innerHTML = html;
  for (const fragment of [...template.content.children]) {
    document.getElementById(fragment.id)?.replaceWith(fragment);
    if (fragment.isConnected && fragment.querySelector(WORK_OF_HTMX)) htmx.process(fragment);
  }
  focusAgain();
}

/**
 * What has the focus now; a function that gives it back, with what is selected in it, where it was painted anew.
 * @returns {() => void}
 */
function focused() {
  const field = /** @type {HTMLInputElement | null} */ (document.activeElement);
  if (!field?.id) return () => {};
  const { selectionStart, selectionEnd } = field;
  return () => {
    if (field.isConnected) return;
    const anew = /** @type {HTMLInputElement | null} */ (document.getElementById(field.id));
    anew?.focus({ preventScroll: true });
    if (typeof selectionStart === "number") anew?.setSelectionRange(selectionStart, selectionEnd);
  };
}

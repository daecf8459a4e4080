// What keys and buttons do.
import { leave } from "../frame/leaving.js";
import { present } from "../frame/presenter.js";
import { moveRow } from "../frame/rows.js";
import { all, by, first, maybe, the } from "../shared/dom.js";
import { toggleTheme } from "../shared/theme.js";

/** @typedef {(...rest: any[]) => unknown} Act False where it could not be done; what was pressed then does what it does without scripts. */

/**
 * @param {import("./state.js").State} state
 * @param {(message: Record<string, unknown>) => boolean} send
 * @param {(changes: Partial<import("./look.js").Look>) => boolean} look
 * @returns {Record<string, Act>}
 */
export function actionsOf(state, send, look) {
  const rate = () => maybe("rate", HTMLSelectElement);
  const play = () => send({ type: "play", grain: "plugin", rate: Number(rate()?.value) });
  const playpause = () => state.mayEdit && (state.running ? send({ type: "pause" }) : play());
  rate()?.addEventListener("change", () => state.running?.kind === "play" && play());
  /** The size of the arrow keys: plugin, or every call where that is chosen. */
  const small = () => maybe("grain", HTMLSelectElement)?.value === "call" ? "call" : "plugin";
  const step = (/** @type {string} */ grain) => {
    if (grain === "plugin" && walked("next")) return true;
    if (state.look.dry) look({ dry: 0 });
    state.walks = grain === "plugin";
    return send({ type: "step", grain });
  };
  return {
    step: () => step(the("grain", HTMLSelectElement).value),
    plugin: () => step(small()),
    point: () => send({ type: "step", grain: "point" }),
    pod: () => send({ type: "step", grain: "pod" }),
    event: () => send({ type: "step", grain: "event" }),
    back: (grain = small()) => (grain === "plugin" && walked("prev")) || send({ type: "back", grain }),
    first: () => send({ type: "goto", at: 0 }),
    follow: () => send({ type: "goto", at: null }),
    play: playpause,
    playpause,
    speed: (choices) => void faster(rate(), choices),
    run: () => state.mayEdit && send({ type: "run" }),
    until: () => void openUntil(),
    pause: () => send({ type: "pause" }),
    breakNext: () => send({ type: "search", back: false }),
    breakBack: () => send({ type: "search", back: true }),
    seek: (point) => send({ type: "search", back: true, point }),
    bookmark: () => void (state.mayEdit && post(state, "bookmarks")),
    undo: () => void (state.mayEdit && post(state, "undo")),
    redo: () => void (state.mayEdit && post(state, "redo")),
    unpin: () => look({ pod: "" }),
    form: (i) => void all(".forms a")[i]?.click(),
    lanes: () => void toggleLanes(),
    row: (by) => moveRow(by),
    record: (rel) => followed(first(`.dry-cursor a[rel=${rel}]`)),
    why: () => why(),
    fix: () => void first("#tab-fix")?.click(),
    presenter: () => void present(),
    leave,
    allow: () => void (state.mayEdit && decide("allow")),
    reject: () => void (state.mayEdit && decide("reject")),
    theme: () => void toggleTheme(),
    keys: () => void maybe("keys-dialog", HTMLDialogElement)?.showModal(),
  };
}

/**
 * @param {HTMLSelectElement | null} rate
 * @param {number} choices How many further down the list.
 */
function faster(rate, choices) {
  if (!rate) return;
  rate.selectedIndex = Math.max(0, Math.min(rate.length - 1, rate.selectedIndex + choices));
  rate.dispatchEvent(new Event("change"));
}

/** The sum behind the number in focus, or else what the narrator says of the present step; false where nothing has one. */
function why() {
  const number = document.activeElement?.closest("[data-why]") ?? first("#narrator summary.why") ??
    first("#stage [data-why]");
  if (!(number instanceof HTMLElement || number instanceof SVGElement)) return false;
  number.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true }));
  number.focus();
}

/** The records of the dry run that the present step made are steps of the size "plugin"; false where there is no further one. */
export const walked = (/** @type {string} */ rel) => followed(first(`.dry-cursor[data-here] a[rel=${rel}]`));

/** Follows a link where there is one. */
function followed(/** @type {HTMLElement | null} */ link) {
  link?.click();
  return link !== null;
}

function toggleLanes() {
  const lanes = by("lanes");
  lanes.hidden = !lanes.hidden;
  by("lanes-open").setAttribute("aria-expanded", String(!lanes.hidden));
}

function openUntil() {
  const choices = maybe("until", HTMLDetailsElement);
  if (!choices) return;
  choices.open = !choices.open;
  first(choices.open ? "button" : "summary", choices)?.focus();
}

/**
 * @param {import("./state.js").State} state
 * @param {string} what What is done at the step that is seen.
 */
function post({ look, seen }, what) {
  const values = { at: look.at === null ? "" : seen };
  htmx.ajax("POST", `${location.pathname}${what}`, { swap: "none", values });
}

/**
 * Presses the button of the inspected pod, or else of the first one that waits on Permit.
 * @param {string} decision
 */
function decide(decision) {
  const button = (/** @type {string} */ within) => first(`${within} .decide [value="${decision}"]`);
  (button(".pod.chosen") ?? button(".pod"))?.click();
}

/** Marks in CSS and in tests that the page moves by itself. */
export function showConnected(/** @type {boolean} */ open) {
  by("offline").hidden = open;
  document.body.dataset.connected = open ? "1" : "0";
}

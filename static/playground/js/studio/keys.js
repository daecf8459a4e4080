// Every key of the studio. The dialog behind `?` and docs/keys.md list them; tests/test_docs.py compares all three.
import { singleKeys } from "../frame/single_keys.js";
import { all, at } from "../shared/dom.js";
import { overLanes } from "./lanes.js";

const TYPING = "input:not([type=range]):not([type=checkbox]), textarea, select, [contenteditable]";
const HAS_ARROWS = "input, canvas, .lane svg a, #flags a, [role=separator]";
const HAS_SPACE = "button, a, summary, input, [role=region]";

/** @typedef {[name: string, ...rest: (string | number)[]]} Action An action's name, and what it is called with. */

/** @type {Record<string, Action>} */
const KEYS = {
  "ArrowRight": ["plugin"],
  "Shift ArrowRight": ["point"],
  "ArrowLeft": ["back"],
  "Shift ArrowLeft": ["back", "point"],
  "Home": ["first"],
  "End": ["follow"],
  " ": ["playpause"],
  "Ctrl k": ["palette"],
  "Ctrl y": ["redo"],
  "Ctrl z": ["undo"],
  ",": ["record", "prev"],
  ".": ["record", "next"],
  "/": ["search"],
  "?": ["keys"],
  "[": ["speed", -1],
  "]": ["speed", 1],
  "B": ["breakBack"],
  "a": ["act"],
  "b": ["breakNext"],
  "e": ["event"],
  "f": ["fix"],
  "j": ["row", 1],
  "k": ["row", -1],
  "l": ["steps"],
  "n": ["pod"],
  "p": ["presenter"],
  "r": ["run"],
  "t": ["lanes"],
  "u": ["until"],
  "w": ["why"],
};

/** @type {Record<string, Action>} Over the lanes. */
const LANES = {
  "w": ["closer"],
  "a": ["left"],
  "s": ["wider"],
  "d": ["right"],
};

/** What a key that is held down does once only. */
const ONCE = ["playpause", "run", "breakNext", "breakBack", "act", "presenter", "palette"];

/**
 * Listens to keys.
 * @param {(...action: Action) => unknown} act Does what a key asks for; false leaves the key to the browser.
 */
export function listenKeys(act) {
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.altKey) return;
    if (all("dialog[open]:not(.drawer)").length) return;
    if (event.key === "Escape") return void act("leave");
    if (isElements(event) && !(withControl(event) && event.key.toLowerCase() === "k")) return;
    if (/^\S$/.test(event.key) && !withControl(event) && !singleKeys()) return;
    const action = actionOf(event, overLanes());
    if (action && act(...action) !== false) event.preventDefault();
  });
}

/** @param {{ctrlKey?: boolean, metaKey?: boolean}} event */
const withControl = ({ ctrlKey, metaKey }) => Boolean(ctrlKey || metaKey);

/**
 * Whether a key means something to the element that has the focus.
 * @param {KeyboardEvent} event
 */
function isElements(event) {
  if (at(event, TYPING)) return true;
  if (event.key.startsWith("Arrow")) return at(event, HAS_ARROWS);
  return event.key === " " && at(event, HAS_SPACE);
}

/**
 * What a key asks for; null where it asks for nothing.
 * @param {{key: string, shiftKey: boolean, repeat: boolean, ctrlKey?: boolean, metaKey?: boolean}} event
 * @param {boolean} lanes Whether keys are meant for the lanes.
 * @returns {Action | null}
 */
export function actionOf({ key, shiftKey, repeat, ctrlKey, metaKey }, lanes) {
  const lower = key.toLowerCase();
  const again = shiftKey && lower === "z"; // as many a program has it
  if (ctrlKey || metaKey) return repeat ? null : KEYS[again ? "Ctrl y" : `Ctrl ${lower}`] ?? null;
  if (/^[1-4]$/.test(key)) return ["form", Number(key) - 1];
  const action = (shiftKey && KEYS[`Shift ${key}`]) || (lanes && LANES[lower]) || KEYS[key] || KEYS[lower];
  return action && !(repeat && ONCE.includes(action[0])) ? action : null;
}

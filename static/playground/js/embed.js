// The embedded stage: steps through what has happened, on its own, with the studio's stream and painting.
import { drawHeat, listenHeat } from "./heat/heat.js";
import { listenTerms } from "./frame/terms.js";
import { around, by } from "./shared/dom.js";
import { isPlain } from "./shared/drawer.js";
import { listenLinks } from "./studio/links.js";
import { patchOf, writeLook } from "./studio/look.js";
import { paint } from "./studio/paint.js";
import { readState } from "./studio/state.js";
import { connect } from "./studio/stream.js";

const isPane = document.body.dataset.pane !== undefined;
const SHARED = ["stage", "form", "about", "pod", "node", "plugin"]; // what a class sees as its teacher does
const state = readState();
const studio = `/s/${document.body.dataset.key}/`;
const scheme = location.protocol === "https:" ? "wss" : "ws";
const stream = connect(`${scheme}://${location.host}/ws${studio}?language=${document.documentElement.lang}`, {
  hello: () => ({ type: "look", look: state.look, seen: state.seen }),
  handlers: { delta },
  state: (open) => (document.body.dataset.connected = open ? "1" : "0"),
});

/** @param {{seq: number, head: number, html: string, moved: string[]}} data */
function delta({ seq, head, html, moved }) {
  state.head = head;
  paint(html, moved, () => {
    state.seen = seq;
    show();
    drawHeat();
    report();
  });
}

/** The stage's form, the links of the foot and the way to the studio follow the step. */
function show() {
  const { stage, form, map } = by("panel-stage").dataset;
  Object.assign(by("stage").dataset, { stage, form, map });
  const here = writeLook({ ...state.look, at: state.seen });
  by("embed-open").setAttribute("href", studio + here);
  by("embed-fork").setAttribute("href", `${studio}fork-this${here}`);
}

/** @param {Partial<import("./studio/look.js").Look>} changes */
function change(changes) {
  Object.assign(state.look, changes);
  return stream.send({ type: "look", look: state.look, seen: state.seen });
}

/** @param {number} at */
function goto(at) {
  Object.assign(state.look, { stage: "", form: "" });
  return change({ at: Math.max(0, Math.min(at, state.head)) });
}

const actions = { step: () => move("step", 1), back: () => move("back", -1) };

/**
 * One of two side by side goes where the page around both says.
 * @param {"step" | "back"} way
 * @param {number} by
 */
function move(way, by) {
  if (!isPane) return goto(state.seen + by);
  parent.postMessage({ way }, location.origin);
  return true;
}

/**
 * The page around knows which step is shown.
 * @param {boolean} ready
 */
function report(ready = false) {
  if (isPane) parent.postMessage({ seen: state.seen, head: state.head, ready }, location.origin);
}

/**
 * Looks at what somebody else looks at; `at` null follows the newest step.
 * @param {Record<string, string | number | null>} other
 */
function lookAs(other) {
  const look = Object.fromEntries(SHARED.map((name) => [name, other[name] ?? ""]));
  change({ ...look, at: typeof other.at === "number" ? Math.min(other.at, state.head) : null });
}

addEventListener("message", ({ data, origin, source }) => {
  if (!isPane || origin !== location.origin || source !== parent) return;
  if (data.standing) lookAs(data.standing);
  else if (Number.isInteger(data.at)) goto(data.at);
});
listenLinks({ change, goto, actions });
listenHeat((node) => change(patchOf({ node }) ?? {}));
listenTerms();
document.addEventListener("keydown", ({ key, target }) => {
  if (target instanceof HTMLInputElement || target instanceof HTMLCanvasElement) return;
  if (key === "ArrowRight") actions.step();
  if (key === "ArrowLeft") actions.back();
});
document.addEventListener("click", (event) => {
  const link = around(event, "a[href]");
  if (event.defaultPrevented || !isPlain(event) || !link || ["embed-open", "embed-fork"].includes(link.id)) {
    return;
  }
  event.preventDefault(); // a page of the session opens beside the one that embeds it
  open(new URL(link.getAttribute("href") ?? "", new URL(studio, location.href)), "_blank", "noopener");
});
show();
drawHeat();
report(true);

// Motion: what really moved is seen to move, 180 ms long; back it is the same movement reversed. At more than five steps a second, and
// while the rail is dragged, nothing moves and numbers count, and nothing moves for those who asked their system for that.
import { all } from "../shared/dom.js";

export const MOVE = { duration: 180, easing: "ease-out" };
const MOST_A_SECOND = 5;
export const calm = matchMedia("(prefers-reduced-motion: reduce)");
let last = -Infinity;

/** @typedef {"on" | "back" | "still"} Way How a page goes to another step: with movements, with the same ones reversed, or without. */

/**
 * How the page goes from the position that it shows to another one.
 * @param {number} seen
 * @param {number} seq
 * @param {import("./state.js").Running | null} running
 * @param {boolean} dragged Whether the reader drags the page through its past.
 * @returns {Way}
 */
export function wayTo(seen, seq, running, dragged = false) {
  const now = performance.now();
  const isStep = seen !== seq;
  const isQuick = running
    ? running.kind !== "play" || running.rate > MOST_A_SECOND
    : now - last < 1000 / MOST_A_SECOND;
  if (isStep) last = now;
  if (!isStep || isQuick || dragged) return "still";
  return seq < seen ? "back" : "on";
}

/**
 * How a movement is played.
 * @param {Way} way
 * @returns {KeyframeAnimationOptions}
 */
export const played = (way) => way === "back" ? { ...MOVE, direction: "reverse" } : MOVE;

/**
 * The keyframes of a movement from what was to what is: played in reverse, it begins with its end.
 * @param {Way} way
 * @param {Keyframe} was
 * @param {Keyframe} is
 */
export const between = (way, was, is) => way === "back" ? [is, was] : [was, is];

/** @typedef {Map<string, {x: string, width: string}>} Segments */

const segments = () => all("#panel-stage .score-stack a[data-plugin] > svg");

/** @param {Element} segment */
function nameOf(segment) {
  const { node, plugin } = /** @type {SVGElement} */ (segment.parentElement ?? segment).dataset;
  return `${document.getElementById("panel-stage")?.dataset.about} ${node} ${plugin}`; // each pod has bars of its own
}

/** @param {Element} segment */
const spanOf = (segment) => ({
  x: segment.getAttribute("x") ?? "0%",
  width: segment.getAttribute("width") ?? "0%",
});

/**
 * Where each bar of points begins and how wide it is.
 * @returns {Segments}
 */
export const readSegments = () => new Map(segments().map((segment) => [nameOf(segment), spanOf(segment)]));

/**
 * Lets each bar whose points have changed grow or shrink from what it was.
 * @param {Segments} before
 * @param {Way} way
 */
export function moveSegments(before, way) {
  for (const segment of segments()) {
    const [was, is] = [before.get(nameOf(segment)), spanOf(segment)];
    if (!was || (was.x === is.x && was.width === is.width)) continue;
    segment.animate(between(way, was, is), played(way));
  }
}

// Rings that count down: when a delta brings a shorter ring for a pod, it shrinks to there instead of jumping.
import { all, first } from "../shared/dom.js";
import { between, played } from "./motion.js";

/** @typedef {Map<string | undefined, string | null>} Rings What a pod's ring shows. */

const circles = () => all(".pod .ring circle:last-child");

/** @param {HTMLElement} circle */
const podOf = (circle) => first("[data-pod]", circle.closest(".pod") ?? circle)?.dataset.pod;

/** @param {HTMLElement} circle */
const shown = (circle) => circle.getAttribute("stroke-dasharray");

/**
 * What the rings show now, by pod.
 * @returns {Rings}
 */
export const readRings = () => new Map(circles().map((circle) => [podOf(circle), shown(circle)]));

/**
 * Lets each ring go from what it showed to what it shows.
 * @param {Rings} before
 * @param {import("./motion.js").Way} way
 */
export function turnRings(before, way) {
  for (const circle of circles()) {
    const [old, now] = [before.get(podOf(circle)), shown(circle)];
    if (!old || !now || old === now) continue;
    circle.animate(between(way, { strokeDasharray: old }, { strokeDasharray: now }), played(way));
  }
}

// Rings that count down: when a delta brings a shorter ring for a pod, it shrinks to there instead of jumping.
import { all, first } from "../shared/dom.js";

const LASTS = 240;
const calm = matchMedia("(prefers-reduced-motion: reduce)");

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
export function readRings() {
  return calm.matches ? new Map() : new Map(circles().map((circle) => [podOf(circle), shown(circle)]));
}

/**
 * Lets each ring go from what it showed to what it shows.
 * @param {Rings} before
 */
export function turnRings(before) {
  if (!before.size) return;
  for (const circle of circles()) {
    const [old, now] = [before.get(podOf(circle)), shown(circle)];
    if (!old || !now || old === now) continue;
    const turn = [{ strokeDasharray: old }, { strokeDasharray: now }];
    circle.animate(turn, { duration: LASTS, easing: "linear" });
  }
}

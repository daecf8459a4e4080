// Rings that count down: when a delta brings a shorter ring for a pod, it shrinks to there instead of jumping.

const calm = matchMedia("(prefers-reduced-motion: reduce)");
const LASTS = 240;

const rings = () =>
  [...document.querySelectorAll(".pod .ring circle:last-child")].map((
    circle,
  ) => [circle.closest(".pod").querySelector("[data-pod]")?.dataset.pod, circle]);

/** What the rings show now, by pod. */
export function readRings() {
  return calm.matches
    ? new Map()
    : new Map(rings().map(([pod, circle]) => [pod, circle.getAttribute("stroke-dasharray")]));
}

/** Lets each ring go from what it showed to what it shows. */
export function turnRings(before) {
  if (!before.size) return;
  for (const [pod, circle] of rings()) {
    const old = before.get(pod);
    const now = circle.getAttribute("stroke-dasharray");
    if (old && old !== now) {
      circle.animate([{ strokeDasharray: old }, { strokeDasharray: now }], {
        duration: LASTS,
        easing: "linear",
      });
    }
  }
}

// The rail to scrub on: every step of the session.
import { by, the } from "../shared/dom.js";
import { count } from "../shared/words.js";

const PAUSE = 90;

const scrub = the("scrub", HTMLInputElement);
const says = by("scrub-says");
let dragging = false;
let pending = 0;

/**
 * Shows where the viewer stands and how far the head is.
 * @param {number} position
 * @param {number} head
 */
export function showRail(position, head) {
  scrub.max = String(head);
  if (!dragging) scrub.value = String(position);
  showDone();
  says.textContent = `${count(dragging ? scrub.value : position)} / ${count(head)}`;
}

/** Whether the rail is dragged now: the URL waits, and nothing moves. */
export const isDragged = () => dragging;

/** How far of the rail is behind the viewer. */
function showDone() {
  scrub.style.setProperty("--done", `${(100 * Number(scrub.value)) / Math.max(1, Number(scrub.max))}%`);
}

/**
 * Goes to where the rail is dragged, a few times a second, and to where it is let go.
 * @param {(at: number) => void} goto
 */
export function listenRail(goto) {
  const stop = () => (dragging = false);
  const go = () => {
    clearTimeout(pending);
    pending = 0;
    goto(Number(scrub.value));
  };
  scrub.addEventListener("pointerdown", () => (dragging = true));
  scrub.addEventListener("pointerup", stop);
  scrub.addEventListener("pointercancel", stop);
  scrub.addEventListener("input", () => {
    showDone();
    says.textContent = `${count(scrub.value)} / ${count(scrub.max)}`;
    pending ||= setTimeout(go, PAUSE);
  });
  scrub.addEventListener("change", () => {
    stop();
    go();
  });
}

// A long press with a finger, where the browser has no right click for it.

const LONG = 550; // milliseconds
const STILL = 10; // pixels that a finger may move

/**
 * Calls `pressed` with what a finger rests on, and keeps the click that would follow to itself.
 * @param {string} selector
 * @param {(element: HTMLElement, x: number, y: number) => void} pressed
 */
export function listenPress(selector, pressed) {
  let timer = 0;
  let begun = { x: 0, y: 0 };
  let isDone = false;
  const end = () => clearTimeout(timer);
  addEventListener("pointerdown", ({ pointerType, target, clientX: x, clientY: y }) => {
    end();
    isDone = false;
    const named = target instanceof Element && pointerType === "touch" ? target.closest(selector) : null;
    if (!(named instanceof HTMLElement)) return;
    begun = { x, y };
    timer = setTimeout(() => {
      isDone = true;
      pressed(named, x, y);
    }, LONG);
  });
  addEventListener("pointermove", ({ clientX, clientY }) => {
    if (Math.hypot(clientX - begun.x, clientY - begun.y) > STILL) end();
  });
  addEventListener("pointerup", end);
  addEventListener("pointercancel", end);
  addEventListener("click", (event) => {
    if (!isDone) return;
    isDone = false;
    event.preventDefault();
    event.stopPropagation();
  }, true);
}

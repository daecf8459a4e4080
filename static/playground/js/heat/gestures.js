// What a mouse, a pen and fingers do to the map: hover, click, drag, pinch and wheel.

const CLICK = 4; // pixels up to which a press that moves is a click still

/**
 * @typedef {object} Gestures
 * @property {(x: number, y: number) => void} hover
 * @property {() => void} leave
 * @property {(x: number, y: number) => void} click
 * @property {(factor: number, x: number, y: number) => void} zoom
 * @property {(dx: number, dy: number) => void} pan
 */

/**
 * @param {HTMLElement} element
 * @param {Gestures} gestures
 */
export function listenGestures(element, { hover, leave, click, zoom, pan }) {
  /** @type {Map<number, {x: number, y: number}>} */
  const held = new Map();
  let moved = 0;
  const place = (/** @type {MouseEvent} */ event) => {
    const box = element.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  element.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    if (!held.size) moved = 0;
    held.set(event.pointerId, place(event));
    if (event.isTrusted) element.setPointerCapture(event.pointerId);
  });
  element.addEventListener("pointermove", (event) => {
    const from = held.get(event.pointerId);
    const to = place(event);
    if (!from) return hover(to.x, to.y);
    const [other] = [...held].filter(([id]) => id !== event.pointerId);
    moved += Math.abs(to.x - from.x) + Math.abs(to.y - from.y);
    if (moved > CLICK) {
      if (other) pinched(from, to, other[1]);
      else pan(from.x - to.x, from.y - to.y);
    }
    held.set(event.pointerId, to);
  });
  const lift = (/** @type {PointerEvent} */ event) => void held.delete(event.pointerId);
  element.addEventListener("pointerup", lift);
  element.addEventListener("pointercancel", lift);
  element.addEventListener("pointerleave", () => held.size || leave());
  element.addEventListener("click", (event) => {
    const { x, y } = place(event);
    if (moved <= CLICK) click(x, y);
    moved = 0;
  });
  element.addEventListener("wheel", (event) => {
    event.preventDefault();
    const { x, y } = place(event);
    zoom(Math.exp(-Math.max(-100, Math.min(100, event.deltaY)) / 450), x, y);
  }, { passive: false });

  /**
   * One of two fingers has moved.
   * @param {{x: number, y: number}} from
   * @param {{x: number, y: number}} to
   * @param {{x: number, y: number}} other
   */
  function pinched(from, to, other) {
    const before = Math.hypot(from.x - other.x, from.y - other.y);
    const after = Math.hypot(to.x - other.x, to.y - other.y);
    if (before > 1) zoom(after / before, (to.x + other.x) / 2, (to.y + other.y) / 2);
    pan((from.x - to.x) / 2, (from.y - to.y) / 2);
  }
}

// The lanes' window, zoomed and moved by wheel, drag and keys, and arrow keys along a lane's segments.
import { all, around, by, first } from "../shared/dom.js";

const NAMES = 110; // the width of the lanes' names, as timeline.css has it
const CLOSER = 0.7;
const STEP = 0.25;
const A_CLICK = 5; // pixels that the mouse may move while it clicks
const PAUSE = 60;

/** @typedef {{start: number, span: number}} Window What the lanes show: steps, or microseconds of virtual time. */
/** @typedef {(start: number, span: number) => void} Ask */

/** @type {Window | null} What has been asked for and is on its way. */
let wanted = null;
let sending = 0;

/** @returns {Window} */
function lanesNow() {
  const { from, to } = by("panel-timeline").dataset;
  return wanted ?? { start: Number(from), span: Number(to) - Number(from) };
}

/**
 * Listens to what changes the lanes' window; returns what keys do with it.
 * @param {(window: Window) => void} look
 */
export function listenLanes(look) {
  const section = /** @type {HTMLElement} */ (by("lanes"));
  /** @type {Ask} */
  const ask = (start, span) => {
    wanted = { start: Math.max(0, Math.round(start)), span: Math.max(1, Math.round(span)) };
    sending ||= setTimeout(() => {
      sending = 0;
      if (wanted) look(wanted);
      wanted = null;
    }, PAUSE);
  };
  const zoom = (/** @type {number} */ factor, at = 0.5) => {
    const { start, span } = lanesNow();
    ask(start + at * (span - span * factor), span * factor);
  };
  const move = (/** @type {number} */ part) => {
    const { start, span } = lanesNow();
    ask(start + part * span, span);
  };
  section.addEventListener("wheel", (event) => turned(event, zoom, move), { passive: false });
  drag(section, ask);
  return {
    closer: () => zoom(CLOSER),
    wider: () => zoom(1 / CLOSER),
    left: () => move(-STEP),
    right: () => move(STEP),
  };
}

/**
 * The wheel moves the lanes sideways, and with Ctrl zooms them where the mouse is.
 * @param {WheelEvent} event
 * @param {(factor: number, at: number) => void} zoom
 * @param {(part: number) => void} move
 */
function turned(event, zoom, move) {
  const box = around(event, ".lane-rows")?.getBoundingClientRect();
  if (!box) return;
  const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY);
  const along = sideways ? event.deltaX : event.shiftKey ? event.deltaY : 0;
  const place = (event.clientX - box.left - NAMES) / (box.width - NAMES);
  if (along) move(along / box.width);
  else if (event.ctrlKey || event.metaKey) zoom(event.deltaY < 0 ? CLOSER : 1 / CLOSER, place);
  else return;
  event.preventDefault();
}

/**
 * The lanes follow the mouse while it is held; a click that moved nothing stays a click.
 * @param {HTMLElement} section
 * @param {Ask} ask
 */
function drag(section, ask) {
  /** @type {{x: number, start: number, span: number, width: number, moved: boolean} | null} */
  let from = null;
  section.addEventListener("pointerdown", (event) => {
    const rows = around(event, ".lane-rows");
    if (!rows || event.button || event.pointerType !== "mouse" || around(event, ".lane > a")) return;
    from = { x: event.clientX, ...lanesNow(), width: rows.clientWidth - NAMES, moved: false };
  });
  addEventListener("pointermove", (event) => {
    if (!from || (!from.moved && Math.abs(event.clientX - from.x) < A_CLICK)) return;
    from.moved = true;
    first(".lane-rows")?.classList.add("dragging");
    ask(from.start - ((event.clientX - from.x) / from.width) * from.span, from.span);
  });
  addEventListener("pointerup", () => {
    if (!from) return;
    first(".lane-rows")?.classList.remove("dragging");
    if (from.moved) addEventListener("click", swallow, true);
    setTimeout(() => {
      from = null;
      removeEventListener("click", swallow, true); // released elsewhere, no click came of it
    });
  });
  section.addEventListener("dragstart", (event) => event.preventDefault());
}

/** @param {Event} event */
function swallow(event) {
  event.preventDefault();
  event.stopPropagation();
}

/** Whether keys are meant for the lanes: the mouse is over them or the focus is in them. */
export const overLanes = () => Boolean(first(".lane-rows:hover, .lane-rows:focus, .lane-rows :focus"));

document.addEventListener("keydown", (event) => {
  const segment = around(event, ".lane svg a, #flags a");
  const segments = segment?.parentElement ? all("a", segment.parentElement) : [];
  const i = segment ? segments.indexOf(segment) : -1;
  const next = { ArrowLeft: i - 1, ArrowRight: i + 1, Home: 0, End: segments.length - 1 }[event.key];
  if (!segment || next === undefined) return;
  segments[next]?.focus();
  event.preventDefault();
});

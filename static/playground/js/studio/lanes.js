// The rail to scrub on, the lanes' window (zoom and move by wheel, drag and keys), and arrow keys along a lane's segments.

const scrub = document.getElementById("scrub");
const says = document.getElementById("scrub-says");
let dragging = false;
let pending = 0;

const count = new Intl.NumberFormat(document.documentElement.lang || "en");

/** Shows where the viewer stands and how far the head is. */
export function showRail(position, head) {
  scrub.max = head;
  if (!dragging) scrub.value = position;
  says.textContent = `${count.format(dragging ? scrub.value : position)} / ${count.format(head)}`;
}

/** Calls `goto(position)` while the rail is dragged (a few times a second) and when it is let go. */
export function listenRail(goto) {
  const stop = () => (dragging = false);
  scrub.addEventListener("pointerdown", () => (dragging = true));
  scrub.addEventListener("pointerup", stop);
  scrub.addEventListener("pointercancel", stop);
  scrub.addEventListener("input", () => {
    says.textContent = `${count.format(scrub.value)} / ${count.format(scrub.max)}`;
    if (pending) return;
    pending = setTimeout(() => {
      pending = 0;
      goto(Number(scrub.value));
    }, 90);
  });
  scrub.addEventListener("change", () => {
    stop();
    clearTimeout(pending);
    pending = 0;
    goto(Number(scrub.value));
  });
}

document.addEventListener("keydown", (event) => {
  const segment = event.target.closest?.(".lane svg a");
  if (!segment || !["ArrowLeft", "ArrowRight", "Home", "End"].includes(event.key)) return;
  const all = [...segment.parentNode.querySelectorAll("a")];
  const i = all.indexOf(segment);
  const next = { ArrowLeft: i - 1, ArrowRight: i + 1, Home: 0, End: all.length - 1 }[event.key];
  all[next]?.focus();
  event.preventDefault();
});

const NAMES = 110; // the width of the lanes' names, as timeline.css has it
const CLOSER = 0.7;
let wanted = null;
let sending = 0;

/** The window that the lanes show, or the one that has been asked for and is on its way. */
function lanesNow() {
  const shown = document.getElementById("panel-timeline").dataset;
  return wanted ?? { start: Number(shown.from), span: Number(shown.to) - Number(shown.from) };
}

/** Calls `look({start, span})` when the lanes' window is to change; returns functions for keys. */
export function listenLanes(look) {
  const section = document.querySelector(".time");
  const ask = (start, span) => {
    wanted = { start: Math.max(0, Math.round(start)), span: Math.max(1, Math.round(span)) };
    sending ||= setTimeout(() => {
      sending = 0;
      look(wanted);
      wanted = null;
    }, 60);
  };
  const zoom = (factor, at = 0.5) => {
    const { start, span } = lanesNow();
    ask(start + at * (span - span * factor), span * factor);
  };
  const move = (part) => {
    const { start, span } = lanesNow();
    ask(start + part * span, span);
  };
  section.addEventListener(
    "wheel",
    (event) => {
      const rows = event.target.closest(".lane-rows");
      if (!rows) return;
      const box = rows.getBoundingClientRect();
      const along = Math.abs(event.deltaX) > Math.abs(event.deltaY)
        ? event.deltaX
        : event.shiftKey
        ? event.deltaY
        : 0;
      if (along) move(along / box.width);
      else if (event.ctrlKey || event.metaKey) {
        zoom(
          event.deltaY < 0 ? CLOSER : 1 / CLOSER,
          (event.clientX - box.left - NAMES) / (box.width - NAMES),
        );
      } else return;
      event.preventDefault();
    },
    { passive: false },
  );
  drag(section, ask);
  return {
    closer: () => zoom(CLOSER),
    wider: () => zoom(1 / CLOSER),
    left: () => move(-0.25),
    right: () => move(0.25),
  };
}

function swallow(event) {
  event.preventDefault();
  event.stopPropagation();
}

/** The lanes follow the mouse while it is held; a click that moved nothing stays a click. */
function drag(section, ask) {
  let from = null;
  section.addEventListener("pointerdown", (event) => {
    const rows = event.target.closest(".lane-rows");
    if (!rows || event.button || event.pointerType !== "mouse" || event.target.closest(".lane > a")) return;
    from = { x: event.clientX, ...lanesNow(), width: rows.clientWidth - NAMES, rows, moved: false };
  });
  addEventListener("pointermove", (event) => {
    if (!from || (!from.moved && Math.abs(event.clientX - from.x) < 5)) return;
    from.moved = true;
    document.querySelector(".lane-rows").classList.add("dragging");
    ask(from.start - ((event.clientX - from.x) / from.width) * from.span, from.span);
  });
  addEventListener("pointerup", () => {
    if (!from) return;
    document.querySelector(".lane-rows")?.classList.remove("dragging");
    if (from.moved) addEventListener("click", swallow, true);
    setTimeout(() => {
      from = null;
      removeEventListener("click", swallow, true); // released elsewhere, no click came of it
    });
  });
  section.addEventListener("dragstart", (event) => event.preventDefault());
}

/** Whether keys are meant for the lanes: the mouse is over them or the focus is in them. */
export const overLanes = () =>
  Boolean(document.querySelector(".lane-rows:hover, .lane-rows:focus, .lane-rows :focus"));

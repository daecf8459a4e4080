// The rail to scrub on, and arrow keys along a lane's segments.

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

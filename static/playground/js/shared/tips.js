// One tooltip for whatever has a name that is not written on it: shown on hover and on focus, hidden by Escape.

const tip = document.getElementById("tip");

/** Shows a text near a place on the screen. */
export function showTip(text, x, y) {
  tip.textContent = text;
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  tip.style.left = `${Math.max(6, Math.min(x - box.width / 2, innerWidth - box.width - 6))}px`;
  tip.style.top = `${y - box.height - 10 > 4 ? y - box.height - 10 : y + 18}px`;
}

export function hideTip() {
  tip.hidden = true;
}

function near(element, text) {
  const box = element.getBoundingClientRect();
  showTip(text, box.left + Math.min(box.width / 2, 120), box.top);
}

const NAMED = ".lane svg a";
for (const [enter, leave] of [["mouseover", "mouseout"], ["focusin", "focusout"]]) {
  document.addEventListener(enter, (event) => {
    const element = event.target.closest?.(NAMED);
    if (element) near(element, element.getAttribute("aria-label"));
  });
  document.addEventListener(leave, (event) => event.target.closest?.(NAMED) && hideTip());
}
document.addEventListener("keydown", (event) => event.key === "Escape" && hideTip());

// Buttons that copy a link out of its field.

/** Makes the copy buttons in `box` work; without this script they stay hidden. */
export function startCopy(box) {
  if (box.dataset.started) return;
  box.dataset.started = "yes";
  box.querySelectorAll("button[data-copies]").forEach((button) => {
    button.hidden = false;
    button.addEventListener("click", () => copy(button));
  });
}

async function copy(button) {
  const input = document.getElementById(button.dataset.copies);
  input.select();
  try {
    await navigator.clipboard.writeText(input.value);
    button.textContent = button.dataset.done;
  } catch {
    // Not allowed here: the link is selected, ready for Ctrl+C.
  }
}

// Files dropped on a form's box are sent as if they had been chosen.

/**
 * Makes a box, which holds a file input, take dropped files.
 * @param {HTMLElement} box
 */
export function startDrop(box) {
  if (box.dataset.started) return;
  box.dataset.started = "yes";
  box.addEventListener("input", ({ target }) => {
    if (!(target instanceof HTMLInputElement) || !target.files?.length) return;
    const label = target.labels?.[0];
    if (label) label.textContent = [...target.files].map(({ name }) => name).join(", ");
  });
  box.addEventListener("dragover", (event) => {
    if (!filesOf(event)) return;
    event.preventDefault();
    box.classList.add("over");
  });
  box.addEventListener("dragleave", ({ relatedTarget }) => {
    if (!(relatedTarget instanceof Node && box.contains(relatedTarget))) box.classList.remove("over");
  });
  box.addEventListener("drop", (event) => {
    box.classList.remove("over");
    const files = filesOf(event);
    /** @type {HTMLInputElement | null} */
    const input = box.querySelector('input[type="file"]');
    if (!files || !input) return;
    event.preventDefault();
    input.files = files;
    input.dispatchEvent(new Event("input", { bubbles: true }));
    box.closest("form")?.requestSubmit();
  });
}

/**
 * The files that are dragged; null where something else is.
 * @param {DragEvent} event
 */
function filesOf({ dataTransfer }) {
  return dataTransfer?.types.includes("Files") ? dataTransfer.files : null;
}

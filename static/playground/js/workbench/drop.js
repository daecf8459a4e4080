// Files dropped on a form's box are sent as if they had been chosen.

/** Makes `box`, which holds a file input, take dropped files. */
export function startDrop(box) {
  if (box.dataset.started) return;
  box.dataset.started = "yes";
  const input = box.querySelector('input[type="file"]');
  const carriesFiles = (event) => [...event.dataTransfer.types].includes("Files");
  box.addEventListener("dragover", (event) => {
    if (!carriesFiles(event)) return;
    event.preventDefault();
    box.classList.add("over");
  });
  box.addEventListener("dragleave", (event) => {
    if (!box.contains(event.relatedTarget)) box.classList.remove("over");
  });
  box.addEventListener("drop", (event) => {
    box.classList.remove("over");
    if (!carriesFiles(event)) return;
    event.preventDefault();
    input.files = event.dataTransfer.files;
    box.closest("form").requestSubmit();
  });
}

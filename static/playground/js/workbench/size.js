// What is larger than the server takes is told before it is sent: the answer to such a form could not hold it.

/**
 * Checks the text and the files of a box against its data-most, in bytes, and a single file against its data-most-file where it has
 * one; data-too-large and data-file-too-large say what is wrong.
 * @param {HTMLElement} box
 */
export function startSize(box) {
  const { most, mostFile, tooLarge = "", fileTooLarge = "" } = box.dataset;
  box.addEventListener("input", ({ target }) => {
    if (!(target instanceof HTMLTextAreaElement || target instanceof HTMLInputElement)) return;
    const single = mostFile !== undefined && target instanceof HTMLInputElement && target.files?.length === 1;
    const over = sizeOf(target) > Number(single ? mostFile : most);
    target.setCustomValidity(over ? (single ? fileTooLarge : tooLarge) : "");
  });
}

/** @param {HTMLTextAreaElement | HTMLInputElement} field */
function sizeOf(field) {
  const files = field instanceof HTMLInputElement ? field.files : null;
  return files ? [...files].reduce((sum, { size }) => sum + size, 0) : new Blob([field.value]).size;
}

// What is larger than the server takes is told before it is sent: the answer to such a form could not hold it.

/**
 * Checks the text and the files of a box against its data-most, in bytes; data-too-large says what is wrong.
 * @param {HTMLElement} box
 */
export function startSize(box) {
  const most = Number(box.dataset.most);
  box.addEventListener("input", ({ target }) => {
    if (target instanceof HTMLTextAreaElement || target instanceof HTMLInputElement) {
      target.setCustomValidity(sizeOf(target) > most ? (box.dataset.tooLarge ?? "") : "");
    }
  });
}

/** @param {HTMLTextAreaElement | HTMLInputElement} field */
function sizeOf(field) {
  const files = field instanceof HTMLInputElement ? field.files : null;
  return files ? [...files].reduce((sum, { size }) => sum + size, 0) : new Blob([field.value]).size;
}

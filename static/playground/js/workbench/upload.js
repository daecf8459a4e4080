// A large file is sent while the page says how far that is, and can be cancelled; without this the browser alone would know.
import { first } from "../shared/dom.js";

/**
 * Makes a box with a file input send its form so, where the files have more than data-large bytes together.
 * @param {HTMLElement} box
 */
export function startUpload(box) {
  const form = box.closest("form");
  /** @type {HTMLInputElement | null} */
  const input = box.querySelector('input[type="file"]');
  if (!form || !input || box.dataset.uploads) return;
  box.dataset.uploads = "yes";
  form.parentElement?.addEventListener("submit", (event) => {
    if (event.target !== form || sizeOf(input) <= Number(box.dataset.large)) return;
    event.preventDefault();
    event.stopPropagation(); // before htmx would send it
    send(box, form);
  }, { capture: true });
}

/** @param {HTMLInputElement} input */
function sizeOf(input) {
  return [...(input.files ?? [])].reduce((sum, { size }) => sum + size, 0);
}

/**
 * @param {HTMLElement} box
 * @param {HTMLFormElement} form
 */
function send(box, form) {
  const row = /** @type {HTMLElement} */ (first(".uploading", box));
  const bar = /** @type {HTMLProgressElement} */ (first("progress", row));
  const said = /** @type {HTMLOutputElement} */ (first("output", row));
  const cancel = /** @type {HTMLButtonElement} */ (first("button", row));
  const button = form.querySelector("button.primary");
  const xhr = new XMLHttpRequest();
  xhr.upload.addEventListener("progress", ({ loaded, total }) => {
    bar.max = total;
    bar.value = loaded;
    said.value = `${Math.floor(100 * loaded / total)} %`;
  });
  const stop = () => {
    row.hidden = true;
    bar.removeAttribute("value");
    said.value = "";
    button?.removeAttribute("disabled");
  };
  xhr.addEventListener("abort", stop);
  xhr.addEventListener("error", () => {
    stop();
    complain(box, box.dataset.failed ?? "");
  });
  xhr.addEventListener("load", () => {
    if (xhr.status < 400) {
      location.assign(xhr.responseURL);
      return;
    }
    stop();
    const page = new DOMParser().parseFromString(xhr.responseText, "text/html");
    complain(box, first(".refusal", page)?.textContent?.trim() || (box.dataset.failed ?? ""));
  });
  cancel.onclick = () => xhr.abort();
  first(".refusal.for-now", box)?.remove();
  row.hidden = false;
  button?.setAttribute("disabled", "");
  cancel.focus();
  xhr.open(form.method, form.action);
  xhr.send(new FormData(form));
}

/**
 * @param {HTMLElement} box
 * @param {string} words
 */
function complain(box, words) {
  const said = document.createElement("p");
  said.className = "refusal for-now";
  said.setAttribute("role", "alert");
  said.textContent = words;
  box.prepend(said);
  said.scrollIntoView({ block: "center" });
}

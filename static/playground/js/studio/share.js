// Links: copying them, and a reminder in their dialog to keep the edit link, which alone opens this session for editing again.
import { around, by, maybe, the } from "../shared/dom.js";

const KEPT = "kept edit links";
const MOST = 200;

/** @returns {string[]} The keys whose edit links this browser has kept. */
function kept() {
  try {
    return JSON.parse(localStorage.getItem(KEPT) ?? "[]");
  } catch {
    return [];
  }
}

/** Whether leaving now could lose the session: it has changed, and this browser never kept its edit link. */
export function unkept() {
  return maybe("keep", HTMLElement)?.hidden === false;
}

/** @param {string} key */
function keep(key) {
  try {
    localStorage.setItem(KEPT, JSON.stringify([...new Set([...kept(), key])].slice(-MOST)));
  } catch {
    // Without storage the banner comes back on the next visit.
  }
  hideBanner();
}

function hideBanner() {
  const banner = maybe("keep", HTMLElement);
  if (banner) banner.hidden = true;
  by("share-open").removeAttribute("aria-describedby");
}

/**
 * Wires the share dialog and the banner.
 * @param {string} key The session's key.
 * @param {() => string} here The query of a link that shows what is shown now: the step, the stage, what it is about.
 */
export function listenShare(key, here) {
  const dialog = the("share-dialog", HTMLDialogElement);
  const copied = by("copied");
  if (kept().includes(key)) hideBanner();
  by("share-open").addEventListener("click", () => {
    copied.textContent = "";
    dialog.showModal();
  });
  maybe("keep-close", HTMLElement)?.addEventListener("click", () => keep(key));
  document.addEventListener("click", async (event) => {
    const which = around(event, "[data-copy]")?.dataset.copy;
    if (!which) return;
    const field = the(`${which}-link`, HTMLInputElement);
    const withStep = dialog.open && the("share-step", HTMLInputElement).checked;
    const at = withStep ? here() : "";
    const text = which === "embed"
      ? field.value.replace(/src="[^"]*/, (address) => address + at.replaceAll("&", "&amp;"))
      : new URL(field.value + at, location.href).href;
    if (!(await copy(text))) {
      dialog.showModal();
      field.select();
      return;
    }
    copied.textContent = copied.dataset.copied ?? "";
    if (which === "edit") keep(key);
  });
}

/**
 * Whether a text could be copied.
 * @param {string} text
 */
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

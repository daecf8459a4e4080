// Links: copying them, and a reminder to keep the edit link, which alone opens this session for editing again.

const KEPT = "kept edit links";

function kept() {
  try {
    return JSON.parse(localStorage.getItem(KEPT) ?? "[]");
  } catch {
    return [];
  }
}

/** Whether leaving now could lose the session: it has changed, and this browser never kept its edit link. */
export function unkept() {
  const banner = document.getElementById("keep");
  return Boolean(banner && !banner.hidden);
}

function keep(key) {
  try {
    localStorage.setItem(KEPT, JSON.stringify([...new Set([...kept(), key])].slice(-200)));
  } catch {
    // Without storage the banner comes back on the next visit.
  }
  const banner = document.getElementById("keep");
  if (banner) banner.hidden = true;
}

/** Wires the share dialog and the banner; `look()` is the query to add when a link shall open at this step. */
export function listenShare(key, step) {
  const dialog = document.getElementById("share-dialog");
  const copied = document.getElementById("copied");
  const banner = document.getElementById("keep");
  if (banner && kept().includes(key)) banner.hidden = true;
  document.getElementById("share-open").addEventListener("click", () => {
    copied.textContent = "";
    dialog.showModal();
  });
  document.getElementById("keep-close")?.addEventListener("click", () => keep(key));
  document.addEventListener("click", async (event) => {
    const which = event.target.closest?.("[data-copy]")?.dataset.copy;
    if (!which) return;
    const field = document.getElementById(`${which}-link`);
    const withStep = document.getElementById("share-step").checked && dialog.open;
    const text = new URL(field.value, location.href).href + (withStep ? `?at=${step()}` : "");
    if (!(await copy(text, field))) return;
    copied.textContent = copied.dataset.copied;
    if (which === "edit") keep(key);
  });
}

async function copy(text, field) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    document.getElementById("share-dialog").showModal();
    field.select();
    return false;
  }
}

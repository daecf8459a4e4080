// What changed: the foot of the inspector, fetched for the step that is shown while it is open.

const PAUSE = 140;
const OPEN = "changes-open";
const by = (id) => document.getElementById(id);
let shown = "";
let timer = 0;

/** Shows the changes that lead to a position, a moment after the last move; `pins` are the bookmarks to choose from. */
export function showChanges(position, pins) {
  const foot = by("changes");
  offer(pins);
  if (!foot.open) return;
  const since = by("changes-since").value;
  const from = since === "step" ? Math.max(0, position - 1) : Number(since);
  const wanted = `${from} ${position}`;
  if (wanted === shown) return;
  clearTimeout(timer);
  timer = setTimeout(() => {
    shown = wanted;
    const values = { from, to: position, part: "foot" };
    window.htmx.ajax("GET", `${location.pathname}diff`, {
      target: "#changes-body",
      swap: "innerHTML",
      values,
    });
  }, PAUSE);
}

/** Bookmarks, and the step that was kept here, as choices. */
function offer(pins) {
  const select = by("changes-since");
  const key = JSON.stringify(pins);
  if (select.dataset.key === key) return;
  select.dataset.key = key;
  const chosen = select.value;
  select.querySelectorAll("[data-pin]").forEach((one) => one.remove());
  for (const { name, position } of pins) {
    const option = new Option(name, position);
    option.dataset.pin = "";
    select.add(option);
  }
  select.value = chosen;
  if (select.selectedIndex < 0) select.value = "step";
}

/** Listens to the foot being opened and to the choice of what to compare with; `here` gives the position and the bookmarks. */
export function listenChanges(here) {
  const foot = by("changes");
  foot.open = localStorage.getItem(OPEN) === "1";
  foot.addEventListener("toggle", () => {
    localStorage.setItem(OPEN, foot.open ? "1" : "0");
    showChanges(...here());
  });
  by("changes-since").addEventListener("change", () => showChanges(...here()));
  by("changes-keep").addEventListener("click", () => {
    const [position] = here();
    const select = by("changes-since");
    select.querySelector("[data-kept]")?.remove();
    const option = new Option(by("changes-keep").dataset.step.replace("%s", position), position);
    option.dataset.kept = "";
    select.add(option, 1);
    select.value = String(position);
    showChanges(...here());
  });
}

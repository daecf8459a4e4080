// The strip of branches: where the viewer stands on the present one, links that take the look along, and fresh lines now and then.

const REFRESH = 4000;
let wanted = 0;
let known = null;

/** Shows where the viewer stands; when the session has gone on, its lines are fetched again after a while. */
export function showBranches(position, head) {
  const here = document.getElementById("branch-here");
  if (!here) return;
  const line = JSON.parse(here.dataset.line);
  here.setAttribute("cy", (line.filter(([at]) => at < position).pop() ?? line[0])[1]);
  here.setAttribute("cx", `${Math.min(100, (100 * position) / Math.max(1, here.dataset.most))}%`);
  if (known === null) known = head;
  if (head === known || wanted) return;
  wanted = setTimeout(() => refresh(position, head), REFRESH);
}

async function refresh(position, head) {
  const scrolled = document.querySelector(".branch-scroll")?.scrollTop ?? 0;
  const focused = document.activeElement?.closest?.("#branches");
  if (!focused) {
    await window.htmx.ajax("GET", `branches?strip=1&at=${position}`, {
      target: "#branches",
      swap: "outerHTML",
    });
    const box = document.querySelector(".branch-scroll");
    if (box) box.scrollTop = scrolled;
  }
  known = head;
  wanted = 0;
}

/** A link to another branch opens it with the look of this page. */
function takeAlong(event) {
  const link = event.target.closest?.("a[data-keeps-look]");
  if (link) link.search = location.search;
}
document.addEventListener("pointerdown", takeAlong, true);
document.addEventListener("focusin", takeAlong);

const box = document.querySelector(".branch-scroll");
const current = box?.querySelector(".current > .branch-row");
if (current) box.scrollTop = current.offsetTop - box.offsetTop - 66;

// The menu on a pod, a node or an extension point: break here, go to where something last happened to it, or act on it.
import { openInDrawer } from "./drawer.js";

const menu = document.getElementById("menu");
let opener = null;
let subject = null;

const items = () => [...menu.querySelectorAll("[role=menuitem]")].filter((item) => item.offsetParent);

/** What an element is about, nearest first: {kind, name, plugins}; null where it is about nothing that has a menu. */
function about(element) {
  const named = element.closest?.("[data-menu], [data-pod], [data-node], .point");
  if (!named) return null;
  if (named.matches(".point")) return about(named.querySelector(".stop"));
  const { menu: kind, of: name, pod, node } = named.dataset;
  if (kind === "point") {
    const plugins = [...named.parentElement.querySelectorAll("[data-plugin]")].map((one) =>
      one.dataset.plugin
    );
    return { kind, name, plugins };
  }
  if (kind) return { kind, name };
  if (pod) return { kind: "pod", name: pod };
  return node ? { kind: "node", name: node } : null;
}

function open(found, element, x, y) {
  opener = element;
  subject = found;
  menu.querySelector("#menu-title").textContent = found.name;
  menu.querySelectorAll("[data-for]").forEach((part) => (part.hidden = part.dataset.for !== found.kind));
  offerPlugins(found.plugins ?? []);
  menu.hidden = false;
  const box = menu.getBoundingClientRect();
  menu.style.left = `${Math.max(6, Math.min(x, innerWidth - box.width - 6))}px`;
  menu.style.top = `${Math.max(6, Math.min(y, innerHeight - box.height - 6))}px`;
  items()[0]?.focus();
}

/** One item for each plugin of the point, made after the pattern that stays hidden. */
function offerPlugins(plugins) {
  menu.querySelectorAll("[data-made]").forEach((one) => one.remove());
  const pattern = menu.querySelector("[data-each]");
  if (!pattern) return;
  pattern.hidden = true;
  for (const plugin of plugins) {
    const item = pattern.cloneNode(true);
    item.hidden = false;
    item.removeAttribute("data-each");
    item.dataset.made = "";
    item.dataset.plugin = plugin;
    item.textContent = pattern.textContent.replace("%p", plugin);
    pattern.parentNode.append(item);
  }
}

function close(refocus = true) {
  if (menu.hidden) return;
  menu.hidden = true;
  if (refocus) opener?.focus?.();
}

/** The breakpoint that an item stands for. */
function pointOf(item) {
  const fill = (value) => (value === "%s" ? subject.name : value === "%p" ? item.dataset.plugin : value);
  return Object.fromEntries(
    Object.entries(JSON.parse(item.dataset.point)).map(([name, value]) => [name, fill(value)]),
  );
}

function breakHere(point, say) {
  const values = { ...point };
  const done = window.htmx.ajax("POST", `${location.pathname}breakpoints`, {
    source: menu,
    swap: "none",
    values,
  });
  menu.addEventListener("htmx:afterRequest", (event) => event.detail.successful && say(), { once: true });
  return done;
}

/** The subject as the object of a kind: pods are named namespace/name. */
function objectOf(kind) {
  const parts = subject.name.split("/");
  return { kind, namespace: parts.length > 1 ? parts[0] : "", name: parts.at(-1) };
}

/** Deletes the subject as `kubectl delete` does; in the past the answer asks whether to fork, and is shown in the drawer. */
function deleteIt(kind, say) {
  const at = new URLSearchParams(location.search).get("at") ?? "";
  const asking = { source: menu, swap: "none", values: { ...objectOf(kind), at } };
  menu.addEventListener("htmx:afterRequest", ({ detail }) => detail.xhr.status < 300 && say(), {
    once: true,
  });
  return window.htmx.ajax("POST", `${location.pathname}objects/delete`, asking);
}

/** Listens to right clicks and to what has a menu; `seek(back, point)` searches, `say(text)` tells. */
export function listenMenu(seek, say) {
  document.addEventListener("contextmenu", (event) => {
    const found = event.target.closest("main") && about(event.target);
    if (!found) return;
    event.preventDefault();
    const box = event.target.getBoundingClientRect();
    open(
      found,
      event.target.closest("a, button") ?? event.target,
      event.clientX || box.left,
      event.clientY || box.bottom,
    );
  });
  document.addEventListener(
    "click",
    (event) => {
      const named = event.target.closest("[data-menu]");
      if (named && !event.ctrlKey && !event.metaKey) {
        event.preventDefault();
        event.stopPropagation();
        const box = named.getBoundingClientRect();
        open(about(named), named, box.left, box.bottom + 4);
      } else if (!event.target.closest("#menu")) close(false);
    },
    true,
  );
  menu.addEventListener("click", (event) => {
    const item = event.target.closest("[role=menuitem]");
    if (!item) return;
    close();
    const { yaml, delete: deleted } = item.dataset;
    if (yaml) openInDrawer(`yaml?${new URLSearchParams(objectOf(yaml))}`);
    else if (deleted) deleteIt(deleted, () => say(menu.dataset.deleted.replace("%s", subject.name)));
    else if (item.dataset.calls !== undefined) {
      openInDrawer(`calls?${new URLSearchParams({ pod: subject.name })}`);
    } else if (item.dataset.more !== undefined) {
      openInDrawer(`breakpoints?${new URLSearchParams({ [subject.kind]: subject.name })}`);
    } else if (item.dataset.commands !== undefined) {
      openInDrawer(`commands?${new URLSearchParams({ q: subject.name.split("/").pop() })}`);
    } else if (item.dataset.seek) seek(item.dataset.seek === "back", pointOf(item));
    else {breakHere(pointOf(item), () =>
        say(menu.dataset.set.replace("%s", `${subject.name} · ${item.textContent}`)));}
  });
  menu.addEventListener("keydown", (event) => {
    const all = items();
    const i = all.indexOf(document.activeElement);
    const next = { ArrowDown: i + 1, ArrowUp: i - 1, Home: 0, End: all.length - 1 }[event.key];
    if (event.key === "Escape" || event.key === "Tab") close();
    else if (next !== undefined) all.at(next % all.length)?.focus();
    if (next !== undefined || event.key === "Escape") event.preventDefault();
    event.stopPropagation();
  });
}

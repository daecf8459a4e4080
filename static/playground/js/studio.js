// The studio: wires the stream, the page's controls and the drawings together.
import { showBranches } from "./branches.js";
import { listenChanges, showChanges } from "./changes.js";
import { drawChart } from "./chart.js";
import { drawHeat, listenHeat } from "./heat.js";
import { openInDrawer } from "./drawer.js";
import { listen } from "./keys.js";
import { acted, answered } from "./latency.js";
import { patchOf, readLook, writeLook } from "./look.js";
import { bookmarks, marksChanged, showMarks } from "./marks.js";
import { listenMenu } from "./menu.js";
import { paint } from "./paint.js";
import { listenShare, unkept } from "./share.js";
import { connect } from "./stream.js";
import { toggleTheme } from "./theme.js";
import { listenLanes, listenRail, showRail } from "./timeline.js";
import "./tips.js";

const page = document.body.dataset;
const by = (id) => document.getElementById(id);
const count = new Intl.NumberFormat(document.documentElement.lang || "en");
const state = {
  look: readLook(),
  seen: Number(page.seen),
  head: Number(page.head),
  running: page.running ? JSON.parse(page.running) : null,
  mayEdit: page.mayEdit === "1",
};

const scheme = location.protocol === "https:" ? "wss" : "ws";
const stream = connect(`${scheme}://${location.host}/ws${location.pathname}`, {
  hello: () => ({ type: "look", look: state.look, seen: state.seen }),
  message: (data) => (handlers[data.type] ?? (() => {}))(data),
  state: (open) => {
    by("offline").hidden = open;
    page.connected = open ? "1" : "0";
    if (open) return;
    state.searching = null; // a search ends with its connection
    showJob();
  },
});

const handlers = {
  delta(data) {
    state.head = data.head;
    state.running = data.running;
    const at = data.following ? null : data.seq;
    if (data.following || state.look.at !== null || data.seq !== data.head) state.look.at = at;
    paint(data.html, seesMoves() ? data.moved : [], () => {
      state.seen = data.seq;
      showPlace();
      answered();
      drawings();
    });
  },
  idle(data) {
    toast(data.message);
  },
  ended(data) {
    toast(data.message);
  },
  error(data) {
    toast(data.message);
    showPlace();
  },
  searching(data) {
    state.searching = data;
    showJob();
  },
  searched(data) {
    state.searching = null;
    toast(data.message);
    showJob();
  },
  pins() {
    marksChanged(state.seen, state.head).then(() => showChanges(state.seen, bookmarks()));
  },
  forked(data) {
    location.assign(data.url);
  },
  gone() {
    toast(by("toasts").dataset.gone);
  },
};

const SLOW = 3; // steps a second up to which pods are seen to move while it plays
const seesMoves = () => !state.running || (state.running.kind === "play" && state.running.rate <= SLOW);

function drawings() {
  drawHeat();
  drawChart();
}

/** What stands outside of the panels: head, rail, following, progress, the URL. */
function showPlace() {
  const standing = state.look.at !== null;
  by("standing").hidden = !standing;
  by("follow-form").hidden = !standing;
  document.querySelectorAll("[data-standing]").forEach((field) => (field.value = standing ? state.seen : ""));
  document.querySelectorAll("[data-standing-link]").forEach((
    link,
  ) => (link.search = standing ? `?at=${state.seen}` : ""));
  document.querySelectorAll("[data-position]").forEach((field) =>
    field.matches("input") && (field.value = state.seen)
  );
  document.querySelectorAll(".of-head").forEach((
    place,
  ) => (place.textContent = ` / ${count.format(state.head)}`));
  by("profile").textContent = by("panel-transport").dataset.profile;
  showRail(state.seen, state.head);
  showBranches(state.seen, state.head);
  showMarks(state.seen, state.head, state.running);
  if (!state.running) showChanges(state.seen, bookmarks());
  showJob();
  const url = writeLook(state.look);
  if (url !== location.pathname + location.search) history.replaceState(null, "", url);
}

function showJob() {
  const job = state.running ?? found(state.searching);
  document.body.classList.toggle("playing", Boolean(state.running));
  const play = by("play");
  if (play) {
    const label = state.running ? play.dataset.labelPause : play.dataset.labelPlay;
    play.setAttribute("aria-label", label);
    play.querySelector("use").setAttribute("href", state.running ? "#i-pause" : "#i-play");
  }
  by("job").hidden = !job;
  if (!job) return;
  const bar = by("job-bar");
  const says = by("job-says");
  const words = says.dataset;
  if (job.total) {
    bar.max = job.total;
    bar.value = job.done;
  } else bar.removeAttribute("value");
  const parts = [words[job.kind] ?? words.play];
  if (job.total) {
    parts.push(
      `${count.format(job.done)} / ${count.format(job.total)} ${job.search ? words.steps : words.pods}`,
    );
  } else if (job.done) parts.push(`${count.format(job.done)} ${words.steps}`);
  if (job.kind === "run" && job.rate) parts.push(`${count.format(Math.round(job.rate))}/s`);
  if (job.until) parts[0] += ` ${words.until} ${job.until}`;
  if (job.left) parts.push(`${count.format(Math.ceil(job.left))} s ${words.left}`);
  says.textContent = parts.join(" · ");
}

/** A search as the progress bar shows it. */
function found(search) {
  return search &&
    { kind: search.back ? "back" : "forward", done: search.scanned, total: search.of, search: true };
}

function toast(text) {
  if (!text) return;
  const note = document.createElement("p");
  note.className = "toast";
  note.textContent = text;
  by("toasts").replaceChildren(note);
  setTimeout(() => note.remove(), Math.max(7000, 60 * text.length));
}

function look(changes) {
  Object.assign(state.look, changes);
  history.replaceState(null, "", writeLook(state.look));
  return stream.send({ type: "look", look: state.look, seen: state.seen });
}

/** What a link changes; a node is shown on its own tab unless the present one has a table to find it in. */
function patch(data) {
  const found = patchOf(data, state.look);
  if (found?.node && !found.tab && !document.querySelector(".matrix, .scores, .yaml, .ladder, .fixes")) {
    found.tab = "node";
  }
  return found;
}

function send(message) {
  acted();
  return stream.send(message);
}

/** Presses the button of the inspected pod, or else of the first one that waits on Permit. */
function decide(decision) {
  const button = (within) => document.querySelector(`${within} .decide [value="${decision}"]`);
  if (state.mayEdit) (button(".pod.chosen") ?? button(".pod"))?.click();
}

const step = (grain) => send({ type: "step", grain });
const actions = {
  plugin: () => step("plugin"),
  point: () => step("point"),
  pod: () => step("pod"),
  event: () => step("event"),
  back: (grain = "plugin") => send({ type: "back", grain }),
  first: () => send({ type: "goto", at: 0 }),
  follow: () => send({ type: "goto", at: null }),
  play: () => actions.playpause(),
  playpause: () =>
    state.mayEdit &&
    stream.send(
      state.running ? { type: "pause" } : { type: "play", grain: "plugin", rate: Number(by("rate").value) },
    ),
  run: () => state.mayEdit && stream.send({ type: "run" }),
  until: () => {
    const choices = by("until");
    if (!choices) return;
    choices.open = !choices.open;
    choices.querySelector(choices.open ? "button" : "summary").focus();
  },
  breakNext: () => send({ type: "search", back: false }),
  breakBack: () => send({ type: "search", back: true }),
  diff: () => void openInDrawer("diff"),
  commands: () => void openInDrawer("commands"),
  records: () => void openInDrawer("records"),
  bookmark: () => {
    if (!state.mayEdit) return;
    const values = { at: state.look.at === null ? "" : state.seen };
    window.htmx.ajax("POST", `${location.pathname}bookmarks`, { swap: "none", values });
  },
  pause: () => stream.send({ type: "pause" }),
  theme: () => void toggleTheme(),
  unpin: () => look({ pod: "" }),
  allow: () => decide("allow"),
  reject: () => decide("reject"),
  tab: (i) => document.querySelectorAll(".tabs a")[i]?.click(),
  search: () => void by("map-q")?.focus(),
  keys: () => void by("keys-dialog").showModal(),
  speed: (by_) => {
    const rate = by("rate");
    if (!rate) return;
    rate.selectedIndex = Math.max(0, Math.min(rate.length - 1, rate.selectedIndex + by_));
    rate.dispatchEvent(new Event("change"));
  },
};

Object.assign(actions, listenLanes((changes) => look(changes)));
listen((name, ...rest) => actions[name]?.(...rest));
listenRail((at) => stream.send({ type: "goto", at: at >= state.head ? null : at }));
listenHeat((node) => look(patch({ node })));
listenChanges(() => [state.seen, bookmarks()]);
listenMenu((back, point) => send({ type: "search", back, point }), toast);
listenShare(page.key, () => state.seen);
by("keys-open").addEventListener("click", actions.keys);
by("rate")?.addEventListener(
  "change",
  () =>
    state.running?.kind === "play" &&
    stream.send({ type: "play", grain: "plugin", rate: Number(by("rate").value) }),
);

document.addEventListener("click", (event) => {
  if (event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const button = event.target.closest("[data-act]");
  if (button) {
    if (actions[button.dataset.act]() !== false) event.preventDefault();
    return;
  }
  const link = event.target.closest("a");
  if (!link) return;
  const patched = patch(link.dataset);
  const goto = link.dataset.goto;
  if (!patched && goto === undefined) return;
  const sent = (patched ? look(patched) : true) &&
    (goto === undefined || send({ type: "goto", at: Number(goto) }));
  if (sent) event.preventDefault();
});

let typing = 0;
document.addEventListener("input", (event) => {
  const { id, value } = event.target;
  if (id !== "map-q" && id !== "lane-q") return;
  clearTimeout(typing);
  typing = setTimeout(
    () => look(id === "map-q" ? { q: value.trim(), page: 0 } : { lane: value.trim() }),
    180,
  );
});
document.addEventListener("change", (event) => {
  if (event.target.id === "map-group") look({ group: event.target.value, page: 0 });
});
document.addEventListener("submit", (event) => {
  if (event.target.matches("[data-run]")) {
    const { csrfmiddlewaretoken, ...asked } = Object.fromEntries(new FormData(event.target));
    if (stream.send({ type: "run", ...asked })) {
      event.preventDefault();
      by("until").open = false;
    }
  }
  if (event.target.matches("[data-search]")) {
    const only = event.target.elements.only?.value;
    const asked = {
      type: "search",
      back: event.submitter?.value === "back",
      only: only ? Number(only) : null,
    };
    if (send(asked)) event.preventDefault();
  }
  if (event.target.matches("[role=search], .tools form")) event.preventDefault();
});
document.addEventListener("htmx:beforeSend", acted);
// A form outside of the drawer that was refused: its words, taken from the page that a browser without scripts would show.
document.addEventListener("htmx:responseError", (event) => {
  if (event.detail.target?.closest?.("#workbench")) return;
  const answer = new DOMParser().parseFromString(event.detail.xhr.responseText, "text/html");
  toast(answer.querySelector(".refusal h2")?.textContent ?? event.detail.xhr.statusText);
});
// A fragment that came with the stream was rendered without a request, so its forms lack the token that the page's own have.
document.addEventListener("htmx:configRequest", (event) => {
  event.detail.headers["X-CSRFToken"] = document.querySelector("[name=csrfmiddlewaretoken]").value;
});

const rename = document.querySelector(".rename");
rename?.addEventListener("submit", async (event) => {
  event.preventDefault();
  const field = rename.elements.name;
  const response = await fetch(rename.action, {
    method: "POST",
    body: new FormData(rename),
    headers: { "HX-Request": "true" },
  });
  if (response.ok) field.blur();
  else toast(await response.text());
});
rename?.elements.name.addEventListener("change", () => rename.requestSubmit());

let leavingOnPurpose = false;
document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[href], button");
  leavingOnPurpose = Boolean(link && (link.closest(".top-nav, form, #branches")));
});
addEventListener("beforeunload", (event) => {
  if (unkept() && state.head > 0 && !leavingOnPurpose) event.preventDefault();
});

const messages = document.querySelector("body > .messages");
if (messages) setTimeout(() => messages.remove(), 8000);
showPlace();
drawings();

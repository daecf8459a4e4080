// The teacher's desk: tells the room what the studio beside it looks at, asks, and shows what is answered.
import { all, by, the } from "../shared/dom.js";
import { connect } from "../studio/stream.js";
import { chart, heading, make, say } from "./poll.js";

/** @typedef {{id: number, name: string, key?: string}} Person */

/** @typedef {Person & {answered: boolean, right: number, asked: number, hand: boolean, stuck: boolean}} Learner */

/**
 * @typedef {object} Board The room as its teacher sees it (docs/classroom.md).
 * @property {boolean} over
 * @property {number} joined
 * @property {boolean} joining
 * @property {Learner[]} students
 * @property {Person[]} hands
 * @property {Person[]} forks
 * @property {{key: string, name: string, id: number} | null} shown
 * @property {import("./poll.js").Poll | null} poll
 */

const frame = the("view", HTMLIFrameElement);
const scheme = location.protocol === "https:" ? "wss" : "ws";
/** @type {Record<string, string | number | null>} */
let standing = {};
let told = "";
let ended = ""; // why the room is no longer here for this page

/** @type {Record<string, (data: any) => void>} */
const handlers = {
  board: show,
  pong: stand,
  error: ({ message }) => complain(message),
  gone: () => complain(ended = say("gone")),
};

const stream = connect(
  `${scheme}://${location.host}/ws/room/${document.body.dataset.key}/?language=${document.documentElement.lang}`,
  {
    hello: () => ({ type: "ping" }),
    handlers,
    state(open) {
      document.body.dataset.connected = open ? "1" : "0";
      complain(open ? "" : ended || say("lost"));
      told = "";
    },
  },
);

/** @param {string} text */
function complain(text) {
  by("room-error").textContent = text;
  by("room-error").hidden = !text;
}

/** Students see what the studio shows. */
function stand() {
  const now = JSON.stringify(standing);
  if (now === told || now === "{}") return;
  if (stream.send({ type: "stand", look: standing })) told = now;
}

/** @param {Board} board */
function show(board) {
  by("joined").textContent = board.over ? say("over") : say("joined", { count: board.joined });
  by("asking").hidden = board.over;
  by("end").hidden = board.over;
  the("joining", HTMLInputElement).checked = board.joining;
  the("joining", HTMLInputElement).disabled = board.over;
  by("students").hidden = !board.students.length || board.over;
  by("students-list").replaceChildren(...board.students.map((each) => learner(each, board)));
  by("hands").hidden = !board.hands.length;
  by("hands-list").replaceChildren(...board.hands.map((each) => person(each, "lower", board)));
  by("forks").hidden = !board.forks.length;
  by("forks-list").replaceChildren(...board.forks.map((each) => person(each, "show", board)));
  by("shown").hidden = !board.shown;
  const name = by("shown").querySelector("span");
  if (name && board.shown) name.textContent = say("shown", { name: nameOf(board.shown) });
  showPoll(board);
  by("unfold-says").textContent = [
    by("joined").textContent,
    board.hands.length && say("hands", { count: board.hands.length }),
    board.poll && say("answers", { count: board.poll.answered ?? 0 }),
  ].filter(Boolean).join(" · ");
}

/**
 * The studio may have the whole width, as on a projector; what the room does is said beside the way back.
 * @param {boolean} folded
 */
function fold(folded) {
  by("desk-side").hidden = folded;
  by("unfold").hidden = !folded;
}

/** @param {Person} person */
const nameOf = ({ name, id }) => name || say("nobody", { id });

/**
 * @param {Person} who
 * @param {"lower" | "show" | "remove"} type
 * @param {Board} board
 */
function person(who, type, board) {
  const name = nameOf(who);
  const button = make(
    "button",
    { type: "button", class: "button", "aria-label": `${say(type)}: ${name}` },
    say(type),
  );
  button.addEventListener("click", () => stream.send({ type, student: who.id }));
  if (type === "show") button.addEventListener("click", () => who.key && open(`/s/${who.key}/`));
  return make(
    "li",
    type === "show" && board.shown?.id === who.id ? { "aria-current": "true" } : {},
    make("span", {}, name),
    button,
  );
}

/**
 * A student's line in the list: this question, all so far, the hand, and whether three answers in a row were wrong.
 * @param {Learner} who
 * @param {Board} board
 */
function learner(who, board) {
  const line = person(who, "remove", board);
  const said = [
    who.answered && `✓ ${say("answered")}`,
    who.asked && say("so-far", { right: who.right, asked: who.asked }),
    who.hand && say("hand"),
    who.stuck && say("stuck"),
  ].filter(Boolean).join(" · ");
  line.querySelector("span")?.append(make("small", { class: "mute" }, said && ` ${said}`));
  return line;
}

const own = frame.src;

/**
 * The session in the teacher's half.
 * @param {string} address
 */
function open(address) {
  if (new URL(address, location.href).href !== frame.contentWindow?.location.href) frame.src = address;
}

/** @param {Board} board */
function showPoll({ poll, over }) {
  const place = by("poll");
  place.hidden = !poll;
  by("poll-acts").hidden = !poll || over;
  place.replaceChildren(...(poll ? [heading(poll), ...chart(poll)] : []));
  by("poll-close").hidden = poll?.state !== "open";
  by("poll-reveal").hidden = poll?.state === "revealed";
}

/** @param {object} message */
function ask(message) {
  complain("");
  stream.send({ type: "ask", at: standing.at ?? null, ...message });
}

addEventListener("message", ({ data, origin, source }) => {
  if (origin !== location.origin || source !== frame.contentWindow || !data.standing) return;
  standing = data.standing;
  stand();
});
for (const button of all("[data-ask]")) {
  button.addEventListener("click", () => ask({ kind: button.dataset.ask }));
}
by("foresee").addEventListener("submit", (event) => {
  event.preventDefault();
  const { submitter } = /** @type {SubmitEvent} */ (event);
  const name = the("foresee-pod", HTMLInputElement).value.trim();
  const pod = !name || name.includes("/") ? name : `default/${name}`;
  if (submitter instanceof HTMLButtonElement) {
    ask({ kind: submitter.value, pod: submitter.value === "next" ? "" : pod });
  }
});
by("free").addEventListener("submit", (event) => {
  event.preventDefault();
  ask({
    kind: "free",
    ask: the("free-ask", HTMLInputElement).value,
    options: the("free-options", HTMLTextAreaElement).value.split("\n"),
    right: the("free-right", HTMLInputElement).value,
  });
});
for (const type of ["close", "reveal", "clear"]) {
  by(`poll-${type}`).addEventListener("click", () => stream.send({ type }));
}
by("joining").addEventListener("change", ({ target }) => {
  if (target instanceof HTMLInputElement) stream.send({ type: "joining", open: target.checked });
});
by("remove-all").addEventListener("click", () => stream.send({ type: "remove", student: null }));
by("shown-back").addEventListener("click", () => {
  stream.send({ type: "show", student: null });
  open(own);
});
by("end").addEventListener(
  "submit",
  () => frame.contentWindow?.postMessage({ leaving: true }, location.origin),
);
by("fold").addEventListener("click", () => {
  fold(true);
  by("unfold").focus();
});
by("unfold").addEventListener("click", () => {
  fold(false);
  by("fold").focus();
});
by("qr-open").addEventListener("click", () => the("qr-large", HTMLDialogElement).showModal());

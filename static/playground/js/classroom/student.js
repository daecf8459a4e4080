// A student's page: the stage follows the teacher, or the student looks around, or works on a fork of their own; questions stand below.
import { by, the } from "../shared/dom.js";
import { connect } from "../studio/stream.js";
import { chart, form, heading, make, say, verdict } from "./poll.js";

/**
 * @typedef {object} Board The room as all students see it (docs/classroom.md).
 * @property {boolean} over
 * @property {string} session
 * @property {Record<string, string | number>} standing
 * @property {{key: string, name: string, id: number} | null} shown
 * @property {import("./poll.js").Poll | null} poll
 */

const MODE = `classroom ${document.body.dataset.code}`;
const frame = the("view", HTMLIFrameElement);
const scheme = location.protocol === "https:" ? "wss" : "ws";
/** @type {Board | null} */
let board = null;
/** @type {{hand: boolean, fork: string | null, answers: Record<string, string>}} */
let mine = { hand: false, fork: null, answers: {} };
let mode = sessionStorage.getItem(MODE) ?? "follow";
let drawn = "";
let ended = ""; // why the room is no longer here for this page
let seen = 0;
let head = 0;

/** @type {Record<string, (data: any) => void>} */
const handlers = {
  room(data) {
    board = data;
    show();
  },
  you(data) {
    const first = !mine.fork && data.fork && wantsFork;
    mine = data;
    if (first) go("fork");
    wantsFork = false;
    show();
  },
  kept({ poll, given }) {
    mine.answers[poll] = given;
    complain("");
    show();
  },
  hand({ up }) {
    mine.hand = up;
    show();
  },
  error: ({ message }) => complain(message),
  gone: ({ removed }) => complain(ended = say(removed ? "removed" : "gone")),
};

const stream = connect(
  `${scheme}://${location.host}/ws/join/${document.body.dataset.code}/?language=${document.documentElement.lang}`,
  {
    hello: () => ({ type: "ping" }),
    handlers,
    state(open) {
      document.body.dataset.connected = open ? "1" : "0";
      complain(open ? "" : ended || say("lost"));
    },
  },
);

let wantsFork = false;

/** @param {string} text */
function complain(text) {
  by("room-error").textContent = text;
  by("room-error").hidden = !text;
}

/** @param {string} other */
function go(other) {
  mode = other;
  sessionStorage.setItem(MODE, mode);
  show();
}

function show() {
  if (!board) return;
  if (mode === "fork" && !mine.fork) mode = "follow";
  showView(board);
  showWhere(board);
  showPoll(board);
}

/**
 * The frame: the teacher's session, or the fork on everybody's screen, or one's own.
 * @param {Board} now
 */
function showView(now) {
  const key = mode === "follow" && now.shown ? now.shown.key : now.session;
  const follows = mode === "follow" && !now.shown;
  const address = mode === "fork" ? `/s/${mine.fork}/` : `/embed/${key}/`;
  if (frame.dataset.address !== address) {
    frame.dataset.address = address;
    const standing = follows
      ? Object.entries(now.standing).map(([name, value]) => [name, String(value)])
      : [];
    frame.src = mode === "fork" ? address : `${address}?${new URLSearchParams([["pane", "1"], ...standing])}`;
  } else if (follows) tell(now.standing);
}

/** @param {object} standing */
function tell(standing) {
  frame.contentWindow?.postMessage({ standing }, location.origin);
}

/** @param {Board} now */
function showWhere(now) {
  const where = by("where");
  if (now.over) where.textContent = say("over");
  else if (mode === "fork") where.textContent = say("forked");
  else if (mode === "roam") where.textContent = say("roaming", { step: seen, head });
  else if (now.shown) where.textContent = say("shown", { name: now.shown.name || say("nobody", now.shown) });
  else where.textContent = say("following");
  by("room-follow").hidden = mode === "follow";
  by("room-fork").hidden = mode === "fork" || now.over;
  by("room-hand").hidden = now.over;
  by("room-back").hidden = by("room-on").hidden = mode === "fork";
  by("room-hand").setAttribute("aria-pressed", String(mine.hand));
  by("room-hand").textContent = say(mine.hand ? "hand-down" : "hand-up");
}

/** @param {Board} now */
function showPoll({ poll }) {
  const place = by("poll");
  const given = poll ? mine.answers[poll.number] ?? "" : "";
  const fresh = JSON.stringify([poll, given]);
  if (fresh === drawn) return; // what is being filled in stays
  drawn = fresh;
  place.hidden = !poll;
  if (!poll) return place.replaceChildren();
  if (poll.state === "revealed") {
    return place.replaceChildren(heading(poll), verdict(poll, given), ...chart(poll));
  }
  if (poll.state === "closed") return place.replaceChildren(heading(poll), make("p", {}, say("closed")));
  const asked = form(
    poll,
    given,
    (answers) => stream.send({ type: "answer", poll: poll.number, given: answers }),
  );
  const shown = poll.kind === "yesno" ? say(given) : given;
  place.replaceChildren(
    heading(poll),
    asked,
    ...(given ? [make("p", { role: "status" }, say("kept", { text: shown }))] : []),
  );
}

/** @param {number} by */
function roam(by) {
  const next = Math.max(0, Math.min(seen + by, head));
  const first = mode !== "roam";
  go("roam");
  if (first && board?.shown) return; // the frame is loaded anew
  frame.contentWindow?.postMessage({ at: next }, location.origin);
}

addEventListener("message", ({ data, origin, source }) => {
  if (origin !== location.origin || source !== frame.contentWindow) return;
  if (data.way) return roam(data.way === "back" ? -1 : 1);
  if (!Number.isInteger(data.seen)) return;
  ({ seen, head } = data);
  if (board) showWhere(board);
  if (data.ready && board && mode === "follow" && !board.shown) tell(board.standing);
});
by("room-back").addEventListener("click", () => roam(-1));
by("room-on").addEventListener("click", () => roam(1));
by("room-follow").addEventListener("click", () => {
  go("follow");
  if (board && !board.shown) tell(board.standing);
});
by("room-hand").addEventListener("click", () => stream.send({ type: "hand", up: !mine.hand }));
by("room-fork").addEventListener("click", () => {
  if (mine.fork) return go("fork");
  wantsFork = true;
  stream.send({ type: "fork", at: mode === "roam" ? seen : board?.standing.at ?? null });
});

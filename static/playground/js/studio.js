// The studio: makes its parts and connects them. What each of them does is written in studio/ and heat/.
import { drawHeat, listenHeat } from "./heat/heat.js";
import { listenBeside } from "./frame/leaving.js";
import { foldRail, listenPanes } from "./frame/panes.js";
import { showCaption } from "./frame/presenter.js";
import { listenRoving, rove } from "./frame/roving.js";
import { selection } from "./frame/rows.js";
import { listenSheet } from "./frame/sheet.js";
import { listenSingleKeys } from "./frame/single_keys.js";
import { listenTerms, showTermsHere } from "./frame/terms.js";
import { listenTour, startTour } from "./frame/tour.js";
import { listenDrag } from "./menu/drag.js";
import { carryOut } from "./menu/entry.js";
import { listenPalette, openPalette } from "./palette/palette.js";
import { by, first, maybe } from "./shared/dom.js";
import { actionsOf, showConnected, walked } from "./studio/actions.js";
import { listenChanges, showChanges } from "./studio/changes.js";
import { listenForms, listenLeaving, listenRefusals, listenRename, listenTokens } from "./studio/forms.js";
import { showJob } from "./studio/job.js";
import { listenKeys } from "./studio/keys.js";
import { listenLanes } from "./studio/lanes.js";
import { acted, answered } from "./studio/latency.js";
import { listenLesson, showLesson } from "./studio/lesson.js";
import { listenLinks } from "./studio/links.js";
import { patchOf, staying, writeLook } from "./studio/look.js";
import { showChosen, showMarked } from "./studio/marked.js";
import { bookmarks, marksChanged } from "./studio/marks.js";
import { listenMenu, openMenuFor } from "./studio/menu.js";
import { paintDeltas } from "./studio/paint.js";
import { isChoice, listenHistory, showPlace, showUrl } from "./studio/place.js";
import { listenPicture } from "./studio/picture.js";
import { isDragged, listenRail } from "./studio/rail.js";
import { listenShare, unkept } from "./studio/share.js";
import { listenScore } from "./studio/score.js";
import { readState } from "./studio/state.js";
import { openSteps, showStep } from "./studio/steps.js";
import { connect } from "./studio/stream.js";
import { toast } from "./studio/toast.js";

const MOVES = new Set(["step", "back", "goto", "play", "run", "search"]);

const state = readState();
const scheme = location.protocol === "https:" ? "wss" : "ws";
/** @type {Record<string, (data: any) => void>} What the server's messages do (docs/stream.md). */
const handlers = {
  delta: paintDeltas(state, isDragged, () => {
    showPlace(state);
    answered();
    drawHeat();
    rove();
    showMarked();
    showLesson();
    showChosen(state.look);
    if (state.walks && !state.look.dry) walked("next");
    state.walks = false;
    showStep(state.seen, state.head);
  }),
  idle: ({ message }) => toast(message),
  ended: ({ message }) => toast(message),
  notice: ({ message }) => toast(message),
  error({ message }) {
    toast(message);
    showPlace(state);
  },
  searching(data) {
    state.searching = data;
    showJob(state);
  },
  searched({ message }) {
    state.searching = null;
    toast(message);
    showJob(state);
  },
  pins: () => marksChanged(state.head).then(() => showChanges(state.seen, bookmarks())),
  gone: () => toast(by("toasts").dataset.gone),
};

const stream = connect(
  `${scheme}://${location.host}/ws${location.pathname}?language=${document.documentElement.lang}`,
  {
    hello: () => ({ type: "look", look: state.look, seen: state.seen }),
    handlers,
    state: (open) => {
      showConnected(open);
      if (open) return showLesson(); // what it chooses to show is asked for over the connection
      state.searching = null; // a search ends with its connection
      showJob(state);
    },
  },
);

/** Into the field that searches the stage, or else the palette. */
function search() {
  const field = maybe("map-q", HTMLInputElement);
  if (field?.offsetParent) field.focus();
  else actions.palette();
}

/** @param {Partial<import("./studio/look.js").Look>} changes */
function look(changes) {
  Object.assign(state.look, staying(changes, state.look));
  showUrl(state.look, isChoice(changes));
  return stream.send({ type: "look", look: state.look, seen: state.seen });
}

/**
 * Sends what the viewer waits for to be painted.
 * @param {{type?: string} & Record<string, unknown>} message
 */
function send(message) {
  acted();
  if (MOVES.has(message.type ?? "")) {
    first("#narrator > .messages")?.remove(); // they are of the step before
    followStage();
  }
  return stream.send(message);
}

/** From a step on, the stage is again the one of the extension point at hand. */
function followStage() {
  if (!state.look.stage && !state.look.form) return;
  Object.assign(state.look, { stage: "", form: "" });
  stream.send({ type: "look", look: state.look, seen: state.seen });
}

const actions = Object.assign(actionsOf(state, send, look), listenLanes(look), {
  act: () => openMenuFor(selection()),
  search,
  palette: () => void openPalette(),
  share: () => by("share-open").click(),
  steps: () => void openSteps(),
  foldRail: () => void foldRail(),
  tour: () => void startTour(),
  terms: () => void showTermsHere(),
});
const goto = actions.goto = (/** @type {number} */ at) => stream.send({ type: "goto", at });
listenLinks({ change: look, goto, actions });
listenKeys((name, ...rest) => actions[name]?.(...rest));
listenRail((at) => {
  stream.send({ type: "goto", at: at >= state.head ? null : at });
  if (!isDragged()) showUrl(state.look); // it has been let go where the page may stand already
});
listenHeat((node) => look(patchOf({ node }) ?? {}));
listenHistory((chosen) => {
  Object.assign(state.look, chosen);
  stream.send({ type: "look", look: state.look, seen: state.seen });
});
listenChanges(() => [state.seen, bookmarks()]);
/** @type {import("./menu/entry.js").Seek} */
const seek = (back, point) => send({ type: "search", back, point });
listenMenu(seek, toast);
listenDrag();
listenLesson(look);
listenPalette({
  actions,
  look: (data) => look(patchOf(data) ?? {}),
  carryOut: (entry) => carryOut(entry, by("menu"), seek, toast),
});
listenShare(document.body.dataset.key ?? "", () => writeLook({ ...state.look, at: state.seen }));
listenForms(send);
listenPicture();
listenTokens();
listenRefusals();
listenScore();
listenRename();
listenBeside();
listenPanes();
listenSheet();
listenTour();
listenTerms();
showCaption();
listenSingleKeys();
listenLeaving(() => unkept() && state.head > 0);
by("keys-open").addEventListener("click", actions.keys);
document.addEventListener("htmx:beforeSend", acted);
document.addEventListener("done", (event) => event instanceof CustomEvent && toast(event.detail));

showPlace(state);
listenRoving();
rove();
drawHeat();
showMarked();
showLesson();

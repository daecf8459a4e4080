// The session's WebSocket: resumes from what this page has seen, reconnects, and calls the handler of each message.

const FIRST_DELAY = 250;
const LONGEST_DELAY = 8000;
const SILENCE = 25000;

/**
 * @typedef {object} Listener
 * @property {() => object} hello The first message of every connection.
 * @property {Record<string, (data: any) => void>} handlers What a message does, by its type.
 * @property {(open: boolean) => void} state
 */

/**
 * Opens the stream, and opens it again whenever it is lost, until the session is gone.
 * @param {string} url
 * @param {Listener} listener
 */
export function connect(url, listener) {
  let delay = FIRST_DELAY;
  let timer = 0;
  let over = false;
  let socket = open();

  function open() {
    clearTimeout(timer);
    const fresh = new WebSocket(url);
    fresh.onopen = () => {
      delay = FIRST_DELAY;
      fresh.send(JSON.stringify(listener.hello()));
      listener.state(true);
    };
    fresh.onmessage = (event) => {
      const data = JSON.parse(event.data);
      if (data.type === "gone") over = true;
      listener.handlers[data.type]?.(data);
    };
    fresh.onclose = () => {
      listener.state(false);
      if (over) return;
      timer = setTimeout(again, delay * (0.7 + Math.random() * 0.6));
      delay = Math.min(delay * 2, LONGEST_DELAY);
    };
    return fresh;
  }

  function again() {
    socket = open();
  }

  /** The network or the reader is back: there is no need to wait. */
  function hurry() {
    if (socket.readyState === WebSocket.CLOSED && !over) again();
  }

  /**
   * Sends a message; false where there is no connection now.
   * @param {object} data
   */
  function send(data) {
    if (socket.readyState !== WebSocket.OPEN) return false;
    socket.send(JSON.stringify(data));
    return true;
  }

  setInterval(() => send({ type: "ping" }), SILENCE);
  addEventListener("online", hurry);
  document.addEventListener("visibilitychange", () => document.hidden || hurry());
  return { send };
}

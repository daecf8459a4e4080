// Keys of one character can be switched off, for those who speak to their computer or press keys by mistake (WCAG 2.1.4).
import { the } from "../shared/dom.js";

const OFF = "single-keys-off";

/** Whether letters, digits and signs ask for something. */
export function singleKeys() {
  try {
    return localStorage.getItem(OFF) !== "1";
  } catch {
    return true;
  }
}

/** Listens to the switch in the dialog of the keys. */
export function listenSingleKeys() {
  const box = the("single-keys", HTMLInputElement);
  box.checked = singleKeys();
  box.addEventListener("change", () => {
    try {
      localStorage.setItem(OFF, box.checked ? "0" : "1");
    } catch {
      box.checked = true; // without storage they stay on
    }
  });
}

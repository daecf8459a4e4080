// Whoever chose to fork on a page of ours has chosen already: the form sends itself.
import { the } from "./shared/dom.js";

const form = the("fork", HTMLFormElement);
if (form.dataset.now !== undefined) form.requestSubmit();

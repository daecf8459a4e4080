// A lesson within another site's page: its height is told, and links to other pages open beside that page.
import { around } from "./shared/dom.js";
import { isPlain } from "./shared/drawer.js";
import { followHeights, postHeight } from "./shared/height.js";

const HERE = /^(\?|\/embed\/|\/l\/[^/]+\/embed\/)/;

document.addEventListener("click", (event) => {
  const link = around(event, "a[href]");
  const address = link?.getAttribute("href") ?? "";
  if (!isPlain(event) || !link || HERE.test(address) || address.startsWith("#")) return;
  event.preventDefault();
  const studio = location.pathname.replace(/^\/embed\/([^/]+)\/.*$/, "/s/$1/");
  open(new URL(address, new URL(studio, location.href)), "_blank", "noopener");
});
followHeights();
postHeight();

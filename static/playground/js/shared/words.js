// Numbers as the page's language writes them.

const format = new Intl.NumberFormat(document.documentElement.lang || "en");

/** @param {number | string} number */
export const count = (number) => format.format(Number(number));

// What every page needs.
import "./theme.js";

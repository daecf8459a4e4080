// What every page needs.
import "./shared/theme.js";

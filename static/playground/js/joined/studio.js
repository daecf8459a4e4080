// All that the studio runs, in this order; sent as one file (playground/templatetags/joined.py).
import "../base.js";
import "../studio.js";
import "../workbench.js";

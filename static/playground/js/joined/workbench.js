// What most other pages run; sent as one file.
import "../base.js";
import "../workbench.js";

// What this viewer looks at: tab, pod, node, grouping, page. It lives in the URL, so that a link shows the same thing.

const DEFAULTS = {
  at: null,
  tab: "why",
  pod: "",
  node: "",
  group: "",
  mode: "filter",
  page: 0,
  q: "",
  dry: 0,
  axis: "steps",
  span: 0,
  start: null,
  rows: 6,
  lane: "",
};
const NUMBERS = new Set(["at", "page", "dry", "span", "start", "rows"]);

/** The look that a URL's query asks for. */
export function readLook(search = location.search) {
  const look = { ...DEFAULTS };
  for (const [name, value] of new URLSearchParams(search)) {
    if (!(name in DEFAULTS)) continue;
    look[name] = NUMBERS.has(name) ? (/^\d+$/.test(value) ? Number(value) : DEFAULTS[name]) : value;
  }
  return look;
}

/** The query of a look: what differs from the default. */
export function writeLook(look) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(look)) {
    if (value !== DEFAULTS[name] && value !== null) query.set(name, value);
  }
  const text = query.toString();
  return location.pathname + (text ? `?${text}` : "");
}

const KEEPS_NODE = new Set(["why", "scores", "preemption", "node", "yaml", "fix"]);

/** What a click on a link with data- attributes changes about the look; null where the link says nothing of a look. */
export function patchOf(data, look) {
  const patch = {};
  if (data.tab !== undefined) patch.tab = data.tab;
  if (data.pod !== undefined) {
    patch.pod = data.pod;
    if (!patch.tab && look.tab === "node") patch.tab = "pod";
  }
  if (data.node !== undefined) {
    patch.node = data.node;
    if (data.node && !patch.tab && !KEEPS_NODE.has(look.tab)) patch.tab = "node";
  }
  if (data.mode !== undefined) patch.mode = data.mode;
  if (data.q !== undefined) Object.assign(patch, { q: data.q, page: 0 });
  if (data.axis !== undefined) patch.axis = data.axis;
  for (const name of ["span", "start", "rows"]) {
    if (data[name] !== undefined) patch[name] = data[name] === "" ? null : Number(data[name]);
  }
  if (data.page !== undefined) patch.page = Number(data.page);
  if (data.dry !== undefined) patch.dry = Number(data.dry);
  else if (data.pod !== undefined) patch.dry = 0;
  return Object.keys(patch).length ? patch : null;
}

"""The menu of an object: one table for right clicks, long presses, the keyboard, and the palette.

An entry opens a page in the drawer, sends a form, or searches for the step where a breakpoint holds. Sheets are lists of entries that are
shown one at a time, starting with the first.
"""

from collections.abc import Iterable, Sequence
from typing import Any
from urllib.parse import quote, urlencode

from msgspec import Struct

from playground.workbench.actions.catalogue import applying, together
from playground.workbench.actions.contract import Subject, gettext_noop

POD, NODE, POINT, PLUGIN = "Pod", "Node", "Point", "Plugin"
SILENT = (POINT, "Controller")  # nothing can be done to them
NO_OBJECTS = (*SILENT, PLUGIN, "Scheduler")
MAIN, MORE, TRAVEL = "main", "more", "travel"


class Entry(Struct, frozen=True):
    """A menu entry. `page`: the page to open in the drawer. `send`: the path to which `fields` are posted. `seek`: the direction of a
    search for the step where `fields` hold.

    `about` replaces %s in the title. `said` is the confirmation of a form. `letter` selects the entry.
    """

    title: str
    note: str = ""
    letter: str = ""
    icon: str = ""
    danger: bool = False
    page: str = ""
    send: str = ""
    said: str = ""
    seek: str = ""
    fields: dict[str, Any] = {}
    about: str = ""
    form: bool = False


class Sheet(Struct, frozen=True):
    """A list of groups of entries. `title` is the entry that opens it."""

    name: str
    title: str
    groups: list[list[Entry]]


def menu(
    kind: str,
    namespace: str,
    name: str,
    subject: Subject | None,
    may_edit: bool,
    plugins: Sequence[str] = (),
    point: str = "",
    many: str = "",
) -> list[Sheet]:
    """Return the menu of an object (its `subject`), an extension point with `plugins`, or a plugin."""
    if many:
        acts = [_act(each, subject, many) for each in together(subject)] if may_edit and subject else []
        return [Sheet(MAIN, "", [acts])]
    acts = [_act(each, subject) for each in applying(subject)] if may_edit and subject is not None else []
    travel = _travel(kind, f"{namespace}/{name}" if namespace else name, may_edit, plugins, point)
    first, rest = [each for each in acts if each.letter], [each for each in acts if not each.letter]
    if kind == POINT:
        return [Sheet(MAIN, "", travel)]
    if may_edit and subject is None and kind not in NO_OBJECTS:
        first = [_delete(kind, namespace, name)]
    looks = _looks(kind, namespace, name, may_edit)
    main = [first, looks] if kind != PLUGIN else [*travel, first, looks]
    sheets = [Sheet(MAIN, "", main), Sheet(MORE, gettext_noop("More actions"), [rest])]
    if kind != PLUGIN:
        sheets.append(Sheet(TRAVEL, gettext_noop("Breakpoints and navigation"), travel))
    kept = [Sheet(sheet.name, sheet.title, [group for group in sheet.groups if group]) for sheet in sheets]
    return [sheet for sheet in kept if sheet.groups or sheet.name == MAIN]


def _act(action: Any, subject: Subject, many: str = "") -> Entry:
    """Return an entry that opens a page if input is needed, else one that sends a form."""
    ref = {part: value for part in ("kind", "namespace", "name") if (value := getattr(subject, part))}
    if many:
        ref = {"kind": subject.kind, "many": many}
    common: dict[str, Any] = {
        "note": action.note,
        "letter": action.letter,
        "icon": action.icon or action.name,
        "danger": action.danger,
    }
    if action.fields:
        return Entry(action.title, page=f"act/{action.name}?{urlencode(ref)}", form=True, **common)
    return Entry(action.title, send=f"act/{action.name}", fields=ref, said=action.done, about=subject.name, **common)


def _delete(kind: str, namespace: str, name: str) -> Entry:
    """Return the entry that deletes an object without a known subject."""
    ref = {"kind": kind, "namespace": namespace, "name": name}
    return Entry(
        gettext_noop("Delete"),
        letter="d",
        icon="delete",
        danger=True,
        send="objects/delete",
        fields=ref,
        said=gettext_noop("%(name)s deleted."),
        about=name,
    )


# What is only looked at


def _looks(kind: str, namespace: str, name: str, may_edit: bool) -> list[Entry]:
    out: list[Entry] = []
    if kind not in NO_OBJECTS:
        ref = urlencode({"kind": kind, "namespace": namespace, "name": name})
        title = gettext_noop("Edit YAML") if may_edit else gettext_noop("YAML")
        out.append(Entry(title, letter="e", icon="file", page=f"yaml?{ref}", form=may_edit))
    if kind == POD:
        key = quote(f"{namespace}/{name}", safe="")
        title = gettext_noop("Why not on a node")
        out.append(Entry(title, letter="w", icon="ask", page=f"why?pod={key}", form=True))
        journey = f"journey/{quote(namespace, safe='')}/{quote(name, safe='')}"
        out.append(Entry(gettext_noop("Journey"), letter="j", icon="clock", page=journey))
        if may_edit:
            title = gettext_noop("Fail or delay an API call")
            out.append(Entry(title, letter="x", icon="fail", page=f"calls?pod={key}", form=True))
    field = {NODE: "node", PLUGIN: "plugin"}.get(kind)
    if field:
        page = f"records?{urlencode({field: name})}"
        out.append(Entry(gettext_noop("History"), letter="h", icon="clock", page=page))
    if kind != PLUGIN:
        page = f"commands?{urlencode({'q': name})}"
        out.append(Entry(gettext_noop("Commands about this object"), letter="k", icon="list", page=page))
    return out


# Breakpoints, and going where one holds

_POD = (
    (gettext_noop("Break at each attempt"), {"kind": "attempt_started"}),
    (
        gettext_noop("Break when an attempt fails"),
        {"kind": "attempt_ended", "cel": 'record.data.outcome != "scheduled"'},
    ),
    (gettext_noop("Break at each move in the queue"), {"kind": "queue_moved"}),
)
_POD_SEEKS = (
    (gettext_noop("Back to the previous move"), "back", {"kind": "queue_moved"}),
    (gettext_noop("Forward to the next move"), "forward", {"kind": "queue_moved"}),
    (gettext_noop("Back to the previous attempt"), "back", {"kind": "attempt_started"}),
    (gettext_noop("Forward to the next attempt"), "forward", {"kind": "attempt_started"}),
)
_NODE = (
    (gettext_noop("Break when a plugin refuses this node"), {"point": "Filter"}),
    (gettext_noop("Break when a plugin scores this node"), {"point": "Score"}),
    (gettext_noop("Break when a pod is scheduled to this node"), {"kind": "pod_assumed"}),
)
_NODE_SEEKS = (
    (gettext_noop("Back to the previous refusal"), "back", {"point": "Filter"}),
    (gettext_noop("Forward to the next refusal"), "forward", {"point": "Filter"}),
    (gettext_noop("Back to the last pod scheduled to this node"), "back", {"kind": "pod_assumed"}),
)
_POINT: tuple[tuple[str, dict[str, str]], ...] = ((gettext_noop("Break at the start"), {}),)
_POINT_SEEKS: tuple[tuple[str, str, dict[str, str]], ...] = (
    (gettext_noop("Back to the previous start"), "back", {}),
    (gettext_noop("Forward to the next start"), "forward", {}),
)
_PLUGIN: tuple[tuple[str, dict[str, str]], ...] = ((gettext_noop("Break here"), {}),)
_PLUGIN_SEEKS: tuple[tuple[str, str, dict[str, str]], ...] = (
    (gettext_noop("Back to the previous run"), "back", {}),
    (gettext_noop("Forward to the next run"), "forward", {}),
)
_AT_PLUGIN = gettext_noop("Break at %(name)s")
_SET = gettext_noop("Breakpoint set.")
_TRAVEL = {
    POD: ("pod", _POD, _POD_SEEKS),
    NODE: ("node", _NODE, _NODE_SEEKS),
    POINT: ("point", _POINT, _POINT_SEEKS),
    PLUGIN: ("plugin", _PLUGIN, _PLUGIN_SEEKS),
}


def _travel(kind: str, key: str, may_edit: bool, plugins: Iterable[str], point: str = "") -> list[list[Entry]]:
    if kind not in _TRAVEL:
        return []
    field, breaks, seeks = _TRAVEL[kind]
    about = {field: key, **({"point": point} if kind == PLUGIN and point else {})}
    stops = [_break(title, {**fields, **about}) for title, fields in breaks]
    at = [_break(_AT_PLUGIN, {**about, "plugin": name}, name) for name in plugins if kind == POINT]
    seek = [
        Entry(title, icon="break-back" if way == "back" else "break", seek=way, fields={**fields, **about})
        for title, way, fields in seeks
    ]
    more = Entry(gettext_noop("Breakpoints"), icon="list", page=f"breakpoints?{urlencode(about)}", form=True)
    return [[*stops, *at], seek, [more]] if may_edit else [seek]


def _break(title: str, fields: dict[str, str], about: str = "") -> Entry:
    letter = "b" if title in (_PLUGIN[0][0], _POINT[0][0]) else ""
    return Entry(title, letter=letter, icon="dot", send="breakpoints", fields=fields, said=_SET, about=about)

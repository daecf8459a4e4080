"""The inspector: the details of one object, with one module for each tab (presenters/look.py lists the tabs)."""

from collections.abc import Callable, Mapping
from functools import lru_cache
from importlib import import_module
from typing import Any, NotRequired, TypedDict

from playground.presenters.inspector.node import chosen
from playground.presenters.inspector.objects import find_chosen_object
from playground.presenters.look import TABS, Look
from playground.presenters.panel import Panel
from playground.presenters.scene import binding_of, find_pod, scheduler_of, short, subject, table_of
from playground.presenters.words import Message, gettext_noop, message
from scheduler_core.world.readonly import WorldView

# The inspector's heading: its subject, the state in a word or two, and the object of its menu.


class Heading(TypedDict):
    """`menu`, with `key`: a pod or a node; `object`: anything else. `waits`: the pod waits on Permit, so that a user may decide."""

    about: str
    kind: str
    name: str
    menu: str
    key: NotRequired[str]
    object: NotRequired[str]
    words: list[Message]
    pinned: bool
    waits: bool


def heading(sim: WorldView, look: Look, key: str) -> Heading | None:
    """Return the heading, or None without a subject."""
    if look.about in ("claim", "controller") and getattr(look, look.about):
        ref = find_chosen_object(sim, look)
        kind, namespace, name = ref if ref is not None else ("", "", getattr(look, look.about))
        written = "/".join(part for part in (kind, namespace, name) if part)
        return {
            "about": look.about,
            "kind": kind or gettext_noop("Controller"),
            "name": name,
            "menu": "",
            "object": written if ref is not None else f"Controller/{name}",
            "words": [],
            "pinned": True,
            "waits": False,
        }
    if look.about == "node" and (name := chosen(sim, look)):
        table = table_of(scheduler_of(sim))
        row = table.row(name)
        node = table.nodes[row] if row is not None else None
        words: list[Message] = []
        if node is not None and node.unschedulable:
            words.append(message("cordoned"))
        if node is not None and node.ready and node.ready != "True":
            words.append(message("Ready=%(status)s", status=node.ready))
        return {
            "about": "node",
            "kind": gettext_noop("Node"),
            "name": name,
            "menu": "node",
            "key": name,
            "words": words,
            "pinned": bool(look.node),
            "waits": False,
        }
    return _pod(sim, look, key) if key else None


def _pod(sim: WorldView, look: Look, key: str) -> Heading:
    inspected = find_pod(sim, key)
    words: list[Message] = []
    if inspected is not None:
        words.append(message("priority %(number)s", number=inspected.priority))
    if place := sim.journal.place(key):
        words.append(message(str(place)))
    return {
        "about": "pod",
        "kind": gettext_noop("Pod"),
        "name": short(key),
        "menu": "pod",
        "key": key,
        "words": words,
        "pinned": bool(look.pod),
        "waits": (binding := binding_of(sim, key)) is not None and bool(binding.waiting),
    }


_BODIES: dict[str, Callable[[WorldView, Look, str], Mapping[str, object]]] = {
    name: import_module(f"{__name__}.{name}").present for name in TABS
}


class TabLink(TypedDict):
    name: str
    title: str
    href: str


class InspectorContext(TypedDict):
    tab: str
    tabs: list[TabLink]
    subject: Heading | None
    body: Mapping[str, object]


def present(sim: WorldView, look: Look) -> Panel[InspectorContext, Any]:
    """Return the chosen tab for the object that was chosen last, else for the pod of the present cycle."""
    key = subject(sim, look.pod)
    context: InspectorContext = {
        "tab": look.tab,
        "tabs": _tabs(look),
        "subject": heading(sim, look, key),
        "body": _BODIES[look.tab](sim, look, key),
    }
    return Panel("inspector", context)


@lru_cache(maxsize=256)
def _tabs(look: Look) -> list[TabLink]:
    return [{"name": name, "title": title, "href": look.href(tab=name)} for name, title in TABS.items()]

"""What a group of pods is called."""

from __future__ import annotations

from typing import Any

from playground.presenters.queues.groups import NO_OWNER, Group, Label, reasons
from playground.presenters.words import exactly, gettext_noop, message
from scheduler_core.view import WorldView


def title_of(sim: WorldView, by: str, group: Group) -> dict[str, Any]:
    """`title`, and `plugins` where it is known who refused the pods. Reasons stand in the order that the first pod met them in."""
    if by == "priority":
        return {
            "title": message(gettext_noop("priority %(priority)s"), priority=group.label[0]),
            "plugins": [],
        }
    if by == "owner":
        return {"title": _owner(group.label), "plugins": []}
    plugin, *texts = group.label
    if by == "reason" and group.pods:
        texts = reasons(sim, group.first)
    plugins = plugin.split(", ") if plugin else []
    return {"title": exactly(", ".join(texts or plugins)), "plugins": plugins}


def _owner(label: Label) -> Any:
    if label == NO_OWNER:
        return message(gettext_noop("no owner"))
    return exactly("/".join(label))

"""The same object once more, under the next free name."""

from __future__ import annotations

import re
from typing import Any

from playground.workbench.actions.contract import Action, Field, Subject, Values, gettext_noop
from scheduler_core.world.commands import ApplyObjects, CreateObject

MOST = 100
HOSTNAME = "kubernetes.io/hostname"
_OWN = ("name", "uid", "resourceVersion", "generation", "creationTimestamp", "ownerReferences", "generateName")
_GIVEN = "node.kubernetes.io/"  # taints that controllers give


def _copy(subject: Subject, name: str) -> dict[str, Any]:
    meta = {key: value for key, value in (subject.part("metadata") or {}).items() if key not in _OWN}
    bare = {key: value for key, value in subject.manifest.items() if key != "status"}
    made = _node(subject) if subject.kind == "Node" else _pod(subject)
    if HOSTNAME in (meta.get("labels") or {}):
        meta["labels"] = {**meta["labels"], HOSTNAME: name}
    return {**bare, "metadata": {**meta, "name": name}, **made}


def _node(subject: Subject) -> dict[str, Any]:
    spec = dict(subject.part("spec") or {})
    kept = [each for each in spec.get("taints") or () if not str(each.get("key")).startswith(_GIVEN)]
    status = subject.part("status") or {}
    amounts = {part: status[part] for part in ("capacity", "allocatable") if part in status}
    return {"spec": {**spec, "taints": kept}, "status": amounts}


def _pod(subject: Subject) -> dict[str, Any]:
    """Admission says what the priority is."""
    gone = ("nodeName", "priority", "preemptionPolicy")
    return {"spec": {name: value for name, value in (subject.part("spec") or {}).items() if name not in gone}}


def _names(first: str, count: int) -> list[str]:
    """`api-5`, `api-6` ..., or `first`, `first-2` ... where it has no number."""
    counted = re.fullmatch(r"(.*?)(\d{1,9})", first)
    if counted is None:
        return [first, *(f"{first}-{i}" for i in range(2, count + 1))]
    return [f"{counted[1]}{int(counted[2]) + i}" for i in range(count)]


def _duplicate(subject: Subject, values: Values) -> ApplyObjects | CreateObject:
    copies = tuple(_copy(subject, name) for name in _names(values["copy"], values["count"]))
    return CreateObject(copies[0]) if len(copies) == 1 else ApplyObjects(copies, create_only=True)


DUPLICATE = Action(
    "duplicate",
    ("Node", "Pod"),
    gettext_noop("Duplicate"),
    gettext_noop("Creates the same object again from its original manifest. A pod is scheduled, a node starts empty."),
    gettext_noop("%(name)s duplicated."),
    _duplicate,
    (
        Field("copy", "text", gettext_noop("Name"), required=True, initial=lambda subject: subject.free),
        Field(
            "count", "number", gettext_noop("How many"), required=True, initial=lambda subject: 1, least=1, most=MOST
        ),
    ),
    letter="u",
    icon="copy",
)

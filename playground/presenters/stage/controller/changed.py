"""The objects that the last transition created, changed or deleted."""

from dataclasses import dataclass
from typing import TypedDict

from playground.presenters.scene import short
from playground.presenters.words import gettext_noop
from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.base.trace.kinds import ObjectChanged
from scheduler_core.world.readonly import WorldView

MOST = 200
_WHAT = {"ADDED": gettext_noop("created"), "MODIFIED": gettext_noop("changed"), "DELETED": gettext_noop("deleted")}


@dataclass(frozen=True, slots=True)
class Changed:
    """An object, what was done to it, and as it is now: None where it has gone."""

    kind: str
    namespace: str
    name: str
    what: str
    now: Manifest | None

    @property
    def key(self) -> str:
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


class ChangeTable(TypedDict):
    rows: list[dict[str, str]]
    more: int


@dataclass(frozen=True, slots=True)
class AllChanged:
    """The objects of the first MOST records; `more` is the number of records that were not read."""

    objects: tuple[Changed, ...]
    more: int

    def of(self, *kinds: str) -> list[Changed]:
        return [each for each in self.objects if each.kind in kinds]

    def table(self) -> ChangeTable:
        rows = [
            {
                "kind": each.kind,
                "key": each.key,
                "name": short(each.key),
                "what": _WHAT.get(each.what, each.what),
                "now": _now(each.now),
            }
            for each in self.objects
        ]
        return {"rows": rows, "more": self.more}


def collect_changes(sim: WorldView) -> AllChanged:
    """Each object once; one that was created and changed was created."""
    found: dict[tuple[str, str, str], str] = {}
    for record in sim.last[:MOST]:
        facts = record.of(ObjectChanged)
        if facts is not None:
            key = (facts.kind, facts.namespace, facts.name)
            created = found.get(key) == "ADDED" and facts.type == "MODIFIED"
            found[key] = "ADDED" if created else facts.type
    objects = (
        Changed(kind, namespace, name, what, sim.store.get(kind, namespace, name))
        for (kind, namespace, name), what in found.items()
    )
    return AllChanged(tuple(objects), max(len(sim.last) - MOST, 0))


def _now(manifest: Manifest | None) -> str:
    """Return an object's present state in kube's own words: its phase, its node, its replica counts, and its deletion."""
    if manifest is None:
        return ""
    spec, status = manifest.get("spec") or {}, manifest.get("status") or {}
    words = [str(status["phase"])] if status.get("phase") else []
    words += [str(spec["nodeName"])] if spec.get("nodeName") else []
    for name, value in (("replicas", spec.get("replicas")), ("readyReplicas", status.get("readyReplicas"))):
        words += [f"{name} {value}"] if value is not None else []
    if (manifest.get("metadata") or {}).get("deletionTimestamp"):
        words.append("deletionTimestamp")
    return " · ".join(words)

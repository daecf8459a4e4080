"""Kubernetes Events: reports of components about objects, in a list apart from the objects."""

from dataclasses import dataclass
from typing import Any

from scheduler_core.apiserver.kinds import KINDS
from scheduler_core.base.trace.kinds import EventRecorded

NORMAL, WARNING = "Normal", "Warning"


@dataclass(frozen=True, slots=True)
class KubeEvent:
    """One Event: virtual time (ns), Normal or Warning, kube's reason, the object, the text, and the reporter."""

    t: int
    type: str
    reason: str
    kind: str
    namespace: str
    name: str
    message: str
    reporter: str
    count: int = 1
    action: str = ""
    related: str = ""  # key of the other pod that it is about
    version: str = ""  # resourceVersion of the object as a scheduler knew it

    def facts(self) -> EventRecorded:
        """Return the record of the event."""
        return EventRecorded(
            self.t,
            self.type,
            self.reason,
            self.kind,
            self.namespace,
            self.name,
            self.message,
            self.reporter,
            self.count,
            self.action,
            self.related,
        )

    def manifest(self, index: int, timestamp: str) -> dict[str, Any]:
        """Return the Event in kubectl's form; `index` makes the name unique."""
        known = KINDS.get(self.kind)
        involved = {"kind": self.kind, "namespace": self.namespace, "name": self.name}
        if known is not None and not known.group:
            involved["apiVersion"] = "v1"
        return {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": f"{self.name}.{index:x}", "namespace": self.namespace or "default"},
            "involvedObject": involved,
            "type": self.type,
            "reason": self.reason,
            "message": self.message,
            "count": self.count,
            "firstTimestamp": timestamp,
            "lastTimestamp": timestamp,
            "source": {"component": self.reporter},
            "reportingComponent": self.reporter,
            **({"action": self.action} if self.action else {}),
        }

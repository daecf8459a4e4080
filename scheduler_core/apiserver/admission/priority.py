"""Priority admission: a pod's priorityClassName becomes its priority and preemption policy.

DEVIATION: a pod that comes with a priority of its own and without a known class keeps it, since a dump of
pods alone names classes it does not hold.

kube: plugin/pkg/admission/priority/admission.go @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from scheduler_core.apimachinery.objects.errors import FieldError

SYSTEM_CLASSES = {"system-node-critical": 2_000_001_000, "system-cluster-critical": 2_000_000_000}
PREEMPT = "PreemptLowerPriority"


class PriorityClasses:
    """The classes in force: those of the store and those of the request, by name."""

    def __init__(self, manifests: Iterable[Mapping[str, Any]]) -> None:
        self._values = dict(SYSTEM_CLASSES)
        self._policies: dict[str, str] = {}
        self._default = ""
        for manifest in manifests:
            name = manifest["metadata"]["name"]
            self._values[name] = manifest.get("value") or 0
            self._policies[name] = manifest.get("preemptionPolicy") or PREEMPT
            if manifest.get("globalDefault") and self._is_default(name):
                self._default = name

    def _is_default(self, name: str) -> bool:
        """Return whether a class becomes the default: of several global defaults, the lowest value wins."""
        return not self._default or self._values[name] < self._values[self._default]

    def resolve(self, spec: dict[str, Any]) -> list[FieldError]:
        """Sets priority, class and policy of a spec (a copy); errors where the class is not there or says
        otherwise.
        """
        name, priority = spec.get("priorityClassName") or "", spec.get("priority")
        if not name and priority is None and self._default:
            name = spec["priorityClassName"] = self._default
        if name and name not in self._values:
            if priority is None:
                return [_forbidden("spec.priorityClassName", f"no PriorityClass with name {name} was found")]
        elif name and priority is not None and priority != self._values[name]:
            return [_forbidden("spec.priority", _MISMATCH % (priority, self._values[name]))]
        if priority is None:
            spec["priority"] = self._values.get(name, 0)
        if not spec.get("preemptionPolicy"):
            spec["preemptionPolicy"] = self._policies.get(name, PREEMPT)
        return []


_MISMATCH = (
    "the integer value of priority (%d) must not be provided in pod spec; "
    "priority admission controller computed %d from the given PriorityClass name"
)


def _forbidden(path: str, detail: str) -> FieldError:
    return FieldError(path, "", detail, kind="Forbidden")

"""Status: a plugin's result, as in kube's framework.

kube: staging/src/k8s.io/kube-scheduler/framework/interface.go @ v1.34.1
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field

from scheduler_core.base.state import Derived
from scheduler_core.base.trace.kinds import StatusData


class Code(enum.IntEnum):
    """Status codes with kube's numbers."""

    SUCCESS = 0
    ERROR = 1
    UNSCHEDULABLE = 2
    UNRESOLVABLE = 3
    WAIT = 4
    SKIP = 5
    PENDING = 6

    @property
    def kube_name(self) -> str:
        """The name as kube prints it, such as UnschedulableAndUnresolvable."""
        return _KUBE_NAMES[self]


_KUBE_NAMES = {code: code.name.capitalize() for code in Code}
_KUBE_NAMES[Code.UNRESOLVABLE] = "UnschedulableAndUnresolvable"

# Bound once: Python code looks up a member of an enum (3.11), for twenty times the price of a name.
_SUCCESS, _SKIP = Code.SUCCESS, Code.SKIP
REJECTIONS = (Code.UNSCHEDULABLE, Code.UNRESOLVABLE, Code.PENDING)


@dataclass(frozen=True, slots=True)
class Status:
    """A plugin's result: a code, the reasons in kube's words, and the plugin (set by the runtime)."""

    code: Code = Code.SUCCESS
    reasons: tuple[str, ...] = ()
    plugin: str = ""
    _signed: Derived[dict[str, Status]] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def ok(self) -> bool:
        return self.code is _SUCCESS

    @property
    def skipped(self) -> bool:
        return self.code is _SKIP

    @property
    def rejected(self) -> bool:
        """True if the pod is rejected (as opposed to an internal error)."""
        return self.code in REJECTIONS

    @property
    def message(self) -> str:
        return ", ".join(self.reasons)

    def by(self, plugin: str) -> Status:
        """Return the status signed by a plugin. A signed status stays unchanged."""
        if self.plugin:
            return self
        signed = self._signed.get(plugin)
        if signed is None:
            signed = self._signed[plugin] = Status(self.code, self.reasons, plugin)
        return signed

    def to_json(self) -> StatusData:
        return {"code": self.code.kube_name, "plugin": self.plugin, "reasons": list(self.reasons)}


SUCCESS = Status()
SKIP = Status(Code.SKIP)


def unschedulable(*reasons: str) -> Status:
    return Status(Code.UNSCHEDULABLE, reasons)


def unresolvable(*reasons: str) -> Status:
    return Status(Code.UNRESOLVABLE, reasons)


def error(*reasons: str) -> Status:
    return Status(Code.ERROR, reasons)


def pending(*reasons: str) -> Status:
    return Status(Code.PENDING, reasons)

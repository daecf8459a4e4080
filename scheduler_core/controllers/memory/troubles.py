"""Signs that controllers undo each other's work: who wrote a field last, and how soon the objects of an owner end."""

from __future__ import annotations

from dataclasses import dataclass, field

from scheduler_core.base.state import Copied, State


@dataclass(frozen=True, slots=True)
class FieldWrite:
    """The last write of a field: by which controller for which key, and `against` whom; when (ns), a digest of what it was before, and
    how often in a row such a write has put back what another had changed, since when (ns).
    """

    controller: str
    key: str
    against: tuple[str, str]
    t: int
    before: str
    swings: int
    since: int


@dataclass(frozen=True, slots=True)
class EarlyEnds:
    """The times (ns) when an owner's objects ended soon after creation, and the controller behind the last end."""

    owner: str
    kind: str
    by: str
    times: tuple[int, ...]


@dataclass(slots=True)
class Troubles(State):
    """`fields` by object and path, `early` by the owner's uid; the oldest of many are forgotten."""

    fields: Copied[dict[str, FieldWrite]] = field(default_factory=dict)
    early: Copied[dict[str, EarlyEnds]] = field(default_factory=dict)

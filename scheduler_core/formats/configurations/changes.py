"""What differs between a configuration of an older version and what it becomes, told to the person who wrote it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["moved", "kept", "dropped", "lost"]


@dataclass(frozen=True, slots=True)
class Change:
    """One difference. `path` is a field of the document as it was written, "" where nothing was written.

    moved: the same is said elsewhere or otherwise; kept: written out now, as today's default differs; dropped: it says nothing today;
    lost: v1 can't express it, and `effect` says what differs.
    """

    kind: Kind
    path: str
    text: str
    effect: str = ""


@dataclass(frozen=True, slots=True)
class Migration:
    """A configuration as v1 has it, what was `version` and which release it was read as, and all that differs."""

    manifest: Mapping[str, Any]
    version: str
    release: str
    changes: tuple[Change, ...]

    @property
    def lossy(self) -> bool:
        """True if the result makes some decisions differently."""
        return any(change.kind == "lost" for change in self.changes)

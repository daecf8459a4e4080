"""What a condition may look like (conditions.py says what each means): checked before a world is asked, as people write these."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

Varying = Annotated[str, msgspec.Meta(pattern=r"^\$\([A-Za-z_]+\)$")]
"""The name of a value that the lesson's variants draw, in place of a number."""
OF_A_POD = ("point", "outcome", "said", "evaluated", "place", "on", "woken")


class When(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A condition."""

    pod: str | None = None
    attempt: int | Varying = 1
    point: str | None = None
    outcome: Literal["scheduled", "unschedulable", "error"] | None = None
    evaluated: int | Varying | None = None
    said: str | None = None
    place: str | None = None
    times: int | Varying = 1
    woken: str | None = None
    event: str | None = None
    scheduler: str | None = None
    stage: str | None = None
    exists: str | None = None
    lacks: str | None = None
    position: int | Varying | None = None
    seconds: float | Varying | None = None
    on: str | None = None
    field: list[str | int] | None = None
    value: Any = msgspec.field(default=None, name="is")
    any: list[When] = []
    all: list[When] = []

    @property
    def count(self) -> int:
        """The number of conditions in it."""
        return 1 + sum(each.count for each in (*self.any, *self.all))

    def missing(self) -> str:
        """Return a description of the missing part; empty if the condition is complete."""
        words = [word for word in OF_A_POD if getattr(self, word) is not None]
        if words and self.pod is None:
            return f"{words[0]} is about a pod: pod is expected beside it"
        if (self.scheduler is None) != (self.stage is None):
            return "scheduler and stage are expected together"
        if self.field is not None and (
            len(self.field) < 2 or not all(isinstance(e, str) for e in self.field[:2])
        ):
            return "field is a list: a kind, a name, and the keys down to the value"
        return next((why for each in (*self.any, *self.all) if (why := each.missing())), "")

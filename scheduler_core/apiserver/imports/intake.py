"""What becomes of a text's objects before anything is made of them: credentials go, names are changed where that is wished, and the times
of a snapshot are moved to the world's clock.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from typing import Any

from scheduler_core.apiserver.imports.credentials import without_credentials
from scheduler_core.apiserver.imports.renaming import rename_manifests
from scheduler_core.apiserver.imports.times import moving
from scheduler_core.apiserver.store import Store

SOME = 100  # objects that are looked at before others may work


@dataclass(frozen=True, slots=True)
class Intake:
    """The objects in the order given; `left_out` counts credentials by their sort, `shift` is in ns.

    Where they were renamed, `names` are the old and the new ones, and None stands for objects that decide nothing: `unneeded` of them.
    """

    objects: list[Any]
    left_out: Counter[str] = field(default_factory=Counter)
    shift: int = 0
    names: list[tuple[str, str]] = field(default_factory=list)
    unneeded: int = 0


def take_in(store: Store, now: int, manifests: Sequence[Any], rename: bool = False) -> Intake:
    """Objects as they may be kept."""
    taking = taking_in(store, now, manifests, rename)
    while True:
        try:
            next(taking)
        except StopIteration as end:
            intake: Intake = end.value
            return intake


def taking_in(store: Store, now: int, manifests: Sequence[Any], rename: bool = False) -> Generator[int, None, Intake]:
    """The same, some objects at a time; says how many there have been, each of which is looked at three times."""
    left_out: Counter[str] = Counter()
    cleaned: list[Any] = []
    for start in range(0, len(manifests), SOME):
        cleaned += without_credentials(manifests[start : start + SOME], left_out)
        yield len(cleaned)
    names: list[tuple[str, str]] = []
    unneeded = 0
    if rename:
        others = rename_manifests(cleaned)
        cleaned, names, unneeded = others.objects, others.names, others.left_out
    objects, shift = yield from moving(store, now, cleaned)
    return Intake(objects, left_out, shift, names, unneeded)

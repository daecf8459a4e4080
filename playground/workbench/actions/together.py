"""Commands that can be made of one object and of many at once; of many they are one command, so that one Undo takes it back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from playground.workbench.actions.contract import Subject, Values
from scheduler_core.world.commands import ApplyObjects, DeleteObjects, PatchObject, merge_patch

Patch = Mapping[str, Any]


@dataclass(frozen=True)
class Patching:
    """A merge patch of an object."""

    patch: Callable[[Subject, Values], Patch]

    def __call__(self, subject: Subject, values: Values) -> PatchObject:
        return PatchObject(subject.ref, self.patch(subject, values))

    def together(self, subjects: Sequence[Subject], values: Values) -> ApplyObjects:
        """All of them as they are then."""
        return ApplyObjects(tuple(merge_patch(each.manifest, self.patch(each, values)) for each in subjects))


@dataclass(frozen=True)
class Deleting:
    """An object is deleted; `options` are the other fields of the command."""

    options: Callable[[Values], Mapping[str, Any]] = lambda values: {}

    def __call__(self, subject: Subject, values: Values) -> DeleteObjects:
        return self.together([subject], values)

    def together(self, subjects: Sequence[Subject], values: Values) -> DeleteObjects:
        return DeleteObjects(tuple(each.ref for each in subjects), **self.options(values))

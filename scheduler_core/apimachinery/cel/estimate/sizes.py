"""Sizes that are declared for variables, found by path: device.attributes["a"].b is
("device", "attributes", "@values", "b").

kube: dynamic-resource-allocation/cel/compile.go (sizeEstimator) @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from scheduler_core.apimachinery.cel.estimate.ranges import Range


@dataclass(frozen=True, slots=True)
class Declared:
    """`most` characters or elements; of an object its fields, of a list or map its keys and elements. `by_name`:
    elements are also found by a field's name.
    """

    most: int
    fields: Mapping[str, Declared] = field(default_factory=dict)
    key: Declared | None = None
    element: Declared | None = None
    by_name: bool = False

    def step(self, name: str) -> Declared | None:
        if name in ("@items", "@values"):
            return self.element
        if name == "@keys":
            return self.key
        found = self.fields.get(name)
        return found if found is not None or not self.by_name else self.element


def find_declared_size(roots: Mapping[str, Declared], path: Sequence[str]) -> Range | None:
    """The size at a path, None where none is declared."""
    current = roots.get(path[0]) if path else None
    for name in path[1:]:
        if current is None:
            return None
        current = current.step(name)
    return None if current is None else Range(0, current.most)

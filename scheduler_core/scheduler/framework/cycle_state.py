"""CycleState: what plugins remember between the points of one cycle.

kube: framework/cycle_state.go @ v1.34.1
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from scheduler_core.base.state import Copied, Shared, State

PODS_TO_ACTIVATE = "kubernetes.io/pods-to-activate"  # keys of pods that a plugin wants in the active queue


@dataclass(slots=True, eq=False)
class CycleState(State):
    """Values by plugin key, plus the plugins that asked to be skipped.

    Values are treated as immutable: a plugin writes a new one instead of changing one in place, so that a copy of a cycle shares them.
    `notes` are values that what-ifs add to as well: kube's plugins do so where a state's Clone is the state itself.
    """

    values: Copied[dict[str, Shared[Any]]] = field(default_factory=dict)
    notes: Copied[dict[str, Shared[Any]]] = field(default_factory=dict)
    skip_filter: tuple[str, ...] = ()
    skip_score: tuple[str, ...] = ()

    def write(self, key: str, value: Any) -> None:
        self.values[key] = value

    def read(self, key: str) -> Any:
        """The value written under the key; KeyError where there is none."""
        return self.values[key]

    def get(self, key: str) -> Any | None:
        return self.values.get(key)

    def what_if(self) -> CycleState:
        """A copy for a what-if, whose notes are this one's."""
        twin: CycleState = self.copy()
        twin.notes = self.notes
        return twin

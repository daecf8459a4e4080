"""CycleState: the data that plugins store between the extension points of one cycle.

kube: framework/cycle_state.go @ v1.34.1
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from scheduler_core.base.state import Copied, Shared, State

PODS_TO_ACTIVATE = "kubernetes.io/pods-to-activate"  # keys of pods that a plugin wants in the active queue


@dataclass(slots=True, eq=False)
class CycleState(State):
    """Values by plugin key, and the plugins that returned Skip.

    Values are immutable: a plugin writes a new value instead of changing one, so that a copy of a cycle shares them. `notes` are values
    that what-ifs also add to: kube's plugins do so if a state's Clone is the state itself.
    """

    values: Copied[dict[str, Shared[Any]]] = field(default_factory=dict)
    notes: Copied[dict[str, Shared[Any]]] = field(default_factory=dict)
    skip_filter: tuple[str, ...] = ()
    skip_score: tuple[str, ...] = ()

    def write(self, key: str, value: Any) -> None:
        self.values[key] = value

    def read(self, key: str) -> Any:
        """Return the value of a key. Raise KeyError if there is none."""
        return self.values[key]

    def get(self, key: str) -> Any | None:
        return self.values.get(key)

    def what_if(self) -> CycleState:
        """Return a copy for a what-if, which shares the notes."""
        twin: CycleState = self.copy()
        twin.notes = self.notes
        return twin

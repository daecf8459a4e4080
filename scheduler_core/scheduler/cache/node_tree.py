"""The order of nodes: zones in order of their first node, one node of each zone in turn.

kube: backend/cache/node_tree.go @ v1.34.1
"""

from dataclasses import dataclass, field

from scheduler_core.base.state import Copied, State


@dataclass(slots=True, eq=False)
class NodeTree(State):
    """Node names by zone; `order()` walks the zones in turn."""

    _zones: Copied[dict[str, tuple[str, ...]]] = field(default_factory=dict)

    def add(self, zone: str, name: str) -> None:
        """Add a name that the tree does not have yet."""
        self._zones[zone] = (*self._zones.get(zone, ()), name)

    def remove(self, zone: str, name: str) -> None:
        left = tuple(member for member in self._zones.get(zone, ()) if member != name)
        if left:
            self._zones[zone] = left
        else:
            self._zones.pop(zone, None)

    def order(self) -> list[str]:
        """Return all names: the first of every zone, then the second of every zone, and so on."""
        zones = list(self._zones.values())
        longest = max(map(len, zones), default=0)
        return [zone[i] for i in range(longest) for zone in zones if i < len(zone)]

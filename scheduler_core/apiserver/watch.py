"""Watch events: changes of a store. Subscribers are notified at once, in the order of subscription."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from scheduler_core.apimachinery.objects import Node, Pod

ADDED, MODIFIED, DELETED = "ADDED", "MODIFIED", "DELETED"


class WatchEvent(NamedTuple):
    """A change. `old` and `new` are manifests (None before ADDED and after DELETED); pods and nodes are also parsed."""

    type: str
    kind: str
    old: Mapping[str, Any] | None
    new: Mapping[str, Any] | None
    old_pod: Pod | None = None
    new_pod: Pod | None = None
    old_node: Node | None = None
    new_node: Node | None = None

    @property
    def name(self) -> str:
        return str((self.new or self.old or {})["metadata"]["name"])

    @property
    def namespace(self) -> str:
        return str((self.new or self.old or {})["metadata"].get("namespace", ""))


Subscriber = Callable[[WatchEvent], None]

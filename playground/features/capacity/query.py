"""The request for nodes to add, and for nodes that can be removed."""

from typing import Literal

from playground.sessions.protocol.base import Data, Query

Part = Literal["help", "go"]


class Capacity(Query[Data], frozen=True, kw_only=True):
    """One part of the answer. `types` is YAML with node types and prices. The search takes at most `seconds`.

    `of`: the pod NS/NAME, or the workload KIND/NS/NAME, that needs nodes; "": all pending pods.
    """

    part: Part
    seconds: float
    types: str = ""
    of: str = ""

"""The request for nodes that help, or that can go."""

from typing import Literal

from playground.sessions.protocol.base import Data, Query

Part = Literal["help", "go"]


class Capacity(Query[Data], frozen=True, kw_only=True):
    """One part of the answer; `types` is YAML that names node types and prices. The search takes at most `seconds`.

    `of`: the pod NS/NAME, or the pods of the workload KIND/NS/NAME, that need nodes; "": all that wait.
    """

    part: Part
    seconds: float
    types: str = ""
    of: str = ""

"""The request of the cluster page."""

from typing import Literal

from playground.sessions.protocol.base import Data, Query


class Cluster(Query[Data], frozen=True, kw_only=True):
    """The request for the state of the components around the schedulers: one part, or one node, pool of devices, or claim by name.

    `q` and `state` filter the rows of devices and claims; `page` selects a page of them.
    """

    part: "Part"
    name: str
    q: str = ""
    state: str = ""
    page: int = 0


Part = Literal["controllers", "nodes", "budgets", "rollouts", "replicas", "devices", "claims"]

"""The request of the search for devices."""

from __future__ import annotations

from playground.sessions.protocol.base import Data, Query


class DeviceSearch(Query[Data | None], frozen=True, kw_only=True):
    """The search for devices that Filter made for a pod on a node, walked again (presenter.py); at most so many rows.

    None where the pod has had no cycle in which devices were searched for.
    """

    pod: str
    node: str
    most: int

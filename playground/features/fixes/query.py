"""The request for fixes. (WhyNot stands in the protocol, since classrooms ask it too.)"""

from __future__ import annotations

from playground.sessions.protocol.base import Data, Query


class Fixes(Query[Data], frozen=True, kw_only=True):
    """The proven fixes for a pod that does not fit; the search takes at most `seconds`.

    `first`: the search ends at the first fix. `longer`: proofs may take hours of the controllers' time.
    """

    pod: str
    seconds: float
    first: bool = False
    longer: bool = False

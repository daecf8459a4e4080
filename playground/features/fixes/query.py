"""The requests for problems and fixes. (WhyNot is in the protocol, because classrooms also use it.)"""

from playground.sessions.protocol.base import Data, Query


class Fixes(Query[Data], frozen=True, kw_only=True):
    """The proven fixes for a pending pod. The search takes at most `seconds`, and ends after `most` fixes.

    `first`: end at the first fix. `longer`: proofs may take hours of the controllers' time.
    """

    pod: str
    seconds: float
    most: int = 12
    first: bool = False
    longer: bool = False


class Problems(Query[Data], frozen=True, kw_only=True):
    """All objects in an unwanted state. The search takes at most `seconds`."""

    seconds: float

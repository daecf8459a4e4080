"""The requests for problems and fixes. (WhyNot is in the protocol, since classrooms ask it too.)"""

from playground.sessions.protocol.base import Data, Query


class Fixes(Query[Data], frozen=True, kw_only=True):
    """The proven fixes for a pod that does not fit; the search takes at most `seconds`, and ends once it has found `most`.

    `first`: the search ends at the first fix. `longer`: proofs may take hours of the controllers' time.
    """

    pod: str
    seconds: float
    most: int = 12
    first: bool = False
    longer: bool = False


class Problems(Query[Data], frozen=True, kw_only=True):
    """Everything that is not as its owner wants it; the search takes at most `seconds`."""

    seconds: float

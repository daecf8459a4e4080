"""The requests for the page about external schedulers."""

from playground.sessions.protocol.base import Data, Query


class AskOutside(Query[Data], frozen=True, kw_only=True):
    """The request for the preparation of a world for an external scheduler, and for its progress: `asked` are its commands so far,
    `waiting` pods without a node, and `undecided` those of them that no scheduler has tried. With `configured`, also the configuration of
    the built-in scheduler.
    """

    configured: bool = False


class SecondOpinion(Query[Data], frozen=True, kw_only=True):
    """Compare external schedulers, up to a position, with the built-in one from where it was stopped. Takes at most `seconds`; repeat the
    request to continue.

    `seed`: the seed of the built-in scheduler's draws.
    """

    seconds: float
    seed: int | None = None


class AuditBinding(Query[Data], frozen=True, kw_only=True):
    """The request for the verdicts of our filters on each node, just before a pod was bound."""

    pod: str

"""The requests of the page about schedulers from outside."""

from playground.sessions.protocol.base import Data, Query


class AskOutside(Query[Data], frozen=True, kw_only=True):
    """Ask how a world is prepared for a scheduler from outside, and how far one is: `asked` are commands so far, `waiting` pods without
    a node, `undecided` those of them that no scheduler has tried. With `configured` the configuration that ours had, too.
    """

    configured: bool = False


class SecondOpinion(Query[Data], frozen=True, kw_only=True):
    """Compare schedulers from outside, up to a position, with ours from where it was stopped, or go on with that for `seconds`.

    `seed`: of our draws.
    """

    seconds: float
    seed: int | None = None


class AuditBinding(Query[Data], frozen=True, kw_only=True):
    """Ask our filters about each node right before a pod was bound."""

    pod: str

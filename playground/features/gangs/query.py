"""The request for the page that compares Coscheduling and pod groups on a session's own gangs."""

from playground.sessions.protocol.base import Data, Query
from scheduler_core.analysis.gangs import Way


class SessionGangs(Query[Data], frozen=True, kw_only=True):
    """The outcome of each way for the gangs of a step's world, or the commands that rebuild the world in one `way`."""

    way: Way | None = None

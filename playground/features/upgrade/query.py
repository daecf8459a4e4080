"""The request for the page that previews an upgrade."""

from playground.sessions.protocol.base import Data, Query
from scheduler_core.scheduler.config import Release


class UpgradePreview(Query[Data], frozen=True, kw_only=True):
    """The differences of a step's world under another release. Takes at most `seconds`; repeat the request with the `token` to continue."""

    token: str
    target: Release
    seconds: float

"""The request of the page that previews an upgrade."""

from playground.sessions.protocol.base import Data, Query
from scheduler_core.scheduler.config import Release


class UpgradePreview(Query[Data], frozen=True, kw_only=True):
    """The differences of a step's world under another release, worked on for `seconds`; whoever asks again with the `token` goes on."""

    token: str
    target: Release
    seconds: float

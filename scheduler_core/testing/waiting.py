"""What a handle says of pods that wait on Permit where no pod ever waits."""

from __future__ import annotations

from scheduler_core.scheduler.framework.plugin import WaitingPod


class NobodyWaits:
    """The part of a Handle that is about waiting pods, and about the time, which stands still."""

    now = 0

    def waiting_pods(self) -> list[WaitingPod]:
        return []

    def waiting_pod(self, uid: str) -> WaitingPod | None:
        return None

    def reject_waiting_pod(self, uid: str) -> bool:
        return False

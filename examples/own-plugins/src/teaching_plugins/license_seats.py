"""LicenseSeats: no more pods with the label `license` than there are seats. Shows what follows the choice of a node.

A plugin keeps nothing in itself: it is made anew wherever a world is copied. What has to last longer than a cycle stands in
`handle.assumed`, which belongs to the scheduler; what is there is replaced, never changed.
"""

from __future__ import annotations

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.apimachinery.objects.strict import INTEGER64
from scheduler_core.scheduler.framework.arguments import Arguments, when_absent
from scheduler_core.scheduler.framework.cycle_state import CycleState
from scheduler_core.scheduler.framework.plugin import CallResult, PermitResult, Plugin
from scheduler_core.scheduler.framework.status import SKIP, SUCCESS, Code, Status, unschedulable

NAME = "LicenseSeats"
SECOND = 1_000_000_000
_SEATS = (NAME, "", "seats")


class LicenseSeats(Plugin):
    """Its argument `seats` (default 1). A second pod of the same license waits on Permit until the first one is bound."""

    name = NAME
    arguments = Arguments({"seats": INTEGER64}, when_absent(seats=1))

    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> Status:
        """Takes a seat before anything is bound."""
        taken = self._taken()
        if "license" in pod.labels:
            if len(taken) >= self.args["seats"]:
                return unschedulable("no seat of the license is free")
            self._keep((*taken, pod.uid))
        return SUCCESS

    def unreserve(self, state: CycleState, pod: Pod, node_name: str) -> None:
        """Whatever fails later: the seat is given back. It is asked even where its own Reserve has failed."""
        self._keep(tuple(uid for uid in self._taken() if uid != pod.uid))

    def permit(self, state: CycleState, pod: Pod, node_name: str) -> PermitResult:
        """Waits for at most 30 s while another pod is on its way; `urgent` pods go first, and reject the one that waits."""
        others = [waiting for waiting in self.handle.waiting_pods() if NAME in waiting.pending]
        if "license" not in pod.labels or not others:
            return PermitResult(Status(Code.WAIT), 30 * SECOND) if "slow" in pod.labels else PermitResult()
        for waiting in others:
            if "urgent" in pod.labels:
                waiting.reject(NAME, f"makes way for {pod.name}")
            else:
                waiting.allow(NAME)
        return PermitResult()

    def pre_bind(self, state: CycleState, pod: Pod, node_name: str) -> CallResult:
        """Asks the license server, which takes 10 ms of virtual time to answer."""
        return CallResult(SUCCESS, 10_000_000)

    def bind(self, state: CycleState, pod: Pod, node_name: str) -> CallResult:
        """Binds pods with a license, and leaves others to the next Bind plugin."""
        if "license" not in pod.labels:
            return CallResult(SKIP)
        return CallResult(self.handle.bind(pod, node_name))

    def post_bind(self, state: CycleState, pod: Pod, node_name: str) -> None:
        """Nothing can fail any more; the text is shown with the step."""
        state.write(f"PostBind{NAME}", f"{len(self._taken())} of {self.args['seats']} seats taken")

    def _taken(self) -> tuple[str, ...]:
        return tuple((self.handle.assumed.get(_SEATS) or {}).get("pods", ()))

    def _keep(self, uids: tuple[str, ...]) -> None:
        self.handle.assumed[_SEATS] = {"pods": uids}

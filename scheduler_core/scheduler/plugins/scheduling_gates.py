"""SchedulingGates: keeps a pod out of the queues while it has scheduling gates.

kube: plugins/schedulinggates/scheduling_gates.go @ v1.34.1
"""

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.scheduler.framework import SUCCESS, Action, On, Plugin, Reason, Status, unresolvable
from scheduler_core.scheduler.plugins.helper.hints import after_own_change

NAME = "SchedulingGates"

GATED = Reason("Gated", "waiting for scheduling gates: [<gates>]")


class SchedulingGates(Plugin):
    """Refuses a gated pod at PreEnqueue and names its gates."""

    name = NAME
    reasons = (GATED,)
    events = (On("Pod", Action.UPDATE_POD_SCHEDULING_GATES_ELIMINATED, after_own_change),)

    def pre_enqueue(self, pod: Pod) -> Status:
        gates = pod.spec.scheduling_gates
        if not gates:
            return SUCCESS
        return unresolvable(GATED(gates=" ".join(gates)))

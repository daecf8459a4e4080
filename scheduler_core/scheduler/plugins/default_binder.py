"""DefaultBinder: binds the pod to its node through the API server.

kube: plugins/defaultbinder/default_binder.go @ v1.34.1
"""

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.scheduler.framework.cycle_state import CycleState
from scheduler_core.scheduler.framework.plugin import CallResult, Plugin

NAME = "DefaultBinder"


class DefaultBinder(Plugin):
    """Never skips: what the API server answers is the answer."""

    name = NAME

    def bind(self, state: CycleState, pod: Pod, node_name: str) -> CallResult:
        return CallResult(self.handle.bind(pod, node_name))

"""The scheduler's event recorder: Kubernetes Events about pods.

kube: client-go/tools/events/event_recorder.go @ v1.34.1
"""

from __future__ import annotations

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.apiserver.kube_events import KubeEvent
from scheduler_core.scheduler.core.calls.client import Caller
from scheduler_core.scheduler.framework.groups import KIND

NOTE_LIMIT = 1024


def _reference(related: Pod) -> str:
    """Return the key of a pod, or the kind and the key of a group that a pod stands for."""
    kind = related.manifest.get("kind")
    return f"{kind} {related.key}" if kind == KIND else related.key


def note(
    caller: Caller, pod: Pod, kind: str, reason: str, message: str, action: str, related: Pod | None = None
) -> None:
    """Records a Kubernetes Event about a pod."""
    world = caller.world
    text = message if len(message) <= NOTE_LIMIT else message[: NOTE_LIMIT - 4] + " ..."
    event = KubeEvent(
        world.now,
        kind,
        reason,
        "Pod",
        pod.namespace,
        pod.name,
        text,
        pod.spec.scheduler_name,
        action=action,
        related="" if related is None else _reference(related),
    )
    if caller.hang is None:  # else it gets nowhere
        world.store.record(event)
        world.record(event.facts(), caller.name)

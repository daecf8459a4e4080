"""Pod groups: pods of a namespace with the same label, which say themselves how many of them there have to be.

scheduler-plugins has a kind PodGroup for it; here the pods carry what it would say.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.scheduler.framework.plugin import Handle
from scheduler_core.scheduler.framework.reasons import Reason

LABEL = "scheduling.x-k8s.io/pod-group"
MIN_MEMBER = "playground.dev/min-member"

BAD_GROUP = Reason("BadGroup", f'{MIN_MEMBER}: "<text>" is not understood; expected a whole number from 1 on')

_NUMBER = re.compile(r"[0-9]{1,6}\Z", re.ASCII)


@dataclass(frozen=True, slots=True)
class PodGroup:
    """The group that a pod is of; `min_member` is as this pod says."""

    namespace: str
    name: str
    min_member: int = 1

    @property
    def key(self) -> str:
        return f"{self.namespace}/{self.name}"

    def has(self, pod: Pod) -> bool:
        return pod.namespace == self.namespace and pod.labels.get(LABEL) == self.name


class BadGroup(ValueError):
    """The error for a pod's unreadable group data."""


def group_of(pod: Pod) -> PodGroup | None:
    """None where the pod is of no group; BadGroup."""
    name = pod.labels.get(LABEL)
    if not name:
        return None
    text = pod.annotations.get(MIN_MEMBER, "1")
    if not _NUMBER.match(text) or int(text) < 1:
        raise BadGroup(BAD_GROUP(text=text))
    return PodGroup(pod.namespace, name, int(text))


def members(handle: Handle, group: PodGroup) -> list[dict[str, Any]]:
    """`metadata` of the group's pods that have not ended, whether they are on a node or not; by name."""
    found = []
    for manifest in handle.list("Pod"):
        metadata = manifest["metadata"]
        ended = (manifest.get("status") or {}).get("phase") in ("Succeeded", "Failed")
        if metadata.get("namespace") == group.namespace and not ended:
            if (metadata.get("labels") or {}).get(LABEL) == group.name:
                found.append(metadata)
    return found

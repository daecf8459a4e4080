"""The back-off of a Job's next pod after failures: 10 s, 20 s, ... 10 min after the last one.

kube: pkg/controller/job/backoff_utils.go @ v1.34.1
"""

from collections.abc import Mapping, Sequence
from typing import Any

from scheduler_core.apimachinery.objects import SECOND, Pod, optional_time, parse_time
from scheduler_core.controllers.memory.workloads import Failures

FIRST, LONGEST = 10 * SECOND, 600 * SECOND


def after(known: Failures, succeeded: Sequence[Pod], failed: Sequence[Pod]) -> Failures:
    """Return the consecutive failures since the last success, including those of pods that have just ended."""
    ends = sorted(get_finish_time(pod) for pod in failed)
    if succeeded:
        success = max(get_finish_time(pod) for pod in succeeded)
        ends = [end for end in ends if end > success]
        known = Failures()
    return Failures(known.number + len(ends), ends[-1]) if ends else known


def waits_until(count: int, last: int) -> int:
    """Return the end of the back-off (ns since 1970) after `count` failures, the last of them at `last`; 0 without failures."""
    if count == 0:
        return 0
    return last + min(FIRST << min(count - 1, 10), LONGEST)


def get_finish_time(pod: Pod) -> int:
    """Return a pod's end (ns since 1970): of its last container, else when it stopped being Ready, was deleted, or created."""
    ends = _containers(pod)
    if ends:
        return max(ends)
    ready = pod.condition("Ready")
    if ready is not None and ready.get("status") == "False" and ready.get("lastTransitionTime"):
        return parse_time(ready["lastTransitionTime"])
    meta = pod.manifest["metadata"]
    # deletionTimestamp is when the grace period ends; without the period it is when the deletion was requested.
    if meta.get("deletionTimestamp"):
        return parse_time(meta["deletionTimestamp"]) - int(meta.get("deletionGracePeriodSeconds") or 0) * SECOND
    return pod.creation_time or 0


def _containers(pod: Pod) -> list[int]:
    """Return the end of each container; empty if one of them runs."""
    status = pod.manifest.get("status") or {}
    sidecars = {
        one["name"] for one in pod.manifest["spec"].get("initContainers") or () if one.get("restartPolicy") == "Always"
    }
    statuses: list[Mapping[str, Any]] = list(status.get("containerStatuses") or ())
    statuses += [one for one in status.get("initContainerStatuses") or () if one["name"] in sidecars]
    ends = [optional_time(((one.get("state") or {}).get("terminated") or {}).get("finishedAt")) for one in statuses]
    return [] if None in ends else [end for end in ends if end is not None]

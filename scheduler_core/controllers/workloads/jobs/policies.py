"""The effect of a Job's podFailurePolicy on a failed pod, and of its successPolicy on the succeeded indexes.

kube: pkg/controller/job/{pod_failure_policy,success_policy}.go @ v1.34.1
"""

from collections.abc import Iterable, Set
from typing import NamedTuple

from scheduler_core.apimachinery.objects import Manifest, Pod
from scheduler_core.controllers.workloads.jobs import indexes


class Verdict(NamedTuple):
    """The `message` if the whole Job fails; whether the failure counts; the action of the matching rule, or ""."""

    message: str
    counts: bool
    action: str


_NO_RULE = Verdict("", True, "")
_ACTIONS = ("Ignore", "FailJob", "FailIndex", "Count")


def judge(policy: Manifest | None, pod: Pod) -> Verdict:
    """Return the verdict of the first matching rule."""
    for number, rule in enumerate((policy or {}).get("rules") or ()):
        if rule.get("onExitCodes") is not None:
            why = _exit_code(rule["onExitCodes"], pod)
        elif rule.get("onPodConditions") is not None:
            why = _condition(rule["onPodConditions"], pod)
        else:
            continue
        action = str(rule.get("action"))
        if why and action in _ACTIONS:
            message = f"{why} matching {action} rule at index {number}" if action == "FailJob" else ""
            return Verdict(message, action != "Ignore", action)
    return _NO_RULE


def _exit_code(wanted: Manifest, pod: Pod) -> str:
    """Describe the first container with a matching exit code; "" for none."""
    status = pod.manifest.get("status") or {}
    for field in ("containerStatuses", "initContainerStatuses"):
        for container in status.get(field) or ():
            ended = (container.get("state") or {}).get("terminated")
            if ended is None or wanted.get("containerName") not in (None, container["name"]):
                continue
            code = int(ended.get("exitCode") or 0)
            if code and (code in (wanted.get("values") or ())) is (wanted.get("operator") == "In"):
                return f"Container {container['name']} for pod {pod.key} failed with exit code {code}"
    return ""


def _condition(patterns: Iterable[Manifest], pod: Pod) -> str:
    pairs = [(pattern.get("type"), pattern.get("status") or "True") for pattern in patterns]
    for condition in pod.conditions:
        if (condition.get("type"), condition.get("status")) in pairs:
            return f"Pod {pod.key} has condition {condition['type']}"
    return ""


def is_success(policy: Manifest | None, completions: int, succeeded: Set[int]) -> str:
    """Return the successPolicy rule that is met, in kube's words; "" for none."""
    if not succeeded:
        return ""
    for number, rule in enumerate((policy or {}).get("rules") or ()):
        count = rule.get("succeededCount")
        if rule.get("succeededIndexes") is not None:
            required = indexes.parse(rule["succeededIndexes"], completions)
            done = len(required & succeeded)
            met = bool(required) and (done == len(required) or (count is not None and done >= count))
        else:
            met = count is not None and len(succeeded) >= count
        if met:
            return f"Matched rules at index {number}"
    return ""

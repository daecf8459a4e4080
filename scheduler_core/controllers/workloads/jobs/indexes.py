"""Completion indexes: sets of numbers in kube's format ("0-2,5"), and the index of a pod.

kube: pkg/controller/job/indexed_job_utils.go @ v1.34.1
"""

from collections.abc import Iterable, Mapping

from scheduler_core.apimachinery.objects.pod import Pod

INDEX = "batch.kubernetes.io/job-completion-index"
FAILURES = "batch.kubernetes.io/job-index-failure-count"
IGNORED_FAILURES = "batch.kubernetes.io/job-index-ignored-failure-count"
_MOST = 2**31 - 1  # kube rejects a larger count as an invalid annotation: it parses 32 bits (parseInt32)


def parse(text: str | None, completions: int) -> frozenset[int]:
    """Return the indexes of a text that are below `completions`; invalid parts are ignored."""
    found: set[int] = set()
    for part in (text or "").split(","):
        first, dash, last = part.partition("-")
        if first.isdecimal() and (not dash or last.isdecimal()):
            found.update(range(int(first), min(int(last) if dash else int(first), completions - 1) + 1))
    return frozenset(found)


def text(indexes: Iterable[int]) -> str:
    """Format indexes as kube does: two consecutive ones as "3,4", more as "3-5"."""
    runs: list[list[int]] = []
    for index in sorted(indexes):
        if runs and runs[-1][1] == index - 1:
            runs[-1][1] = index
        else:
            runs.append([index, index])
    return ",".join(
        str(first) if first == last else f"{first}{',' if last == first + 1 else '-'}{last}" for first, last in runs
    )


def index_of(pod: Pod) -> int | None:
    """Return the index in a pod's annotations, or None."""
    value = pod.annotations.get(INDEX, "")
    return int(value) if value.isascii() and value.isdecimal() else None


def failures(pod: Pod) -> int:
    """Return the number of counted failures of the pod's index before this pod."""
    return _number(pod.annotations, FAILURES)


def all_failures(pod: Pod) -> int:
    """Return the number of failures, ignored ones included."""
    return failures(pod) + _number(pod.annotations, IGNORED_FAILURES)


def count_ignored_failures(pod: Pod) -> int:
    return _number(pod.annotations, IGNORED_FAILURES)


def _number(annotations: Mapping[str, str], name: str) -> int:
    value = annotations.get(name, "")
    number = int(value) if value.isascii() and value.isdecimal() else 0
    return number if number <= _MOST else 0

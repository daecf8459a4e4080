"""Why evicting pods of lower priority did not make room: what PostFilter said last, taken apart by the reasons of its plugins."""

from __future__ import annotations

import re

import numpy as np

from scheduler_core.analysis.explain.explanation import Preemption
from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.base.trace.journal import Attempt
from scheduler_core.scheduler.cache.pod_classes import NO_POD
from scheduler_core.scheduler.cache.table import NodeTable
from scheduler_core.scheduler.framework.plugin import Point
from scheduler_core.scheduler.framework.reasons import REFUSED, read_reason
from scheduler_core.scheduler.framework.runtime.framework import Framework

_START = "preemption: "
_COUNTED = re.compile(r"(\d+) (.+?)(?=, \d+ |\.?$)")
_HEAD = re.compile(r"0/\d+ nodes are available: ")


def preemption(framework: Framework, pod: Pod, nodes: NodeTable, attempt: Attempt | None) -> Preemption:
    """Return the preemption of a pod, with kube's message if there was an attempt."""
    table = nodes.pod_table
    lower = int(np.count_nonzero((table.priority < pod.priority) & (table.cls != NO_POD)))
    message = "" if attempt is None else attempt.message.partition(_START)[2]
    return Preemption(
        pod.priority,
        pod.spec.preemption_policy or "PreemptLowerPriority",
        lower,
        message,
        tuple(_parts(framework, message)),
        pod.nominated_node_name,
    )


def _parts(framework: Framework, message: str) -> list[tuple[str, str, int]]:
    head = _HEAD.match(message)
    counted = (
        [(match[2], int(match[1])) for match in _COUNTED.finditer(message[head.end() :])]
        if head is not None
        else [(message, 0)]
        if message
        else []
    )
    return [(_code(framework, text), text, count) for text, count in counted]


def _code(framework: Framework, text: str) -> str:
    """Return the code of the first plugin that has such a reason; PostFilter's plugins come first."""
    for plugin in (*framework.at(Point.POST_FILTER), *framework.at(Point.FILTER)):
        said = read_reason(plugin.reasons, text)
        if said.code != REFUSED:
            return f"{plugin.name}/{said.code}"
    return f"Preemption/{REFUSED}"

"""Digests of attempts: one short text stands for all node-by-node detail of a scheduling cycle.

What is hashed is written down in docs/trace.md; it is the same bytes on any machine.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np

from scheduler_core.scheduler.core.cycles.scheduling_cycle import SchedulingCycle
from scheduler_core.scheduler.framework.step import PluginStep

DIGEST_BYTES = 16


def digest(cycle: SchedulingCycle) -> str:
    """BLAKE2b (128 bits, hexadecimal) over the steps and the result of a finished cycle."""
    into = hashlib.blake2b(digest_size=DIGEST_BYTES)
    _text(into, [cycle.pod.key, cycle.profile, cycle.scheduler])
    _text(into, cycle.nodes.names)
    for step in cycle.steps:
        _text(into, [step.point.value, step.plugin, step.status.to_json(), step.timeout])
        _detail(into, step)
    _text(into, [cycle.outcome, cycle.chosen, cycle.draw, list(cycle.tied), cycle.message])
    return into.hexdigest()


def _text(into: hashlib.blake2b, value: Any) -> None:
    into.update(json.dumps(value, ensure_ascii=True, sort_keys=True, separators=(",", ":")).encode())
    into.update(b"\n")


def _numbers(into: hashlib.blake2b, values: np.ndarray[Any, Any]) -> None:
    into.update(np.ascontiguousarray(values, dtype="<i8").tobytes())
    into.update(b"\n")


def _detail(into: hashlib.blake2b, step: PluginStep) -> None:
    if step.node_names is not None:
        _text(into, sorted(step.node_names))
    if step.rows is not None:
        _numbers(into, step.rows)
    if step.verdicts is not None:
        _numbers(into, step.verdicts.reason)
        _text(into, [status.to_json() for status in step.verdicts.statuses])
    if step.scores is not None:
        _numbers(into, step.scores)
    if step.evidence is not None:
        _text(into, step.evidence.to_json())

"""One housekeeping as a function: from what was remembered and what is measured to the conditions, and the thresholds to act on.

kube: pkg/kubelet/eviction/eviction_manager.go (synchronize), helpers.go (thresholdsMet ... nodeConditionsObservedSince) @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from scheduler_core.apimachinery.objects.times import SECOND
from scheduler_core.controllers.kubelet.eviction.observations import Observation
from scheduler_core.controllers.memory.eviction import EvictionState
from scheduler_core.scheduler.config.kubelet import KubeletConfiguration, Threshold
from scheduler_core.scheduler.config.kubelet import thresholds as signals

HOUSEKEEPING = 10 * SECOND
CONDITIONS = {
    signals.MEMORY: "MemoryPressure",
    signals.ALLOCATABLE_MEMORY: "MemoryPressure",
    signals.PIDS: "PIDPressure",
}
_ORDER = ("MemoryPressure", "DiskPressure", "PIDPressure")


@dataclass(frozen=True, slots=True)
class Judgement:
    """The new eviction state, the conditions that are True, and the thresholds to act on, in order."""

    state: EvictionState
    conditions: tuple[str, ...]
    thresholds: tuple[Threshold, ...]


def met(thresholds: Sequence[Threshold], observed: Mapping[str, Observation], with_least: bool) -> list[Threshold]:
    """Return the thresholds that are met; `with_least` adds the minimum reclaim to each threshold."""
    found = []
    for threshold in thresholds:
        observation = observed.get(threshold.signal)
        if observation is None:
            continue
        wanted = threshold.amount.of(observation.capacity)
        if with_least and threshold.least is not None:
            wanted += threshold.least.of(observation.capacity)
        if wanted > observation.available:
            found.append(threshold)
    return found


def judge(
    state: EvictionState,
    thresholds: Sequence[Threshold],
    observed: Mapping[str, Observation],
    configuration: KubeletConfiguration,
    now: int,
) -> Judgement:
    """One housekeeping. Between the last one and this nothing has changed but what is measured now."""
    present = met(thresholds, observed, False)
    present += [each for each in met(state.met, observed, True) if each not in present]
    before = dict(state.first)
    first = tuple((threshold, before.get(threshold, now)) for threshold in present)
    observing = tuple(dict.fromkeys(_condition(threshold) for threshold in present))
    last = _last(state, observing, now)
    recent = {condition for condition, at in last if now - at < configuration.transition_period}
    acting = [threshold for threshold, at in first if now - at >= threshold.grace]
    new = replace(
        state,
        at=now,
        first=first,
        last=tuple(each for each in last if each[0] in recent),
        observed=observing,
        met=tuple(acting),
        waits_for=(),
    )
    acting.sort(key=lambda threshold: _condition(threshold) != "MemoryPressure")
    return Judgement(new, tuple(name for name in _ORDER if name in recent), tuple(acting))


def next_change(state: EvictionState, configuration: KubeletConfiguration) -> int | None:
    """The next housekeeping (ns) at which time alone will have changed something."""
    moments = [at + threshold.grace for threshold, at in state.first if state.at - at < threshold.grace]
    moments += [at + configuration.transition_period for name, at in state.last if name not in state.observed]
    return tick(state, min(moments)) if moments else None


def tick(state: EvictionState, at: int) -> int:
    """The first housekeeping not before a time, after the last one."""
    return state.at + max(-(-(at - state.at) // HOUSEKEEPING), 1) * HOUSEKEEPING


def _condition(threshold: Threshold) -> str:
    return CONDITIONS.get(threshold.signal, "DiskPressure")


def _last(state: EvictionState, observing: Sequence[str], now: int) -> list[tuple[str, int]]:
    """Return when each condition was last met; conditions of the last housekeeping also count for the skipped ones since."""
    passed = state.at + max((now - state.at - 1) // HOUSEKEEPING, 0) * HOUSEKEEPING
    last = {name: passed if name in state.observed else at for name, at in state.last}
    last.update(dict.fromkeys(observing, now))
    return [(name, last[name]) for name in _ORDER if name in last]

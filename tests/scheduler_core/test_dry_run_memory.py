"""What preemption remembers of earlier dry runs never changes what it finds."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.base.trace.records import Record
from scheduler_core.scheduler.framework.plugin import Point
from scheduler_core.world.commands import ApplyObjects
from scheduler_core.world.simulation import Simulation
from tests.scheduler_core.worlds import node, pod, world


def important(name: str, cpu: str, **spec: Any) -> dict[str, Any]:
    return pod(name, cpu=cpu, priority=100, **spec)


def crowded(seed: int) -> Simulation:
    """Twelve nodes, each full of pods of several priorities."""
    sim = world(*(node(f"n{i:02}") for i in range(12)), seed=seed)
    sim.apply(ApplyObjects(tuple(pod(f"low-{i:02}", cpu=str(1 + i % 2), priority=i * 7 % 5) for i in range(48))))
    sim.run(steps=20_000)
    return sim


def preempting(sim: Simulation, *, forget: bool) -> list[Any]:
    """Preemptors come in waves while pods go and nominations stand; what every PostFilter said."""
    told: list[Any] = []
    for wave in range(3):
        sim.apply(ApplyObjects(tuple(important(f"big-{wave}-{i}", str(2 + i % 2)) for i in range(5))))
        for _ in range(4_000):
            if forget:
                sim.schedulers[0].snapshot.memo.clear()
            records = sim.advance()
            told += [one for record in records if (one := _post_filter(record)) is not None]
            if not records:
                break
    return told


def _post_filter(record: Record) -> Any:
    if record.kind == "plugin_ran" and record.data.get("point") == Point.POST_FILTER:
        return record.data
    return None


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_dry_runs_with_and_without_memory_say_the_same(seed: int) -> None:
    remembered = preempting(crowded(seed), forget=False)
    assert remembered == preempting(crowded(seed), forget=True)
    assert sum(bool((one.get("evidence") or {}).get("candidates")) for one in remembered) >= 8

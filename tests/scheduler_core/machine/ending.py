"""The end of a world: nobody touches it any more, time goes on, and whoever fits is to be bound."""

from __future__ import annotations

from scheduler_core.analysis.fixes.diagnosis import diagnose_on
from scheduler_core.analysis.inspection.stranding import find_stranding
from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.base.trace.journal import Place
from scheduler_core.scheduler.cache.cache import Cache
from scheduler_core.scheduler.core.scheduler import Scheduler
from scheduler_core.world.simulation import Simulation
from tests.scheduler_core.machine.invariants import check

SECOND = 1_000_000_000
MOST = 200_000  # transitions; a preemptor whose victims went unheard is tried anew each millisecond until the informers have caught up


def run_out(sim: Simulation) -> None:
    """Runs until nothing about the cluster has changed for longer than any pod is left unschedulable."""
    sim.faults.clear()
    patience = sim.settings.max_in_unschedulable + 60 * SECOND
    quiet_since, seen = sim.now, _cluster(sim)
    for _ in range(MOST):
        if not sim.due(quiet_since + patience):
            break
        sim.advance()
        if (now := _cluster(sim)) != seen:
            quiet_since, seen = sim.now, now
    else:
        raise AssertionError(f"still changing after {MOST} transitions")
    check(sim)
    nothing_is_left_assumed(sim)


def nothing_is_left_assumed(sim: Simulation) -> None:
    """Of volumes: what Reserve assumed is bound or taken back where no pod is on its way."""
    for scheduler in sim.schedulers:
        if not scheduler.bindings and not scheduler.running and not scheduler.inbox:
            assert not scheduler.assumed, f"still assumed: {sorted(scheduler.assumed)}"


def _cluster(sim: Simulation) -> list[object]:
    """What a scheduler goes by."""
    pods = [(pod.uid, pod.node_name, pod.deleting) for pod in sim.store.pods()]
    volumes = [m["metadata"]["resourceVersion"] for m in sim.store.list("PersistentVolume")]
    claims = [m["metadata"]["resourceVersion"] for m in sim.store.list("PersistentVolumeClaim")]
    return [*pods, *volumes, *claims]


def everything_that_fits_is_bound(sim: Simulation) -> None:
    """Or kube strands it, and the journey says so; or each of its attempts fails, and they say so."""
    for pod in sim.store.pods():
        scheduler = next((s for s in sim.schedulers if s.responsible_for(pod)), None)
        if scheduler is None or pod.node_name or pod.spec.scheduling_gates:
            continue
        node = fits_on(sim, scheduler, pod)
        if node is None or _says_why_it_fails(sim, scheduler, pod):
            continue
        found = find_stranding(sim, pod.key)
        assert found is not None and found.until is None, f"{pod.key} fits on {node}: {_told(sim, pod)}"


def fits_on(sim: Simulation, scheduler: Scheduler, pod: Pod) -> str | None:
    """A node that all filters pass, by a cache made anew of what the API server has and of the scheduler's assumptions."""
    cache = Cache()
    for node in sim.store.nodes():
        cache.add_node(node)
    for other in sim.store.pods():
        if other.node_name and not other.terminal:
            cache.add_pod(other)
    for binding in scheduler.bindings.values():
        if scheduler.is_assumed(binding.pod):
            cache.assume(binding.pod)
    framework = scheduler.framework_of(pod)
    assert framework is not None
    found = diagnose_on(scheduler, framework, pod, cache.table())
    return found.nodes.names[found.feasible[0]] if found.feasible else None


def _says_why_it_fails(sim: Simulation, scheduler: Scheduler, pod: Pod) -> bool:
    """A pod that asks for it, or whose volumes never come, is tried and refused behind the filters, or waits there."""
    behind = pod.spec.manifest.get("volumes") or any(name.startswith("playground.dev/") for name in pod.annotations)
    if not behind:
        return False
    if sim.journal.place(pod.key) in (Place.IN_FLIGHT, Place.WAITING, Place.BINDING, Place.GATED):
        return True
    entry = scheduler.queue.find(pod.key)
    return entry is not None and entry.attempts > 0 and pod.condition("PodScheduled") is not None


def _told(sim: Simulation, pod: Pod) -> str:
    return "; ".join(f"{move.t / SECOND:.3f} {move.place} ({move.cause})" for move in sim.journal.lane(pod.key))

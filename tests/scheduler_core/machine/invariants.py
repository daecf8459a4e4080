"""What holds of a world after every single transition. Each check looks at the world anew and raises AssertionError."""

from __future__ import annotations

from collections import Counter

import numpy as np

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.base.trace.journal import Place
from scheduler_core.scheduler.core.cycles.phases import Phase
from scheduler_core.scheduler.core.scheduler import Scheduler
from scheduler_core.scheduler.queue.state import PodHeap
from scheduler_core.scheduler.queue.types import QueuedPod
from scheduler_core.world.simulation import Simulation


def check(sim: Simulation) -> None:
    """All of them."""
    for scheduler in sim.schedulers:
        places = where(scheduler)
        _one_place_each(sim, scheduler, places)
        _journal_agrees(sim, scheduler, places)
        _in_flight(sim, scheduler)
        _assumed_once(sim, scheduler)
        _cache_is_the_sum_of_its_pods(scheduler)
        _nominations(scheduler)
        _order(scheduler)
        _gauges(scheduler)
    for pod in sim.store.pods():
        mine = [s for s in sim.schedulers if s.responsible_for(pod)]
        assert len(mine) <= 1, f"{pod.key} is for {len(mine)} schedulers"


def where(scheduler: Scheduler) -> dict[str, list[str]]:
    """UID -> every place in which the scheduler has the pod."""
    state, found = scheduler.queue.state, {}
    lists: list[tuple[str, dict[str, QueuedPod]]] = [
        (Place.ACTIVE, state.active.entries),
        (Place.BACKOFF, state.backoff.entries),
        (Place.BACKOFF, state.errors.entries),
        (Place.UNSCHEDULABLE, state.unschedulable),
        (Place.GATED, state.gated),
    ]
    for place, entries in lists:
        for key, entry in entries.items():
            assert entry.key == key
            found.setdefault(entry.pod.uid, []).append(place)
    cycle = scheduler.cycle
    if cycle is not None and cycle.ended is None and cycle.phase is not Phase.DONE:
        found.setdefault(cycle.pod.uid, []).append(Place.IN_FLIGHT)
    for binding in scheduler.bindings.values():
        waits = binding.phase is Phase.WAIT_ON_PERMIT
        found.setdefault(binding.pod.uid, []).append(Place.WAITING if waits else Place.BINDING)
    return found


_BUSY = (Place.IN_FLIGHT, Place.WAITING, Place.BINDING)


def _had_a_namesake(sim: Simulation, pod: Pod) -> bool:
    """A pod that took the name of a deleted one. When the attempt of that one fails, kube puts the new one into a queue, as if the attempt
    had been its own: it may be in flight as well, and no longer counts as such. kube: handleSchedulingFailure
    """
    return any(move.place == Place.DELETED for move in sim.journal.lane(pod.key))


def _changed_schedulers(sim: Simulation, pod: Pod) -> bool:
    """A pod whose name was that of another scheduler's pod. Where that one has been put into the queue by mistake (see above), nobody
    takes it out, and a gated pod that comes under its name is not taken in. kube: moveToActiveQ
    """
    return any(move.place == Place.IGNORED for move in sim.journal.lane(pod.key))


def _pending(scheduler: Scheduler) -> list[Pod]:
    """Pods without a node that the scheduler is to deal with. Where its informers lag, it knows of changes only when it hears of them."""
    coming = _unheard(scheduler)
    return [
        pod
        for pod in scheduler.view.pods()
        if not pod.node_name and not pod.terminal and scheduler.responsible_for(pod) and pod.key not in coming
    ]


def _unheard(scheduler: Scheduler) -> set[str]:
    """Pods of which there is something new that the scheduler has not heard of yet."""
    return {f"{event.namespace}/{event.name}" for _, event in scheduler.inbox if event.kind == "Pod"}


def _one_place_each(sim: Simulation, scheduler: Scheduler, places: dict[str, list[str]]) -> None:
    for pod in _pending(scheduler):
        there = places.get(pod.uid, [])
        if _changed_schedulers(sim, pod):
            continue
        if _had_a_namesake(sim, pod):
            there = [place for place in there if place not in _BUSY] or there[:1]
        assert len(there) == 1, f"{pod.key} is in {there or 'no place'} of {scheduler.name}"
    for key in (key for pods in scheduler.queue.state.maps() for key in pods):
        pod = scheduler.view.pod_at(key)
        entry = scheduler.queue.find(key)
        if entry is not None and (not scheduler.responsible_for(entry.pod) or _changed_schedulers(sim, entry.pod)):
            continue
        assert pod is not None and entry is not None and not pod.node_name, f"{key} is queued for nothing"
        assert entry.pod.uid == pod.uid, f"{key} is queued as the pod that it was before"


def _journal_agrees(sim: Simulation, scheduler: Scheduler, places: dict[str, list[str]]) -> None:
    for pod in _pending(scheduler):
        there, told = places.get(pod.uid, []), sim.journal.place(pod.key)
        if _changed_schedulers(sim, pod):
            continue
        assert told in there, f"{pod.key} is {there}, and the journal says {told}"
    coming = _unheard(scheduler)
    for pod in (pod for pod in sim.store.pods() if pod.key not in coming):
        told = sim.journal.place(pod.key)
        if pod.node_name:
            assert told in (Place.BOUND, Place.RUNNING), f"{pod.key} has a node, and the journal says {told}"
        elif not any(s.responsible_for(pod) for s in sim.schedulers):
            assert told == Place.IGNORED, f"nobody is for {pod.key}, and the journal says {told}"


def _in_flight(sim: Simulation, scheduler: Scheduler) -> None:
    """A pod whose cycle or wait on Permit goes on is in flight; who else is was deleted meanwhile (kube keeps such UIDs)."""
    flying = {pod.uid for pod in scheduler.queue.in_flight}
    cycle = scheduler.cycle
    busy = [b.pod for b in scheduler.bindings.values() if b.phase is Phase.WAIT_ON_PERMIT]
    if cycle is not None and cycle.ended is None and cycle.phase is not Phase.DONE:
        busy.append(cycle.pod)
    missing = [pod for pod in busy if pod.uid not in flying and not _had_a_namesake(sim, pod)]
    assert not missing, f"not in flight: {missing}"
    alive = {pod.uid for pod in scheduler.view.pods()} - {pod.uid for pod in busy}
    assert not flying & alive, f"in flight for ever: {flying & alive}"


def _assumed_once(sim: Simulation, scheduler: Scheduler) -> None:
    """Assumed pods are those of the bindings, and of a cycle that has a node, unless the API server has told of the binding."""
    cache, cycle = scheduler.cache, scheduler.cycle
    owners = Counter(b.pod.uid for b in scheduler.bindings.values())
    if cycle is not None and cycle.ended is None and cycle.phase in (Phase.RESERVE, Phase.PERMIT):
        owners[cycle.pod.uid] += 1
    assumed = [pod for pod, _ in cache.where.values() if cache.is_assumed(pod.uid)]
    assert cache.assumed == {pod.key: pod.node_name for pod in assumed}
    coming = _unheard(scheduler)
    for pod in assumed:
        assert pod.uid in owners or pod.key in coming, f"{pod.key} is assumed by nobody"
        live = scheduler.view.pod_at(pod.key)
        assert live is None or live.uid != pod.uid or not live.node_name, f"{pod.key} is bound and assumed"
    for binding in scheduler.bindings.values():
        live = scheduler.view.pod_at(binding.pod.key)
        if binding.pod.key in coming:
            continue
        if live is not None and live.uid == binding.pod.uid and not live.node_name:
            assert scheduler.is_assumed(binding.pod), f"{binding.pod.key} is bound and was not assumed"


def _cache_is_the_sum_of_its_pods(scheduler: Scheduler) -> None:
    cache, view = scheduler.cache, scheduler.view
    seen: Counter[str] = Counter()
    for name, slot in cache.slots.items():
        pods = cache.pods[slot]
        seen.update(pod.uid for pod in pods)
        total = sum((cache.vector(pod.requests) for pod in pods), np.zeros(len(cache.resources), np.int64))
        assert cache.requested[slot].tolist() == total.tolist(), f"what {name} is asked for"
        assert cache.nonzero[slot].tolist() == [sum(p.nonzero[i] for p in pods) for i in (0, 1)]
        assert int(cache.counts[slot, 0]) == len(pods)
        assert all(pod.node_name == name for pod in pods)
    assert set(seen) == set(cache.where) and all(count == 1 for count in seen.values())
    assert {n for n, slot in cache.slots.items() if cache.nodes[slot]} == {n.name for n in view.nodes()}
    bound = {pod.uid: pod for pod in view.pods() if pod.node_name and not pod.terminal}
    for uid, (pod, _) in cache.where.items():
        if not cache.is_assumed(uid):
            assert uid in bound and bound[uid].node_name == pod.node_name, f"{uid} is not on {pod.node_name}"
    assert set(bound) <= set(cache.where), f"unknown to the cache: {set(bound) - set(cache.where)}"


def _nominations(scheduler: Scheduler) -> None:
    """Who is nominated to a node is pending, not assumed, and on one list; the list under "" is kube's own (README-queue.md).

    A pod that fails is looked up by its name. One that was made anew for another scheduler meanwhile is so put into this one's queue and
    keeps its nomination here, since its events go to the other one (kube: handleSchedulingFailure, responsibleForPod).
    """
    nominator = scheduler.queue.nominator
    on = [pod.uid for name in nominator.everything() for pod in nominator.on(name)]
    assert len(on) == len(set(on)), "nominated to two nodes"
    for name in nominator.nodes():
        for pod in nominator.on(name):
            if not scheduler.responsible_for(pod):
                continue
            live = scheduler.view.pod_at(pod.key)
            assert live is not None and live.uid == pod.uid, f"{pod.key} is gone, and nominated to {name}"
            assert not live.node_name, f"{pod.key} has a node, and is nominated to {name}"
            assert not scheduler.is_assumed(pod), f"{pod.key} is assumed, and nominated to {name}"


def first_in_line(scheduler: Scheduler) -> str | None:
    """The pod to be popped next: of the active ones, or, where there is none, of those that back off after a refusal."""
    state = scheduler.queue.state
    heaps = [state.active, state.backoff] if scheduler.queue.options.pop_from_backoff else [state.active]
    flying = {pod.uid for pod in scheduler.queue.in_flight}  # not popped a second time
    for heap in heaps:
        line = _line(heap, heap is not state.active)
        pods = [key for key in line if heap.entries[key].pod.uid not in flying]
        if pods:
            return pods[0]
    return None


def _line(heap: PodHeap, backs_off: bool) -> list[str]:
    """A heap's pods in order: by the end of their backoff, priority, time and age; no two are equal in it."""

    def place_in_line(entry: QueuedPod) -> tuple[int, ...]:
        until = (entry.backoff_until or 0,) if backs_off else ()
        return (*until, -entry.pod.priority, entry.timestamp, entry.sequence)

    orders = {key: place_in_line(entry) for key, entry in heap.entries.items()}
    assert len(set(orders.values())) == len(orders), "two pods are equal in line"
    return sorted(orders, key=lambda key: orders[key])


def _order(scheduler: Scheduler) -> None:
    """The heaps give what sorting gives."""
    state = scheduler.queue.state
    for heap in (state.active, state.backoff, state.errors):
        _same_order(heap, _line(heap, heap is not state.active))


def _same_order(heap: PodHeap, expected: list[str]) -> None:
    assert [entry.key for entry in heap.ordered()] == expected
    assert [entry.key for entry in heap.ordered(2)] == expected[:2]
    first = heap.peek()
    assert (None if first is None else first.key) == (expected[0] if expected else None)


def _gauges(scheduler: Scheduler) -> None:
    """What scheduler_pending_pods counts of the unschedulable and the gated pods is their sum. The two alone may differ from what is there:
    kube itself takes a pod off the wrong one where a gate was asked anew. (Of the others the gauge is what the queues hold.)
    """
    queue = scheduler.queue
    told, there = queue.metrics.waiting.total(), len(queue.unschedulable_pods) + len(queue.gated_pods)
    assert told == there, f"{queue.metrics.waiting}, and {there} are there"

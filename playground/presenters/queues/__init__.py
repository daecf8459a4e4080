"""Queues: all pods that are not bound yet, in kube's order, with one card for each place; above CROWD pods, groups of pods."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import NotRequired, TypedDict

from playground.presenters.acting import grace_ends
from playground.presenters.look import Look
from playground.presenters.panel import Panel
from playground.presenters.queues import chips
from playground.presenters.queues.chips import PodChip, of_pod
from playground.presenters.queues.groups import CROWD, waiting
from playground.presenters.queues.sleeping import GroupRow, behind, largest
from playground.presenters.scene import faults_of, last_attempt, queue_sort_of, scheduler_of, stands_at, subject
from playground.presenters.words import duration, gettext_noop
from scheduler_core.world.readonly import Pod, QueuedPod, SchedulerView, WorldView

# Nominated pods, and their victims.


def _list_nominations(scheduler: SchedulerView) -> list[tuple[str, Pod]]:
    nominator = scheduler.queue.nominator
    return [(node, pod) for node in nominator.nodes() for pod in nominator.on(node)]


def victims(sim: WorldView, scheduler: SchedulerView, chosen: str, most: int) -> tuple[list[PodChip], int]:
    """Return the victims of nominated pods whose grace period runs, with the remaining time, and their number."""
    attempts = (last_attempt(sim, pod.key) for _, pod in _list_nominations(scheduler)[:most])
    keys = dict.fromkeys(key for attempt in attempts if attempt is not None for key in attempt.victims)
    ends = grace_ends(sim, keys)
    pods = [pod for key in keys if key in ends and (pod := sim.store.pod_at(key)) is not None]
    return [_victim(pod, chosen, ends[pod.key] - sim.now) for pod in islice(pods, most)], len(pods)


def _victim(pod: Pod, chosen: str, left: int) -> PodChip:
    grace = int(pod.manifest["metadata"].get("deletionGracePeriodSeconds") or 0)
    return {
        **of_pod(pod, chosen),
        "left": duration(max(left, 0)),
        "ring": round(100 * max(left, 0) / max(grace * 1_000_000_000, left, 1)),
        "node": pod.node_name,
        "victim": True,
    }


WINDOW = 12
HEAD = 3  # rows of the active and the backoff queue in a crowd
FEW = 5  # unschedulable or gated pods shown one by one
GROUPS = 4

TITLES = {
    "flight": gettext_noop("In flight"),
    "active": gettext_noop("Active"),
    "backoff": gettext_noop("Backoff"),
    "unschedulable": gettext_noop("Unschedulable"),
    "gated": gettext_noop("Gated"),
    "permit": gettext_noop("Waiting on Permit"),
    "binding": gettext_noop("Binding"),
    "nominated": gettext_noop("Nominated"),
    "victims": gettext_noop("Terminating victims"),
    "ignored": gettext_noop("No such scheduler"),
}
# The terms whose names differ from the place.
TERMS = {"flight": "in flight", "permit": "waiting", "binding": "binding cycle", "victims": "victim", "ignored": ""}
ALWAYS = ("flight", "active", "backoff", "unschedulable", "gated")  # shown even if empty
_NOTES = {"active": gettext_noop("heap order")}


class QueuesContext(TypedDict):
    historical: bool
    empty: "list[EmptyQueue]"


class EmptyQueue(TypedDict):
    title: str
    term: str


class QueueCard(TypedDict):
    id: str
    name: str
    title: str
    term: str
    note: str
    count: int
    pods: list[PodChip]
    groups: list[GroupRow]
    more: int
    hidden: bool
    by: NotRequired[str]
    wanted: NotRequired[list[str]]


def present(sim: WorldView, look: Look) -> Panel[QueuesContext, QueueCard]:
    """Return the places with their first pods and the number of the others. The scheduler whose cycle began last comes first."""
    scheduler, chosen = scheduler_of(sim), subject(sim, look.pod)
    cards = _places(sim, scheduler, chosen)
    for other in sim.schedulers:
        if other is not scheduler:
            _join(cards, _places(sim, other, chosen), other.name)
    sorter = queue_sort_of(scheduler)
    cards["active"]["by"] = "" if sorter == "PrioritySort" else sorter
    if sim.journal.ignored:
        keys = list(sim.journal.ignored)
        pods = [pod for key in islice(keys, WINDOW) if (pod := sim.store.pod_at(key)) is not None]
        rows: list[PodChip] = [{**chips.of_pod(pod, chosen), "asks": pod.spec.scheduler_name} for pod in pods]
        cards["ignored"] = {
            **_card("ignored", rows, len(keys)),
            "wanted": sorted({pod.spec.scheduler_name for pod in pods}),
        }
    _add_faults(sim, cards.values())
    return Panel(
        "queues",
        {
            "historical": scheduler.queue.options.historical,
            "empty": [
                {"title": card["title"], "term": card["term"]}
                for name, card in cards.items()
                if name in ALWAYS and not card["count"]
            ],
        },
        {f"queue-{name}": card for name, card in cards.items()},
    )


def _places(sim: WorldView, scheduler: SchedulerView, chosen: str) -> dict[str, QueueCard]:
    """Return the places of one scheduler's pods."""
    queue, crowd = scheduler.queue, waiting(scheduler) >= CROWD
    cycle = scheduler.cycle
    running = [] if cycle is None or cycle.ended is not None else [cycle]
    pods = _list_nominations(scheduler)
    rows: list[PodChip] = [{**of_pod(pod, chosen), "nominated": node} for node, pod in pods[:WINDOW]]
    return {
        "flight": _card(
            "flight", [chips.in_cycle(each.pod, stands_at(each), chosen) for each in running], len(running)
        ),
        "active": _active(sim, scheduler, chosen, crowd),
        "backoff": _card(
            "backoff",
            [chips.backing_off(sim, queue, queued, chosen) for queued in queue.backoff(HEAD if crowd else WINDOW)],
            len(queue.backoff_pods) + len(queue.error_backoff_pods),
        ),
        "unschedulable": _build_parked_card(
            sim, scheduler, ("unschedulable", "reason"), queue.unschedulable_pods, chips.build_refused_chip, chosen
        ),
        "gated": _build_parked_card(
            sim, scheduler, ("gated", "gate"), queue.gated_pods, chips.build_gated_chip, chosen
        ),
        "permit": _permit(scheduler, sim.now, chosen),
        "binding": _binding(scheduler, chosen),
        "nominated": _card("nominated", *(rows, len(pods))),
        "victims": _card("victims", *victims(sim, scheduler, chosen, WINDOW)),
    }


def _card(name: str, pods: list[PodChip], count: int, groups: Sequence[GroupRow] = ()) -> QueueCard:
    shown = len(pods) + sum(group["count"] for group in groups)
    return {
        "id": f"queue-{name}",
        "name": name,
        "title": TITLES[name],
        "term": TERMS.get(name, name),
        "note": _NOTES.get(name, ""),
        "count": count,
        "pods": pods,
        "groups": list(groups),
        "more": count - shown,
        "hidden": not count,
    }


def _active(sim: WorldView, scheduler: SchedulerView, chosen: str, crowd: bool) -> QueueCard:
    head, count = scheduler.queue.active(HEAD if crowd else WINDOW), len(scheduler.queue.active_pods)
    groups = behind(sim, scheduler, head, chosen, GROUPS) if crowd and count > len(head) else []
    return _card("active", [chips.active(sim, queued, chosen) for queued in head], count, groups)


def _build_parked_card(
    sim: WorldView,
    scheduler: SchedulerView,
    grouping: tuple[str, str],
    pods: Mapping[str, QueuedPod],
    show: Callable[[QueuedPod, str], PodChip],
    chosen: str,
) -> QueueCard:
    """Return a card of unschedulable or gated pods: single pods if there are at most FEW, else groups."""
    place, by = grouping
    if len(pods) <= FEW:
        return _card(place, [show(queued, chosen) for queued in pods.values()], len(pods))
    return _card(place, [], len(pods), largest(sim, scheduler, place, by, chosen, GROUPS))


def _binding(scheduler: SchedulerView, chosen: str) -> QueueCard:
    """Return the card of pods whose binding cycle runs. Pods that wait on Permit have a card of their own."""
    running = [binding for binding in scheduler.bindings.values() if not binding.waiting]
    pods: list[PodChip] = [
        {**chips.in_cycle(binding.pod, str(binding.phase), chosen), "node": binding.node}
        for binding in running[:WINDOW]
    ]
    return _card("binding", pods, len(running))


def _permit(scheduler: SchedulerView, now: int, chosen: str) -> QueueCard:
    """Return the card of pods that wait on Permit, the inspected pod first, because a user may want to decide on it."""
    waits = [binding for binding in scheduler.bindings.values() if binding.waiting]
    waits.sort(key=lambda binding: binding.pod.key != chosen)
    return _card("permit", [chips.build_permitted_chip(binding, now, chosen) for binding in waits[:WINDOW]], len(waits))


def _join(cards: dict[str, QueueCard], others: dict[str, QueueCard], name: str) -> None:
    """Append the pods of another scheduler, each with the scheduler's name."""
    for key, card in cards.items():
        more = others[key]
        pods: list[PodChip] = [{**row, "via": name} for row in more["pods"]]
        card["pods"], card["groups"] = ([*card["pods"], *pods][:WINDOW], [*card["groups"], *more["groups"]][:GROUPS])
        card["count"] += more["count"]
        card["more"] = card["count"] - len(card["pods"]) - sum(group["count"] for group in card["groups"])
        card["hidden"] = not card["count"]


def _add_faults(sim: WorldView, cards: Iterable[QueueCard]) -> None:
    """Mark, for the pods shown, the calls that are configured to fail or to be slow."""
    faults = faults_of(sim)
    for card in cards if faults else ():
        for chip in card["pods"]:
            if chip["key"] in faults:
                chip["faults"] = faults[chip["key"]]

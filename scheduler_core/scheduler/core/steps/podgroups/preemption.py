"""Group preemption: the choice of pods or whole groups to evict so that a group can be placed.

All victims of lower priority are removed from a copy of the cache, and the group's algorithm runs once. Then each victim is put back,
those that violate a budget first and the most important first, unless a member no longer passes the filters on its node.

kube: framework/preemption/podgrouppreemption.go, framework/preemption/types.go, plugins/defaultpreemption (PodGroupPostFilter) @ v1.37.2.
DEVIATION: Reserve plugins are not asked again when a victim is put back.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.base.releases import Behavior
from scheduler_core.scheduler.cache.cache import Cache
from scheduler_core.scheduler.core.cycles.group_cycle import GroupCycle
from scheduler_core.scheduler.core.cycles.scheduling_cycle import SchedulingCycle
from scheduler_core.scheduler.core.scheduler import Scheduler
from scheduler_core.scheduler.core.steps import eviction
from scheduler_core.scheduler.framework import Code, Point, Status, error, groups, unresolvable, unschedulable
from scheduler_core.scheduler.framework.preemption.choice import budgets_of, split_by_violation
from scheduler_core.scheduler.framework.preemption.units import Unit, by_importance, units_of
from scheduler_core.scheduler.framework.runtime.filters import FilterRunner
from scheduler_core.scheduler.framework.runtime.framework import Framework
from scheduler_core.scheduler.plugins.defaultpreemption import NEVER, DefaultPreemption, ends_by_preemption
from scheduler_core.scheduler.plugins.dynamicresources.plugin import DynamicResources

PREFIX = "pod group preemption: "
NO_VICTIMS = unresolvable("No preemption victims found for incoming preemptor")
Again = Callable[[Scheduler, GroupCycle], GroupCycle]


@dataclass(frozen=True, slots=True)
class Plan:
    """The result of a preemption: its status, the nodes of the members by pod key, and the pods to evict."""

    status: Status
    nominations: Mapping[str, str] = field(default_factory=dict)
    victims: tuple[Pod, ...] = ()


def preempt(scheduler: Scheduler, group: GroupCycle, again: Again) -> Plan:
    """Look for victims and begin to evict them. kube: PodGroupPostFilter"""
    framework = scheduler.profiles[group.profile]
    claims = _free_claims(scheduler, group, framework)
    if claims.code is Code.ERROR:
        return Plan(claims)
    if framework.plugin(DefaultPreemption.name) is None:
        return Plan(claims)
    plan = _plan(scheduler, group, again)
    if plan.victims:
        stand_in = groups.stand_in(group.group, group.profile)
        eviction.start_for_group(scheduler, group.number, stand_in, plan.victims)
    status, text = plan.status, plan.status.message
    reasons = (PREFIX + text,) if text else ()
    if status.code is Code.UNSCHEDULABLE:
        reasons = (*claims.reasons, *reasons)
    elif status.code is Code.ERROR:
        reasons = (_format_failure(DefaultPreemption.name, *reasons),)
    return replace(plan, status=Status(status.code, reasons))


def _format_failure(plugin: str, text: str = "") -> str:
    return f'error in "{plugin}" PodGroupPostFilter plugins: {text}'


def _free_claims(scheduler: Scheduler, group: GroupCycle, framework: Framework) -> Status:
    """Return DynamicResources' status. DEVIATION: it frees no claims here, as no group's claims are modeled."""
    if framework.plugin(DynamicResources.name) is None or not scheduler.features.dynamic_resources:
        return unschedulable()
    constrained = (group.group.get("spec") or {}).get("schedulingConstraints") is not None
    if scheduler.features.topology_aware_scheduling and constrained:
        return unschedulable()
    steps = (step for trial in group.trials for cycle in trial.cycles for step in cycle.steps)
    if not any(step.point is Point.PRE_FILTER and step.plugin == DynamicResources.name for step in steps):
        return error(_format_failure(DynamicResources.name, "not found"))
    return unschedulable("deallocation and deletion of ResourceClaims completed")


def _plan(scheduler: Scheduler, group: GroupCycle, again: Again) -> Plan:
    members = [member.pod for member in group.queued.members]
    own_policy = scheduler.features.group_preemption_policy
    policies = (
        [groups.preemption_policy(group.group)] if own_policy else [pod.spec.preemption_policy for pod in members]
    )
    if "Never" in policies:
        return Plan(unschedulable(NEVER))
    priority = groups.priority(group.group)
    if _is_ongoing(scheduler, members, priority):
        nominations = {pod.key: pod.nominated_node_name for pod in members}
        return Plan(Status(reasons=("ongoing preemption on nominated nodes",)), nominations)
    everything = units_of(scheduler.snapshot.pods, scheduler.pod_group)
    potential = [unit for unit in everything if unit.priority < priority]
    if not potential:
        return Plan(NO_VICTIMS)
    before = (scheduler.cache, scheduler.snapshot)
    scheduler.cache = scheduler.cache.copy()
    try:
        for unit in potential:
            for pod in unit.pods:
                scheduler.cache.remove_pod(pod)
        scheduler.snapshot = scheduler.cache.table()
        tried = again(scheduler, group)
    finally:
        cache = scheduler.cache
        scheduler.cache, scheduler.snapshot = before
    if not tried.status.ok or tried.chosen is None:
        return Plan(tried.status)
    placed = tried.trials[tried.chosen].placed
    gone = _reprieve(scheduler, scheduler.profiles[group.profile], cache, placed, potential)
    victims = tuple(pod for unit in by_importance(gone) for pod in unit.pods)
    text = f"found a placement for podgroup, preempting {len(victims)} victims"
    return Plan(Status(reasons=(text,)), {cycle.pod.key: cycle.node for cycle in placed}, victims)


def _is_ongoing(scheduler: Scheduler, members: Sequence[Pod], priority: int) -> bool:
    """Return whether victims are still terminating on the nodes that members are nominated to."""
    table = scheduler.snapshot
    rows = {table.row(pod.nominated_node_name) for pod in members if pod.nominated_node_name} - {None}
    pods = (pod for row in rows if row is not None for pod in table.pods[row])
    return any(_priority_of(scheduler, pod) < priority and ends_by_preemption(pod) for pod in pods)


def _priority_of(scheduler: Scheduler, pod: Pod) -> int:
    state = scheduler.pod_group(pod.namespace, pod.spec.group) if pod.spec.group else None
    return pod.priority if state is None else groups.priority(state.manifest)


def _reprieve(
    scheduler: Scheduler, framework: Framework, cache: Cache, placed: list[SchedulingCycle], potential: list[Unit]
) -> list[Unit]:
    """Return the victims to evict so that all members pass the filters on their nodes."""
    first_spent = Behavior.FIRST_SPENT_BUDGET in scheduler.features.behaviors
    budgets = budgets_of(scheduler.view.list("PodDisruptionBudget"), first_spent)
    ordered = by_importance(potential)
    violating, _ = split_by_violation([pod for unit in ordered for pod in unit.pods], budgets)
    spent = {pod.uid for pod in violating}
    ordered.sort(key=lambda unit: not any(pod.uid in spent for pod in unit.pods))
    runner = FilterRunner(framework, scheduler.queue.nominator)
    gone = []
    for unit in ordered:
        for pod in unit.pods:
            cache.add_pod(pod)
        if not _all_fit(runner, cache, placed):
            for pod in unit.pods:
                cache.remove_pod(pod)
            gone.append(unit)
    return gone


def _all_fit(runner: FilterRunner, cache: Cache, placed: list[SchedulingCycle]) -> bool:
    """Return whether the members pass the filters on their nodes, one after the other.

    A victim counts beyond its own node, so plugins that look at other nodes recompute their state.
    """
    there: list[Pod] = []
    fit = True
    for cycle in placed:
        table = cache.table()
        state = runner.renew(cycle.state, cycle.pod, table)
        if runner.refusals(state, cycle.pod, table, np.array([table.rows[cycle.node]], np.intp)):
            fit = False
            break
        there.append(cycle.pod.bound_to(cycle.node))
        cache.assume(there[-1])
    for pod in there:
        cache.forget(pod)
    return fit

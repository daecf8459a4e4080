"""Placements: the candidate sets of nodes for a group, and the choice among the feasible ones.

Without the gate TopologyAwareWorkloadScheduling there is one placement with all nodes. DEVIATION: these plugins cannot be configured;
placements come in the order of their names, where kube has the order of a Go map.

kube: plugins/topologyaware/topology_placement.go, plugins/podgrouppodscount, plugins/noderesources (scorePlacement),
schedule_one_podgroup.go (findBestPodGroupPlacement) @ v1.37.2
"""

import numpy as np

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.scheduler.core.cycles.group_cycle import GroupCycle, PlacementScore, Trial, error_text, unplaced
from scheduler_core.scheduler.core.scheduler import Scheduler
from scheduler_core.scheduler.framework.groups import PodGroupState, topology_key
from scheduler_core.scheduler.framework.status import Code, Status, error, unschedulable
from scheduler_core.scheduler.plugins.noderesources.fit import NodeResourcesFit

MAX_SCORE = 100
PODS_COUNT = "PodGroupPodsCount"


def generate(scheduler: Scheduler, group: Manifest, state: PodGroupState) -> list[Trial] | Status:
    """Return the placements to try: one for each value of the topology key. kube: GeneratePlacements"""
    key = topology_key(group) if scheduler.features.topology_aware_scheduling else ""
    if not key:
        return [Trial()]
    wanted = _domain_of(scheduler, state, key)
    if isinstance(wanted, Status):
        return wanted
    domains: dict[str, list[str]] = {}
    for node in scheduler.snapshot.nodes:
        value = node.labels.get(key)
        if value is not None and wanted in (None, value):
            domains.setdefault(value, []).append(node.name)
    if not domains:
        return unschedulable("no feasible placements found")
    return [Trial(name, tuple(domains[name])) for name in sorted(domains)]


def _domain_of(scheduler: Scheduler, state: PodGroupState, key: str) -> str | Status | None:
    """Return the value that members with a node have fixed."""
    found: str | None = None
    text = "cannot determine domain for already scheduled pods: "
    for pod in state.scheduled:
        row = scheduler.snapshot.row(pod.node_name)
        value = None if row is None else scheduler.snapshot.nodes[row].labels.get(key)
        if value is None:
            return error(f"{text}no topology domain found for pod {pod.key}")
        if found not in (None, value):
            return error(f"{text}more than 1 domain found for pod group: {found}, {value}")
        found = value
    return found


def choose(scheduler: Scheduler, group: GroupCycle) -> tuple[int, Status]:
    """Return the index of the trial whose members are submitted, and the status of the group."""
    trials = group.trials
    if len(trials) == 1 and trials[0].nodes is None and not scheduler.features.topology_aware_scheduling:
        return 0, trials[0].status
    if trials[group.at].status.code is Code.ERROR:
        return group.at, trials[group.at].status
    feasible = [i for i, trial in enumerate(trials) if trial.status.ok]
    if not feasible:
        text = f"0/{len(trials)} placements are available, first placement status: {error_text(trials[0].status)}"
        return 0, unplaced(text)
    if len(feasible) > 1:
        _score(scheduler, group, [trials[i] for i in feasible])
    most = max(trials[i].total for i in feasible)
    best = [i for i in feasible if trials[i].total == most]
    chosen = best[scheduler.algorithm_state.draw(len(best))] if len(best) > 1 else best[0]
    return chosen, trials[chosen].status


def _score(scheduler: Scheduler, group: GroupCycle, trials: list[Trial]) -> None:
    """Score the feasible placements: used capacity, and the number of members with a node."""
    fit = scheduler.profiles[group.profile].plugin(NodeResourcesFit.name)
    counts = [group.before + len(trial.placed) for trial in trials]
    most = max(counts) or 1
    for trial, count in zip(trials, counts, strict=True):
        used = 0
        if isinstance(fit, NodeResourcesFit):
            table = scheduler.snapshot
            names = table.names if trial.nodes is None else trial.nodes
            rows = np.array([table.rows[name] for name in names], np.intp)
            used = fit.score_placement(table, rows, [cycle.pod for cycle in trial.placed])
        trial.scores = (
            PlacementScore(NodeResourcesFit.name, used, used),
            PlacementScore(PODS_COUNT, count, count * MAX_SCORE // most),
        )

"""The dry run: the nodes on which the pod would fit, with the victims; all candidate nodes run in lockstep.

First all pods of lower priority are removed from all nodes of the block and the filters run once. Then the k-th most important pod of
every node is put back at once and the filters run again: if the preemptor no longer fits, that pod is a victim.

kube: framework/preemption/preemption.go (DryRunPreemption), plugins/defaultpreemption (SelectVictimsOnNode) @ v1.34.1
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from scheduler_core.apimachinery.objects import NEVER, Pod
from scheduler_core.scheduler.cache.table import NodeTable
from scheduler_core.scheduler.cache.what_if import Change
from scheduler_core.scheduler.framework.cycle_state import CycleState
from scheduler_core.scheduler.framework.plugin import Filters, Rows
from scheduler_core.scheduler.framework.preemption.choice import Budget, by_importance, merits, split_by_violation
from scheduler_core.scheduler.framework.preemption.evidence import Candidate, Evidence, Reprieve
from scheduler_core.scheduler.framework.preemption.units import Find, units_of
from scheduler_core.scheduler.framework.preemption.units import by_importance as by_unit_importance
from scheduler_core.scheduler.framework.status import Status, error, unresolvable

Outcome = Candidate | Status
Outcomes = dict[int, tuple[tuple[Pod, ...], Outcome]]  # row -> the pods on it, and the outcome

Eligible = Callable[[NodeTable, int, Pod, Pod], bool]
"""(nodes, row, victim, preemptor) -> whether the victim, of lower priority, may be evicted. kube: IsEligiblePod"""

NO_VICTIMS = unresolvable("No preemption victims found for incoming pod")


@dataclass(slots=True)
class _Node:
    """One node of the block: its removable pods in the order of reprieve, and the results so far."""

    row: int
    violating: int  # the first so many of `removable` violate a budget
    removable: list[Pod]  # a group that is evicted as a whole is represented by one pod
    rest: dict[str, tuple[Pod, ...]] = field(default_factory=dict)  # the others of such a group, by the uid of this one
    victims: list[Pod] = field(default_factory=list)
    violations: int = 0
    reprieves: list[Reprieve] = field(default_factory=list)


def dry_run(
    state: CycleState,
    pod: Pod,
    nodes: NodeTable,
    order: Rows,
    wanted: int,
    budgets: list[Budget],
    filters: Filters,
    evidence: Evidence,
    known: Outcomes,
    now: int = NEVER,
    eligible: Eligible | None = None,
    find: Find | None = None,
) -> list[str]:
    """Fill the evidence's candidates and rejections, evaluating rows in order until `wanted` candidates are found. Return error texts.

    `known` are outcomes of earlier dry runs, which are valid if the pods of their row are the same; new outcomes are added. `now` (ns
    since 1970) replaces the start time of pods that have not started. `eligible`: None if all pods of lower priority are eligible.
    `find`: given if pods may be members of groups.

    Candidates that violate no budget come first; the search continues until it has found one of those.
    """
    fine: list[Candidate] = []
    violating: list[Candidate] = []
    errors: list[str] = []
    start = 0
    while start < len(order):
        # At least 1: all of the candidates so far may violate a budget.
        size = max(wanted - len(fine) - len(violating), 1)
        block: list[int] = order[start : start + size].tolist()
        start += len(block)
        # Identity suffices: a row gets a new tuple when its pods change.
        missing = [row for row in block if row not in known or known[row][0] is not nodes.pods[row]]
        if missing:
            fresh = _try_block(state, pod, nodes, missing, budgets, filters, now, eligible, find)
            known.update((row, (nodes.pods[row], outcome)) for row, outcome in fresh.items())
        for row in block:
            outcome = known[row][1]
            if isinstance(outcome, Status):
                evidence.rejected[nodes.names[row]] = outcome
                if not outcome.rejected:
                    errors.append(outcome.message)
                continue
            (violating if outcome.violations else fine).append(outcome)
            if fine and len(fine) + len(violating) >= wanted:
                break
        if fine and len(fine) + len(violating) >= wanted:
            break
    evidence.candidates = fine + violating
    return errors


def _try_block(
    state: CycleState,
    pod: Pod,
    nodes: NodeTable,
    rows: list[int],
    budgets: list[Budget],
    filters: Filters,
    now: int,
    eligible: Eligible | None,
    find: Find | None,
) -> dict[int, Outcome]:
    """Return one outcome for each row."""
    outcomes: dict[int, Outcome] = {}
    trial: list[_Node] = []
    for row in rows:
        if find is not None:
            node = _node_of_units(nodes, row, pod, budgets, find, now)
            if node is None:
                outcomes[row] = NO_VICTIMS
            else:
                trial.append(node)
            continue
        lower = [p for p in nodes.pods[row] if p.priority < pod.priority]
        if eligible is not None:
            lower = [victim for victim in lower if eligible(nodes, row, victim, pod)]
        if not lower:
            outcomes[row] = NO_VICTIMS
            continue
        # Sorted first, so that the most important pods use up the budgets;
        # violating pods are put back first, as in kube.
        violating, others = split_by_violation(by_importance(lower, now), budgets)
        trial.append(_Node(row, len(violating), violating + others))
    if not trial:
        return outcomes
    view, what_if = nodes.copy(), state.what_if()
    gone = [change for node in trial for removed in node.removable for change in _changes(nodes, node, removed, -1)]
    filters.adjust(what_if, pod, view, gone)
    refused = filters.refusals(what_if, pod, view, _rows(trial))
    for node in trial:
        if node.row in refused:
            outcomes[node.row] = refused[node.row]
    trial = [node for node in trial if node.row not in refused]
    _reprieve(what_if, pod, view, trial, filters)
    for node in trial:
        outcomes[node.row] = _outcome(nodes, node, now)
    return outcomes


def _node_of_units(nodes: NodeTable, row: int, pod: Pod, budgets: list[Budget], find: Find, now: int) -> _Node | None:
    """Return a node whose pods are evicted as units, one per group. DEVIATION: pods on other nodes do not change the filters."""
    units = by_unit_importance((u for u in units_of([nodes.pods[row]], find) if u.priority < pod.priority), now)
    if not units:
        return None
    violating, _ = split_by_violation([each for unit in units for each in unit.pods], budgets)
    spent = {each.uid for each in violating}
    units.sort(key=lambda unit: not any(each.uid in spent for each in unit.pods))
    many = sum(any(each.uid in spent for each in unit.pods) for unit in units)
    return _Node(row, many, [unit.pods[0] for unit in units], {unit.pods[0].uid: unit.pods[1:] for unit in units})


def _changes(nodes: NodeTable, node: _Node, removed: Pod, sign: int) -> list[Change]:
    """Return the changes of a node's row that add or remove a victim."""
    if not node.rest:
        return [Change(node.row, removed, sign)]
    name = nodes.names[node.row]
    pods = (removed, *node.rest.get(removed.uid, ()))
    return [Change(node.row, each, sign) for each in pods if each.node_name == name]


def _rows(trial: list[_Node]) -> Rows:
    return np.array([node.row for node in trial], np.intp)


def _reprieve(state: CycleState, pod: Pod, view: NodeTable, trial: list[_Node], filters: Filters) -> None:
    k = 0
    while True:
        turn = [node for node in trial if k < len(node.removable)]
        if not turn:
            return
        filters.adjust(state, pod, view, [c for node in turn for c in _changes(view, node, node.removable[k], 1)])
        refused = filters.refusals(state, pod, view, _rows(turn))
        back = []
        for node in turn:
            candidate = node.removable[k]
            refusal = refused.get(node.row)
            if refusal is not None:
                back += _changes(view, node, candidate, -1)
                node.victims.append(candidate)
                node.violations += k < node.violating
            node.reprieves.append(
                Reprieve(candidate.key, candidate.priority, k < node.violating, refusal is None, refusal)
            )
        filters.adjust(state, pod, view, back)
        k += 1


def _outcome(nodes: NodeTable, node: _Node, now: int) -> Candidate | Status:
    name = nodes.names[node.row]
    if not node.victims:
        return error(f'expected at least one victim pod on node "{name}"')
    mixed = 0 < node.violating < len(node.removable)
    # Only then is the order broken. kube's sort is unstable, so an additional sort could swap equal victims.
    victims = by_importance(node.victims, now) if mixed and not node.rest else node.victims
    if node.rest:
        victims = [each for victim in victims for each in (victim, *node.rest[victim.uid])]
    marks = merits(victims, node.violations, now)
    return Candidate(node.row, name, tuple(victims), node.violations, marks, tuple(node.reprieves))

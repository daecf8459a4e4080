"""The decisions of a finished cycle in the format of the corpus."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from scheduler_core.scheduler.core.algorithm.post_filter import NO_NODES
from scheduler_core.scheduler.core.cycles.scheduling_cycle import SchedulingCycle
from scheduler_core.scheduler.framework import Code, Point, Rows, Status, unresolvable
from scheduler_core.scheduler.framework.per_node import ScoreBoard
from scheduler_core.scheduler.framework.preemption.evidence import Candidate, Evidence
from scheduler_core.scheduler.framework.runtime.filters import FilterRunner

Observed = dict[str, Any]

MOST_SCORES = 20  # in scenarios of sampling, scores are given up to this many feasible nodes


def status_json(status: Status) -> Observed:
    return {"plugin": status.plugin, "code": status.code.kube_name, "reasons": list(status.reasons)}


def observe(cycle: SchedulingCycle, *, ranks: bool, sampled: bool) -> Observed:
    """Return all fields except those of the driver (pod, profile, node order, sampling).

    `ranks`: the profile has Score plugins. `sampled`: node sampling is the subject of the scenario.
    """
    out: Observed = {"scored": cycle.scores is not None and ranks}
    if any(step.point is Point.PRE_FILTER for step in cycle.steps) or cycle.search is not None:
        out["preFilter"] = _pre_filter(cycle)
    nominated = observe_nominated_node(cycle)
    if nominated is not None:
        out["nominatedNode"] = nominated
    if cycle.search is not None and not cycle.search.own_nomination:
        out["filter"] = _observe_refusals(cycle) if sampled else _verdicts(cycle)
    if cycle.feasible is not None:
        if not sampled:
            out["feasible"] = _names(cycle, np.sort(cycle.feasible, kind="stable"))
        if cycle.chosen is not None:
            out["feasibleNodes"] = len(cycle.feasible)
    if cycle.scores is not None and out["scored"]:
        _observe_scores(cycle, cycle.scores, out, sampled=sampled)
    if cycle.chosen is not None:
        out["topNodes"] = sorted(set(cycle.tied))  # an extender may name a node twice
        out["chosen"] = cycle.chosen
    else:
        observe_failure(cycle, out)
        out["preemption"] = preemption(cycle)
    return out


def _pre_filter(cycle: SchedulingCycle) -> Observed:
    status = cycle.pre_filter_status
    return {
        **status_json(status),
        "nodes": None if cycle.node_names is None or not status.ok else sorted(cycle.node_names),
        "nodePlugins": sorted(cycle.narrowed_by),
        "skippedFilters": sorted(cycle.state.skip_filter),
    }


def observe_all(cycle: SchedulingCycle, runner: FilterRunner) -> Observed:
    """Return the filters' results for every node. The corpus has these even if the nominated node was taken without evaluation."""
    rows = np.arange(len(cycle.nodes), dtype=np.intp)
    if cycle.node_names is not None:
        rows = np.array([row for row in rows if cycle.nodes.names[row] in cycle.node_names], np.intp)
    refused = runner.refusals(cycle.state, cycle.pod, cycle.nodes, rows)
    looked_at = set(rows.tolist())
    absent = unresolvable(f"node(s) didn't satisfy plugin(s) [{' '.join(cycle.narrowed_by)}]")
    out: Observed = {}
    for row, name in enumerate(cycle.nodes.names):
        if row not in looked_at:
            out[name] = {**status_json(absent), "plugin": "", "excluded": True}
        else:
            out[name] = status_json(refused[row]) if row in refused else None
    return out


def observe_nominated_node(cycle: SchedulingCycle) -> Observed | None:
    """Return the result for the pod's nominated node; None if the node was not evaluated."""
    lost = cycle.extension is not None and cycle.extension.lost  # by the extenders
    if cycle.search is None or not (cycle.search.own_nomination or cycle.nominated_refusal or lost):
        return None
    refusal = cycle.nominated_refusal
    return {
        "node": cycle.pod.nominated_node_name,
        "passes": refusal is None,
        "status": None if refusal is None else status_json(refusal),
    }


def preemption(cycle: SchedulingCycle, evidence: Evidence | None = None) -> Observed | None:
    """Return the candidates and the choice of DefaultPreemption; None if it did not run and no evidence is given."""
    ran = next((step.evidence for step in reversed(cycle.steps) if isinstance(step.evidence, Evidence)), None)
    evidence = evidence if ran is None else ran
    if evidence is None:
        return None
    out: Observed = {"eligible": evidence.eligible}
    if not evidence.eligible:
        out["ineligibleMessage"] = evidence.message
    else:
        potential = np.flatnonzero(cycle.node_to_status.codes(len(cycle.nodes)) == int(Code.UNSCHEDULABLE))
        out["potentialNodes"] = sorted(_names(cycle, potential))
    out["candidates"] = candidates_json(evidence.candidates)
    out["rejected"] = {node: status_json(status) for node, status in evidence.rejected.items()}
    left = evidence.criteria[-1].left if evidence.criteria else [c.node for c in evidence.remaining]
    if cycle.post_filter.code is Code.ERROR and evidence.nominated == "":
        left = []
    out["acceptable"] = sorted(left)
    out["nominated"] = evidence.nominated
    if cycle.preemption is not None:
        out["victims"] = [pod.key for pod in cycle.preemption.victims]
        out["clearedNominations"] = [pod.key for pod in cycle.preemption.cleared]
    out["statusCode"] = cycle.post_filter.code.kube_name
    out["statusMessage"] = cycle.post_filter.message
    return without_empty(out)


def candidates_json(candidates: Sequence[Candidate]) -> list[Observed]:
    return [
        {"node": c.node, "victims": [pod.key for pod in c.victims], "numPDBViolations": c.violations}
        for c in sorted(candidates, key=lambda candidate: candidate.node)
    ]


def without_empty(fields: Mapping[str, Any]) -> Observed:
    """Return the fields without empty ones, which are equal to absent ones."""
    return {field: value for field, value in fields.items() if value not in (None, [], {}, "")}


def _verdicts(cycle: SchedulingCycle) -> Observed:
    """Every node: null where it passes, else its status; a node outside PreFilter's result is marked."""
    verdicts: Observed = {}
    node_to_status = cycle.node_to_status
    for row, name in enumerate(cycle.nodes.names):
        status = node_to_status.status_of(row)
        verdicts[name] = None if status is None else status_json(status)
        if status is not None and node_to_status.is_excluded(row):
            verdicts[name] |= {"plugin": "", "excluded": True}
        if not node_to_status.is_evaluated(row):
            verdicts[name] = {"plugin": "", "code": "not evaluated", "reasons": []}
    return verdicts


def _observe_refusals(cycle: SchedulingCycle) -> Observed:
    """Only the nodes that were evaluated and refused."""
    node_to_status = cycle.node_to_status
    statuses = ((row, node_to_status.status_of(row)) for row in node_to_status.refused.tolist())
    return {cycle.nodes.names[row]: status_json(status) for row, status in statuses if status is not None}


def _observe_scores(cycle: SchedulingCycle, board: ScoreBoard, out: Observed, *, sampled: bool) -> None:
    out["skippedScores"] = sorted(cycle.state.skip_score)
    if board.total is None:
        return
    if not sampled or len(board.rows) <= MOST_SCORES:
        assert board.total is not None
        steps = {"raw": board.raw, "normalized": board.normalized, "weighted": board.weighted}
        nodes = {
            cycle.nodes.names[int(row)]: {
                **{step: [int(scores[i]) for scores in vectors] for step, vectors in steps.items()},
                "total": int(board.total[i]),
                **_observe_extenders(board, i),
            }
            for i, row in enumerate(board.rows)
        }
        out["scores"] = {"plugins": list(board.plugins), "weights": list(board.weights), "nodes": nodes}
    if sampled:
        out["bestTotal"] = int(board.total.max())


def _observe_extenders(board: ScoreBoard, i: int) -> Observed:
    score = sum(int(scores[i]) for scores in board.extended)
    return {"extender": score} if score else {}


def observe_failure(cycle: SchedulingCycle, out: Observed) -> None:
    """Add the fields of a failed attempt."""
    if cycle.failure.code is Code.ERROR:
        out["errorKind"] = "Error"
    elif cycle.message == NO_NODES and not len(cycle.nodes):
        out["errorKind"] = "NoNodes"
    else:
        out["errorKind"] = "FitError"
        out["unschedulablePlugins"] = sorted(cycle.unschedulable_plugins)
    # What PostFilter adds stands behind the error in the pod's condition only.
    out["error"] = cycle.message.removesuffix(f" {cycle.post_filter.message}")
    out["message"] = cycle.message


def _names(cycle: SchedulingCycle, rows: Rows) -> list[str]:
    return [cycle.nodes.names[int(row)] for row in rows]

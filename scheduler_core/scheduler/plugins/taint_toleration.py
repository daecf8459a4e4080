"""TaintToleration: rejects nodes with a hard taint that the pod does not tolerate, prefers nodes with fewer soft ones.

kube: plugins/tainttoleration/taint_toleration.go @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scheduler_core.apimachinery.objects.affinity import misses
from scheduler_core.apimachinery.objects.node import NO_EXECUTE, NO_SCHEDULE, PREFER_NO_SCHEDULE, Node, Taint
from scheduler_core.apimachinery.objects.pod import Pod, Toleration
from scheduler_core.base.releases import Behavior
from scheduler_core.scheduler.cache.table import NodeTable
from scheduler_core.scheduler.framework import SUCCESS, Action, CycleState, On, Reason, Status, error, unresolvable
from scheduler_core.scheduler.framework.drafts import Change, Draft, Edit, Refusal
from scheduler_core.scheduler.framework.explanation import (
    Code,
    Explanation,
    Parts,
    Row,
    Source,
    Table,
    Words,
    WrittenValue,
    gettext_noop,
    phrase,
    remark,
)
from scheduler_core.scheduler.framework.formula import NODE, Formula, Line, Value, constant, total
from scheduler_core.scheduler.framework.plugin import Handle, Plugin, Point, Rows, Scores, Verdicts
from scheduler_core.scheduler.plugins.helper.hints import after_own_change
from scheduler_core.scheduler.plugins.helper.memo import remember
from scheduler_core.scheduler.plugins.helper.node_selection import GOING, passes
from scheduler_core.scheduler.plugins.helper.normalize import default_normalization, default_normalize

NAME = "TaintToleration"

PRE_SCORE_STATE = "PreScore" + NAME

UNTOLERATED = Reason("UntoleratedTaint", "node(s) had untolerated taint {<key>: <value>}")
UNTOLERATED_TAINTS = Reason("UntoleratedTaints", "node(s) had untolerated taint(s)")

SET_BY_CONTROLLERS = "node.kubernetes.io/"  # taints that controllers set and remove
NOT_FOR_WORK = (SET_BY_CONTROLLERS, "node-role.kubernetes.io/")  # taints of nodes in trouble, or with other tasks
HARD_EFFECTS = (NO_SCHEDULE, NO_EXECUTE)
MOST_COMPARED = 500  # nodes, to bound the cost

_TOLERATED = gettext_noop("tolerated by the pod")
_NOT_TOLERATED = gettext_noop("not tolerated by the pod")
_COLUMNS = gettext_noop("taint"), gettext_noop("tolerated by")
_NONE = Words("no toleration")
_COUNTED = phrase("The score counts PreferNoSchedule taints that the pod does not tolerate.")


def _name_taint(taint: Taint) -> Status:
    return unresolvable(UNTOLERATED(key=taint.key, value=taint.value))


def _name_no_taint(taint: Taint) -> Status:
    return unresolvable(UNTOLERATED_TAINTS())


@dataclass(frozen=True, slots=True)
class _Verdicts:
    """Filter's verdict per distinct taint set: -1 if the set is tolerated, else an index into `statuses`."""

    reason: NDArray[np.int32]
    statuses: tuple[Status, ...]


def after_node_taints_change(plugin: TaintToleration, pod: Pod, old: Node | None, new: Node) -> bool:
    """Return whether the node's taints no longer reject the pod. kube: isSchedulableAfterNodeChange"""
    return (old is None or _refuses(old, pod)) and not _refuses(new, pod)


def _refuses(node: Node, pod: Pod) -> bool:
    return _first_untolerated(node.taints, pod.spec.tolerations) is not None


class TaintToleration(Plugin):
    """One verdict and one count per distinct taint set, which the nodes then take."""

    name = NAME
    reasons = (UNTOLERATED, UNTOLERATED_TAINTS)
    row_local = True
    events = (
        On("Node", Action.ADD | Action.UPDATE_NODE_TAINT, after_node_taints_change),
        On("Pod", Action.UPDATE_POD_TOLERATION, after_own_change),
    )

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        super().__init__(args, handle)
        constant = Behavior.CONSTANT_TAINT_TEXT in handle.features.behaviors
        self._refusal = _name_no_taint if constant else _name_taint

    def filter(self, state: CycleState, pod: Pod, nodes: NodeTable, rows: Rows) -> Verdicts | None:
        tolerations = pod.spec.tolerations
        per_set = remember(
            nodes.memo,
            (NAME, "filter", tolerations),
            lambda: _filter_sets(nodes.taint_sets, tolerations, self._refusal),
        )
        if not per_set.statuses:
            return None
        return Verdicts(per_set.reason[nodes.taint_set[rows]], per_set.statuses)

    def pre_score(self, state: CycleState, pod: Pod, nodes: NodeTable, rows: Rows) -> Status:
        state.write(PRE_SCORE_STATE, True)
        return SUCCESS

    def score(self, state: CycleState, pod: Pod, nodes: NodeTable, rows: Rows) -> Scores | Status:
        """Return the number of soft taints that the pod does not tolerate. As in kube, PreScore is required."""
        if state.get(PRE_SCORE_STATE) is None:
            return error(f'failed to read "{PRE_SCORE_STATE}" from cycleState: not found')
        tolerations = pod.spec.tolerations
        per_set = remember(nodes.memo, (NAME, "score", tolerations), lambda: _count_sets(nodes.taint_sets, tolerations))
        return per_set[nodes.taint_set[rows]]

    def normalize(self, state: CycleState, pod: Pod, nodes: NodeTable, rows: Rows, scores: Scores) -> Scores:
        return default_normalize(scores, reverse=True)

    def describe_prepared(self, point: Point, state: CycleState, pod: Pod, nodes: NodeTable) -> Explanation:
        soft = [str(each.key or "*") for each in _soft(pod.spec.tolerations)]
        if not soft:
            return (remark("The pod tolerates no PreferNoSchedule taint."),)
        return (remark("Tolerations of PreferNoSchedule taints:", *map(Code, soft)),)

    def explain(self, state: CycleState, pod: Pod, nodes: NodeTable, row: int) -> Explanation:
        """Return each hard taint of the node, with the pod's toleration of the taint."""
        node = nodes.nodes[row]
        hard = [(i, taint) for i, taint in enumerate(node.taints) if taint.effect in HARD_EFFECTS]
        rows = tuple(_taint_row(taint, i, node.name, pod) for i, taint in hard)
        return (Table(_COLUMNS, rows),) if rows else ()

    def formula(self, state: CycleState, pod: Pod, nodes: NodeTable, row: int) -> Formula:
        node, tolerations = nodes.nodes[row], _soft(pod.spec.tolerations)
        lines = [
            _taint_line(taint, i, node.name, _is_tolerated(taint, tolerations))
            for i, taint in enumerate(node.taints)
            if taint.effect == PREFER_NO_SCHEDULE
        ]
        return Formula((*lines, Line(NODE, total(*lines) if lines else constant(0))), (_COUNTED,))

    def normalization(
        self, state: CycleState, pod: Pod, nodes: NodeTable, rows: Rows, scores: Scores, i: int
    ) -> Formula:
        return default_normalization(nodes, rows, scores, i, reverse=True)

    def detail(self, text: str, pod: Pod, node: Node) -> str:
        """Add the taint to the reason; kube's text since 1.34.2 does not name the taint."""
        taint = _first_untolerated(node.taints, pod.spec.tolerations)
        if taint is None or UNTOLERATED_TAINTS.read(text) is None:
            return text
        return UNTOLERATED(key=taint.key, value=taint.value)

    def propose_fixes(self, draft: Draft, refusal: Refusal) -> Iterator[Draft]:
        """Propose to tolerate the taints, or to remove those that no controller would set again."""
        node, tolerations = refusal.node, refusal.pod.spec.tolerations
        hard = [taint for taint in node.taints if taint.effect in HARD_EFFECTS]
        refusing = [taint for taint in hard if not _is_tolerated(taint, tolerations)]
        if not refusing:
            return
        tolerating = untainted = draft
        for taint in refusing:
            near = next(
                (each for each in tolerations if each.effect and replace(each, effect="").tolerates(taint)), None
            )
            found: dict[str, Any] = {
                "taint": str(taint),
                **({} if near is None else {"from": near.effect, "to": taint.effect}),
            }
            if near is None and _is_of_others(refusal, taint):
                found["others"] = True
            kind = "toleration" if near is None else "toleration-effect"
            tolerating = tolerating.with_pod(Change(kind, found), _tolerate(taint, near))
            kind = "taint-left" if passes(taint.key) and taint.key not in GOING else "taint"
            change = Change(kind, {"node": node.name, "taint": str(taint)})
            untainted = untainted.with_node(change, node.manifest, _untaint(taint))
        # A kubelet that is short of disk space or process IDs rejects even tolerating pods. kube: eviction_manager.go Admit
        if not any(taint.key in GOING or taint.key.endswith(("/disk-pressure", "/pid-pressure")) for taint in refusing):
            yield tolerating
        if not any(_is_set_by_controllers(taint) for taint in refusing):
            yield untainted
        elif all(map(_is_set_by_controllers, refusing)):
            values = {"node": node.name, "taints": [taint.key for taint in refusing]}
            yield draft.with_node(Change("ready", values), node.manifest, _ready)


def _is_of_others(refusal: Refusal, taint: Taint) -> bool:
    """Return whether a taint reserves nodes for other pods: worker nodes without the taint match the pod and offer its resources."""
    pod, devices = refusal.pod, [name for name, _ in refusal.pod.requests.scalar]
    return any(
        not any(each.key == taint.key or each.key.startswith(NOT_FOR_WORK) for each in node.taints)
        and not misses(pod, node)
        and all(node.allocatable.get(name) for name in devices)
        for node in refusal.nodes.nodes[:MOST_COMPARED]
    )


def _is_set_by_controllers(taint: Taint) -> bool:
    """Return whether a controller removes the taint once its cause ends; users set and remove out-of-service."""
    return taint.key.startswith(SET_BY_CONTROLLERS) and taint.key != f"{SET_BY_CONTROLLERS}out-of-service"


def _is_tolerated(taint: Taint, tolerations: Sequence[Toleration]) -> bool:
    return any(toleration.tolerates(taint) for toleration in tolerations)


def _first_untolerated(taints: Sequence[Taint], tolerations: Sequence[Toleration]) -> Taint | None:
    hard = (taint for taint in taints if taint.effect in HARD_EFFECTS)
    return next((taint for taint in hard if not _is_tolerated(taint, tolerations)), None)


def _filter_sets(
    taint_sets: Sequence[tuple[Taint, ...]], tolerations: Sequence[Toleration], refusal: Callable[[Taint], Status]
) -> _Verdicts:
    index: dict[Status, int] = {}
    reason = np.full(len(taint_sets), -1, np.int32)
    for i, taints in enumerate(taint_sets):
        refusing = _first_untolerated(taints, tolerations)
        if refusing is not None:
            reason[i] = index.setdefault(refusal(refusing), len(index))
    return _Verdicts(reason, tuple(index))


def _soft(tolerations: Sequence[Toleration]) -> list[Toleration]:
    return [toleration for toleration in tolerations if toleration.effect in ("", PREFER_NO_SCHEDULE)]


def _taint_row(taint: Taint, i: int, node: str, pod: Pod) -> Row:
    tolerations = enumerate(pod.spec.tolerations)
    found = next((place for place, each in tolerations if each.tolerates(taint)), None)
    source = Source("Pod", pod.key, f"spec.tolerations[{found}]")
    said: Parts = (_NONE,) if found is None else (WrittenValue(f"spec.tolerations[{found}]", source),)
    name: Parts = (WrittenValue(str(taint), Source("Node", node, f"spec.taints[{i}]")),)
    return Row((name, said), bad=found is None)


def _taint_line(taint: Taint, i: int, node: str, tolerated: bool) -> Line:
    what = _TOLERATED if tolerated else _NOT_TOLERATED
    source = Source("Node", node, f"spec.taints[{i}]")
    return Line((Code(str(taint)),), Value(int(not tolerated), what, source=source))


def _count_soft(taints: Sequence[Taint], tolerations: Sequence[Toleration]) -> int:
    """Count the soft taints. Only tolerations of the soft effect, or of every effect, count."""
    soft = _soft(tolerations)
    return sum(1 for taint in taints if taint.effect == PREFER_NO_SCHEDULE and not _is_tolerated(taint, soft))


def _count_sets(taint_sets: Sequence[tuple[Taint, ...]], tolerations: Sequence[Toleration]) -> Scores:
    return np.array([_count_soft(taints, tolerations) for taints in taint_sets], np.int64)


def _tolerate(taint: Taint, near: Toleration | None) -> Edit:
    """Return an edit that widens the effect of a toleration that covers the rest of the taint, or adds a toleration."""
    toleration = {"key": taint.key, "operator": "Equal" if taint.value else "Exists", "effect": taint.effect}
    if taint.value:
        toleration["value"] = taint.value

    def edit(manifest: dict[str, Any]) -> None:
        given = list(manifest["spec"].get("tolerations") or ())
        mine = [each for each in given if near is not None and _is_same(each, near)]
        timed = taint.effect == NO_EXECUTE  # the API allows seconds with that effect only
        kept = [{key: each[key] for key in each if timed or key != "tolerationSeconds"} for each in mine]
        changed = iter({**each, "effect": taint.effect} for each in kept)
        manifest["spec"]["tolerations"] = [
            *(next(changed) if each in mine else each for each in given),
            *([] if mine else [toleration]),
        ]

    return edit


def _is_same(raw: Mapping[str, Any], toleration: Toleration) -> bool:
    return (raw.get("key"), raw.get("value") or "", raw.get("effect")) == (
        toleration.key,
        toleration.value,
        toleration.effect,
    )


def _ready(manifest: dict[str, Any]) -> None:
    """Reset the conditions of the controllers' taints to those of a healthy node, and remove the taints."""
    spec, status = manifest["spec"], manifest["status"]
    spec["taints"] = [t for t in spec.get("taints") or () if not t["key"].startswith(SET_BY_CONTROLLERS)]
    status["conditions"] = [
        {**each, "status": "True" if each.get("type") == "Ready" else "False"}
        for each in status.get("conditions") or ()
    ]


def _untaint(taint: Taint) -> Edit:
    def same(raw: Mapping[str, Any]) -> bool:
        return Taint(raw.get("key") or "", raw.get("value") or "", raw.get("effect") or "") == taint

    def edit(manifest: dict[str, Any]) -> None:
        spec = manifest["spec"]
        spec["taints"] = [raw for raw in spec.get("taints") or () if not same(raw)]

    return edit

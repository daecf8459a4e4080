"""Fixes: named changes, the calls that make them, the proof that the pod is then scheduled, and the side effects."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, replace
from typing import Any

import msgspec

from scheduler_core.analysis.fixes.effects import HURTING, Effect
from scheduler_core.apimachinery.objects import is_extended_name
from scheduler_core.apimachinery.objects.storage.volumes import NO_PROVISIONER
from scheduler_core.scheduler.framework.drafts import HARMS, Change
from scheduler_core.scheduler.plugins.taint_toleration import NOT_FOR_WORK
from scheduler_core.world.commands import Command

SECOND = 1_000_000_000

# Effects of a fix on other pods, the least harm first. A fix with one of the last four is never first in a list.
DISTURBANCES = ("nothing", "restarts", "displaces", "evicts-sibling", "dead-node", "shares-disk", "evicts-superior")
HARMLESS, WARNED = DISTURBANCES[:2], DISTURBANCES[3:]
_LITTLE = 0.1  # of a request: less effort than a new machine
# Harm that no pod shows: data is left behind, a budget protects less, and the cause of an end remains.
_AT_LEAST = {"claim-anew": "displaces", "claim-beside": "displaces", "budget": "restarts"}
_ADDS, _LESSENS, _DEFEATS = map(tuple(HARMS).index, ("adds", "lessens", "defeats"))


@dataclass(frozen=True, slots=True)
class Fix:
    """A proven fix: after its calls and `steps` more transitions, the attempt of `pod` schedules the pod to `node`.

    `kubectl` is the text that users type, and that the proof ran; `commands` are its requests, `pauses` the transitions after each. `pod`
    may be another pod of the same workload; `node` is "" if the fix removes the pod. `time` is the time it took (virtual ns). `effects`
    are the effects on other pods, compared with the same world without the fix, and `disturbance` is the worst of them. `held_back` is
    the number of waiting pods that took no part in the proof.
    """

    changes: tuple[Change, ...]
    commands: tuple[Command, ...]
    node: str
    steps: int
    recreated: bool
    held_back: int = 0
    effects: tuple[Effect, ...] = ()
    kubectl: str = ""
    proven: bool = True
    pauses: tuple[int, ...] = ()
    pod: str = ""
    time: int = 0
    disturbance: str = DISTURBANCES[0]

    @property
    def kind(self) -> str:
        """The kinds of its changes, in their order."""
        return "+".join(dict.fromkeys(change.kind for change in self.changes))

    @property
    def harm(self) -> str:
        """The greatest harm of its changes, one of HARMS."""
        return tuple(HARMS)[max((change.harm for change in self.changes), default=0)]

    @property
    def outcome(self) -> tuple[str, str, tuple[Effect, ...]]:
        """The result: equal for fixes with the same kind, node, and effects."""
        return self.kind, self.node, self.effects

    @property
    def rank(self) -> tuple[int, float, int, int, float]:
        """The sort key: the harm to others, then the kind of change, the number of harmed pods, and the effort."""
        costs = [change.cost for change in self.changes]
        effort = max((_effort(change) for change in self.changes), default=0)
        effort += 0.5 * (self.kind == "budget" and not self.changes[0].values.get("counted"))
        hurt = sum(effect.kind in HURTING for effect in self.effects)
        harm = DISTURBANCES.index(self.disturbance)
        if self.kind == "rollout" and self.disturbance in HARMLESS:  # it restarts what the rollout restarts in any case
            harm = 0
        for change in self.changes:
            least = "restarts" if change.values.get("ended") else _AT_LEAST.get(change.kind, "nothing")
            harm = max(harm, DISTURBANCES.index(least))
        return harm, effort, hurt, sum(rank for rank, _ in costs), sum(amount for _, amount in costs)

    def to_json(self) -> dict[str, Any]:
        plain = {each.name: getattr(self, each.name) for each in fields(self)}
        lists = {name: [each.to_json() for each in plain[name]] for name in ("changes", "effects")}
        requests = [msgspec.to_builtins(command) for command in self.commands]
        more = {"commands": requests, "pauses": list(self.pauses), "kind": self.kind, "harm": self.harm}
        return {**plain, **lists, **more}


def in_new_domain(change: Change) -> bool:
    """Return whether a new node would be in a new domain."""
    return change.kind == "node" and "new" in change.values.get("labels", {}).values()


# Efforts that differ from the harm of a change's kind: the first row of the kind whose condition holds counts.
_EFFORTS: tuple[tuple[str, Callable[[Change], bool], float], ...] = (
    ("node", in_new_domain, len(HARMS)),
    ("node", lambda change: not change.values["like"], _LESSENS + 0.5),  # a machine of a new kind
    ("volume", lambda change: change.values.get("by") not in (None, "", NO_PROVISIONER), _ADDS),  # by a provisioner
    (
        "capacity",
        lambda change: not is_extended_name(change.values["resource"]),
        _ADDS - 0.5,
    ),  # requires a kubelet's configuration
    ("toleration", lambda change: str(change.values["taint"]).startswith(NOT_FOR_WORK), _ADDS - 0.5),
    ("toleration", lambda change: bool(change.values.get("others")), _LESSENS + 0.75),  # nodes of another team
    ("force-delete", lambda change: True, _ADDS - 0.5),  # the pod ends anyway
    (
        "recreate",
        lambda change: bool(change.values.get("again")),
        _ADDS - 0.5,
    ),  # it ended by itself, and may do so again
    ("resize", lambda change: bool(change.values.get("pending")), 0),  # the kubelet has not granted it yet
    ("request", lambda change: change.values["to"] == "0", len(HARMS)),  # without the resource, the pod is of no use
    ("request", lambda change: change.amount <= _LITTLE, _ADDS - 1),
    (
        "label",
        lambda change: bool(change.values.get("was")),
        _DEFEATS,
    ),  # other pods may select the node by the current value
)


def _effort(change: Change) -> float:
    return next((effort for kind, holds, effort in _EFFORTS if kind == change.kind and holds(change)), change.harm)


def rank_fixes(fixes: Iterable[Fix]) -> tuple[Fix, ...]:
    """Return fixes by rank, or none if even the least harmful one is unfit to be first."""
    ranked = tuple(sorted(fixes, key=lambda fix: fix.rank))
    return () if ranked and ranked[0].disturbance in WARNED else ranked


@dataclass(frozen=True, slots=True)
class Budget:
    """The limits of a search. `steps`: transitions of all proofs; `proof_steps` and `proof_time` (ns): limits of one proof.

    `settling`: transitions after the pod was scheduled, in which other pods are scheduled. `big`: candidates of the last resort.
    `should_stop` ends the search with its current result; `found` receives each fix as soon as it is proven.
    """

    candidates: int = 60
    steps: int = 8_000
    proof_steps: int = 2_000
    proof_time: int = 600 * SECOND
    fixes: int = 12
    alike: int = 2
    settling: int = 200
    changes: int = 3
    big: int = 12
    should_stop: Callable[[], bool] = lambda: False
    found: Callable[[Fix], None] = lambda fix: None

    def lengthen(self) -> Budget:
        """Return a budget for proofs that need hours of controllers' time."""
        return replace(self, steps=10 * self.steps, proof_steps=10 * self.proof_steps, proof_time=24 * self.proof_time)


@dataclass(frozen=True, slots=True)
class Findings:
    """The result of a search. `state`: "gone", "bound", "fits" (nothing needs to change), or "searched".

    `tried` counts the candidates, and `unproven` those that passed every filter but whose attempt was beyond the budget or had another
    result. `complete` is False if the budget ended the search. `cut` counts the proofs that reached their own budget: they may succeed in
    a longer run.
    """

    pod: str
    state: str
    fixes: tuple[Fix, ...] = ()
    tried: int = 0
    unproven: int = 0
    complete: bool = True
    cut: int = 0

    def to_json(self) -> dict[str, Any]:
        plain = {each.name: getattr(self, each.name) for each in fields(self)}
        return {**plain, "fixes": [fix.to_json() for fix in self.fixes]}

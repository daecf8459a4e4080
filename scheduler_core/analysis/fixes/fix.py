"""What a fix is: named changes, the calls that make them, the proof that the pod is scheduled then, and what else comes of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, replace
from typing import Any

import msgspec

from scheduler_core.analysis.fixes.effects import HURTING, Effect
from scheduler_core.apimachinery.objects.storage.volumes import NO_PROVISIONER
from scheduler_core.scheduler.framework.drafts import HARMS, Change
from scheduler_core.world.commands import Command

SECOND = 1_000_000_000

# What a fix does to others than the pod, the least harm first. None of the last four comes first in a list.
DISTURBANCES = ("nothing", "restarts", "displaces", "evicts-sibling", "dead-node", "shares-disk", "evicts-superior")
HARMLESS, WARNED = DISTURBANCES[:2], DISTURBANCES[3:]
_LITTLE = 0.1  # of a request: less effort than another machine
_NOT_FOR_WORK = ("node.kubernetes.io/", "node-role.kubernetes.io/")  # taints of nodes in trouble, or with other tasks
# What a fix does that no pod shows: data is left behind, a budget protects less, and the cause of an end stays.
_AT_LEAST = {"claim-anew": "displaces", "claim-beside": "displaces", "budget": "restarts"}
_ADDS, _LESSENS, _DEFEATS = map(tuple(HARMS).index, ("adds", "lessens", "defeats"))


@dataclass(frozen=True, slots=True)
class Fix:
    """A proven fix: after its calls and `steps` transitions more, the attempt of `pod` ends with it scheduled to `node`.

    `kubectl` is what people type for it, and what was run; `commands` are the requests that it became, `pauses` the transitions after
    each. `pod` may be another one of the same workload; `node` is "" where the pod was to go. `time` is what it took (virtual ns).
    `effects` is what becomes of other pods, compared with the same world without the fix, and `disturbance` the worst of it.
    Where `held_back` is not 0, so many pods that wait, too, took no part in the proof.
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
        """The kinds of its changes, the first first."""
        return "+".join(dict.fromkeys(change.kind for change in self.changes))

    @property
    def harm(self) -> str:
        """One of HARMS: that of the change which does most."""
        return tuple(HARMS)[max((change.harm for change in self.changes), default=0)]

    @property
    def outcome(self) -> tuple[str, str, tuple[Effect, ...]]:
        """Equal for fixes that come to the same."""
        return self.kind, self.node, self.effects

    @property
    def rank(self) -> tuple[int, float, int, int, float]:
        """The least harm to others first; then what is changed, how many others are hurt, and the effort."""
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
    """Return whether a new node would be in a domain that is not there yet."""
    return change.kind == "node" and "new" in change.values.get("labels", {}).values()


def _effort(change: Change) -> float:
    """A machine of a kind that is not there yet is more effort than any change that keeps what is there running."""
    if change.kind == "node" and not change.values["like"]:
        return len(HARMS) if in_new_domain(change) else _LESSENS + 0.5
    if change.kind == "volume" and change.values.get("by") not in (None, "", NO_PROVISIONER):  # who is to make it
        return _ADDS
    if change.kind == "capacity" and change.values["resource"] == "pods":  # which its kubelet is configured with
        return _ADDS - 0.5
    if change.kind == "toleration" and str(change.values["taint"]).startswith(_NOT_FOR_WORK):
        return _ADDS - 0.5
    if change.kind == "force-delete":  # of a pod that ends anyway
        return _ADDS - 0.5
    if change.kind == "recreate" and change.values.get("again"):  # it ended by itself, and may do so again
        return _ADDS - 0.5
    if change.kind == "request" and change.values["to"] == "0":  # the pod is of no use without what it was made for
        return len(HARMS)
    if change.kind == "label" and change.values.get("was"):  # others may select the node by what the label says now
        return _DEFEATS
    return _ADDS - 1 if change.kind == "request" and change.amount <= _LITTLE else change.harm


def rank_fixes(fixes: Iterable[Fix]) -> tuple[Fix, ...]:
    """Fixes by their ranks; none where the least harmful one is not fit to come first."""
    ranked = tuple(sorted(fixes, key=lambda fix: fix.rank))
    return () if ranked and ranked[0].disturbance in WARNED else ranked


@dataclass(frozen=True, slots=True)
class Budget:
    """The limits of a search. `steps` are transitions of all proofs together, `proof_steps` and `proof_time` (ns) of one.

    `settling`: transitions after the pod was scheduled, in which others find their places. `big`: candidates of the last resort.
    `should_stop` ends the search with what it has; `found` is told each fix as soon as it is proven.
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
        """The same for proofs that need hours of controllers' time."""
        return replace(self, steps=10 * self.steps, proof_steps=10 * self.proof_steps, proof_time=24 * self.proof_time)


@dataclass(frozen=True, slots=True)
class Findings:
    """The result of a search. `state`: "gone", "bound", "fits" (nothing needs to change) or "searched".

    `tried` counts the candidates, `unproven` those that passed every filter but whose attempt did not come within the budget or took
    another course; `complete` is false where the budget ended the search. `cut` counts the proofs that their own budget ended: they
    may come to something if they run longer.
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

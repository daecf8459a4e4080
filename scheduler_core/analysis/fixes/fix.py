"""What a fix is: named changes, the commands that make them, and the proof that the pod is scheduled then."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec

from scheduler_core.analysis.fixes.effects import HURTING, Effect
from scheduler_core.scheduler.framework.drafts import HARMS, Change
from scheduler_core.world.commands import Command

SECOND = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Fix:
    """A proven fix: after `commands`, `steps` transitions on, the pod's attempt ends with it scheduled to `node`.

    `effects` is what becomes of other pods, compared with the same world without the fix. `kubectl` is what people type for it.
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

    @property
    def kind(self) -> str:
        """The kinds of its changes, the first first."""
        return "+".join(dict.fromkeys(change.kind for change in self.changes))

    @property
    def harm(self) -> str:
        """One of HARMS: that of the change which does most."""
        return tuple(HARMS)[max((change.harm for change in self.changes), default=0)]

    @property
    def rank(self) -> tuple[int, int, int, float]:
        """The least harm first: to what is changed, then to other pods; then the fewest changes."""
        costs = [change.cost for change in self.changes]
        harm = max((change.harm for change in self.changes), default=0)
        hurt = sum(effect.kind in HURTING for effect in self.effects)
        return harm, hurt, sum(rank for rank, _ in costs), sum(amount for _, amount in costs)

    def to_json(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "harm": self.harm,
            "changes": [change.to_json() for change in self.changes],
            "commands": [msgspec.to_builtins(command) for command in self.commands],
            "kubectl": self.kubectl,
            "node": self.node,
            "steps": self.steps,
            "recreated": self.recreated,
            "held_back": self.held_back,
            "proven": self.proven,
            "effects": [effect.to_json() for effect in self.effects],
        }


@dataclass(frozen=True, slots=True)
class Budget:
    """The limits of a search. `steps` are transitions of all proofs together, `proof_steps` and `proof_time` (ns) of one.

    `settling`: transitions after the pod was scheduled, in which others find their places. `big`: candidates of the last resort.
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


@dataclass(frozen=True, slots=True)
class Findings:
    """The result of a search. `state`: "gone", "bound", "fits" (nothing needs to change) or "searched".

    `tried` counts the candidates, `unproven` those that passed every filter but whose attempt did not come within the budget or took
    another course; `complete` is false where the budget ended the search.
    """

    pod: str
    state: str
    fixes: tuple[Fix, ...] = ()
    tried: int = 0
    unproven: int = 0
    complete: bool = True

    def to_json(self) -> dict[str, Any]:
        return {
            "pod": self.pod,
            "state": self.state,
            "fixes": [fix.to_json() for fix in self.fixes],
            "tried": self.tried,
            "unproven": self.unproven,
            "complete": self.complete,
        }

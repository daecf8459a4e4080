"""What a fix is: named changes, the one command that makes them, and the proof that the pod is scheduled then."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec

from scheduler_core.commands import Command
from scheduler_core.framework.drafts import Change

SECOND = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Fix:
    """A proven fix: after `command`, `steps` transitions on, the pod's attempt ends with it scheduled to `node`.

    Where `held_back` is not 0, so many pods that wait, too, took no part in the proof.
    """

    changes: tuple[Change, ...]
    command: Command
    node: str
    steps: int
    recreated: bool
    held_back: int = 0

    def to_json(self) -> dict[str, Any]:
        return {
            "changes": [change.to_json() for change in self.changes],
            "command": msgspec.to_builtins(self.command),
            "node": self.node,
            "steps": self.steps,
            "recreated": self.recreated,
            "held_back": self.held_back,
        }


@dataclass(frozen=True, slots=True)
class Budget:
    """What a search may spend. `steps` are transitions of all proofs together, `proof_steps` and `proof_time` (ns) of one."""

    candidates: int = 60
    steps: int = 8_000
    proof_steps: int = 2_000
    proof_time: int = 600 * SECOND
    fixes: int = 8
    alike: int = 2
    changes: int = 3


@dataclass(frozen=True, slots=True)
class Findings:
    """What a search found. `state`: "gone", "bound", "fits" (nothing needs to change) or "searched".

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

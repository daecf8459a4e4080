"""The data of a preemption decision, for display: candidates, victims, and criteria."""

from dataclasses import dataclass, field
from typing import Any

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.base.state import SharedState
from scheduler_core.scheduler.framework.status import Status


@dataclass(frozen=True, slots=True)
class Reprieve:
    """One pod put back in a dry run: it fits beside the preemptor, or it is a victim and why."""

    pod: str
    priority: int
    violates_budget: bool
    kept: bool
    refusal: Status | None = None

    def to_json(self) -> dict[str, Any]:
        return {
            "pod": self.pod,
            "priority": self.priority,
            "violatesBudget": self.violates_budget,
            "kept": self.kept,
            "refusal": None if self.refusal is None else self.refusal.to_json(),
        }


@dataclass(frozen=True, slots=True)
class Candidate:
    """A node on which the pod fits without the victims; victims are in kube's order.

    `merits` has one number for each criterion of the choice; more is better.
    """

    row: int
    node: str
    victims: tuple[Pod, ...]
    violations: int
    merits: tuple[int, ...]
    reprieves: tuple[Reprieve, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {
            "node": self.node,
            "victims": [pod.key for pod in self.victims],
            "numPDBViolations": self.violations,
            "reprieves": [reprieve.to_json() for reprieve in self.reprieves],
        }


@dataclass(frozen=True, slots=True)
class Criterion:
    """One criterion of the choice: its value for each remaining candidate, and the candidates that it keeps."""

    name: str
    number: int  # its index in each candidate's merits
    compared: tuple[Candidate, ...]
    best: tuple[Candidate, ...]

    @property
    def values(self) -> tuple[tuple[str, int], ...]:
        return tuple((candidate.node, candidate.merits[self.number]) for candidate in self.compared)

    @property
    def left(self) -> tuple[str, ...]:
        return tuple(candidate.node for candidate in self.best)

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, "values": dict(self.values), "left": list(self.left)}


@dataclass(slots=True)
class Evidence(SharedState):
    """The data of one preemption attempt."""

    eligible: bool = True
    message: str = ""
    potential: int = 0
    offset: int = 0
    wanted: int = 0
    candidates: list[Candidate] = field(default_factory=list)
    rejected: dict[str, Status] = field(default_factory=dict)
    criteria: list[Criterion] = field(default_factory=list)
    draw: int | None = None
    nominated: str = ""
    extended: list[Candidate] | None = None  # the candidates that the extenders kept, if called

    @property
    def remaining(self) -> list[Candidate]:
        """The candidates for the choice."""
        return self.candidates if self.extended is None else self.extended

    def to_json(self) -> dict[str, Any]:
        more = (
            {}
            if self.extended is None
            else {"candidatesAfterExtenders": [candidate.to_json() for candidate in self.extended]}
        )
        return {
            "eligible": self.eligible,
            "message": self.message,
            "potential": self.potential,
            "offset": self.offset,
            "wanted": self.wanted,
            "candidates": [candidate.to_json() for candidate in self.candidates],
            "rejected": {node: status.to_json() for node, status in self.rejected.items()},
            "criteria": [criterion.to_json() for criterion in self.criteria],
            "draw": self.draw,
            "nominated": self.nominated,
            **more,
        }

"""What the API server answers where it refuses: a reason and a message in its own words.

kube: apimachinery/pkg/api/errors/errors.go @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from scheduler_core.objects.errors import FieldError


@dataclass(frozen=True, slots=True)
class Answer:
    """The outcome of one call. `reason` is kube's ("NotFound", "Conflict"), "" where the call was carried
    out.
    """

    reason: str = ""
    message: str = ""

    @property
    def ok(self) -> bool:
        return not self.reason


DONE = Answer()


def not_found(resource: str, name: str) -> Answer:
    return Answer("NotFound", f'{resource} "{name}" not found')


def already_exists(resource: str, name: str) -> Answer:
    return Answer("AlreadyExists", f'{resource} "{name}" already exists')


def conflict(resource: str, name: str, why: str) -> Answer:
    return Answer("Conflict", f'Operation cannot be fulfilled on {resource} "{name}": {why}')


class Refused(Exception):
    """A request that changes nothing; `errors` are all the reasons."""

    def __init__(self, errors: Iterable[FieldError]) -> None:
        self.errors = tuple(errors)
        super().__init__("; ".join(f"{e.object}: {e}" if e.object else str(e) for e in self.errors))

    @classmethod
    def because(cls, answer: Answer, what: str = "") -> Refused:
        """For one answer of the API server about one object."""
        return cls((FieldError("", "", answer.message, object=what),))

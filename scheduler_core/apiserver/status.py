"""The API server's answer to a refused request: a reason and a message in kube's words.

kube: apimachinery/pkg/api/errors/errors.go @ v1.34.1
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from scheduler_core.apimachinery.objects.errors import FieldError


@dataclass(frozen=True, slots=True)
class Answer:
    """The outcome of one call. `reason` is kube's ("NotFound", "Conflict"), or "" if the call succeeded; `causes` are the messages of the
    Status' details, `retry_after` its seconds. `status`: the code of a refusal without a reason.
    """

    reason: str = ""
    message: str = ""
    causes: tuple[str, ...] = ()
    retry_after: int = 0
    status: int = 0

    @property
    def ok(self) -> bool:
        return not self.reason and not self.status

    @property
    def code(self) -> int:
        """The code of the Status of a refusal."""
        return self.status or _CODES.get(self.reason, 500)


_CODES: Mapping[str, int] = json.loads(Path(__file__).with_suffix(".json").read_text())["codes"]
DONE = Answer()


def not_found(resource: str, name: str) -> Answer:
    return Answer("NotFound", f'{resource} "{name}" not found')


def already_exists(resource: str, name: str) -> Answer:
    return Answer("AlreadyExists", f'{resource} "{name}" already exists')


def conflict(resource: str, name: str, why: str) -> Answer:
    return Answer("Conflict", f'Operation cannot be fulfilled on {resource} "{name}": {why}')


def forbidden(resource: str, name: str, why: str) -> Answer:
    """Return a Forbidden answer with a reason."""
    return Answer("Forbidden", f'{resource} "{name}" is forbidden: {why}')


class Refused(Exception):
    """A refused request, which changes nothing. `errors` are all its errors, `answer` is the API server's answer."""

    def __init__(self, errors: Iterable[FieldError], answer: Answer | None = None) -> None:
        self.errors = tuple(errors)
        self.answer = answer or Answer("Invalid", "; ".join(map(str, self.errors)))
        super().__init__("; ".join(f"{e.object}: {e}" if e.object else str(e) for e in self.errors))

    @classmethod
    def because(cls, answer: Answer, what: str = "") -> Refused:
        """Return the exception for one answer of the API server about one object."""
        return cls((FieldError("", "", answer.message, object=what),), answer)

    @classmethod
    def invalid(cls, kind: str, name: str, errors: Iterable[FieldError]) -> Refused:
        """Return the exception for an object with invalid fields."""
        errors = tuple(errors)
        texts = [str(error) for error in errors]
        said = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
        return cls(errors, Answer("Invalid", f'{kind} "{name}" is invalid: {said}', tuple(texts)))


def unknown_error(message: str, what: str) -> Refused:
    """Return an error without a reason of the API: 500, with its own message."""
    return Refused.because(Answer("Unknown", message), what)

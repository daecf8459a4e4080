"""Answers of the API server, and the Status of each refusal.

kube: apimachinery/pkg/api/errors/errors.go, apiserver/pkg/endpoints/handlers/responsewriters @ v1.34.1
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import yaml

from scheduler_core.apimachinery.objects.errors import FieldError
from scheduler_core.apiserver.status import Answer, Refused

Data = dict[str, Any]
JSON, TEXT = "application/json", "text/plain; charset=utf-8"
NO_RESOURCE = "the server could not find the requested resource"
NOT_ALLOWED = "the server does not allow this method on the requested resource"
_CAUSES: Mapping[str, str] = json.loads(Path(__file__).with_name("causes.json").read_text())["causes"]
_WITHOUT_DETAILS = ("BadRequest", "UnsupportedMediaType", "Expired")


class Reply(NamedTuple):
    """An answer to a client. `body`: JSON data, bytes, or a function that returns the parts of a long body."""

    status: int
    body: Any
    content_type: str = JSON
    headers: Sequence[tuple[str, str]] = ()

    @property
    def data(self) -> bytes:
        return b"".join(self.parts())

    def parts(self) -> Iterable[bytes]:
        """Return the bytes of the body, in parts if it is long. Later changes of the world do not affect them."""
        if callable(self.body):
            parts: Iterable[bytes] = self.body()
            return parts
        return [self.body if isinstance(self.body, bytes) else msgspec.json.encode(self.body) + b"\n"]


def as_yaml(reply: Reply) -> Reply:
    """Return the answer as YAML, or unchanged if it is not JSON."""
    if reply.content_type != JSON:
        return reply
    data = msgspec.json.decode(reply.data)
    return reply._replace(body=yaml.safe_dump(data, allow_unicode=True).encode(), content_type="application/yaml")


class Failure(Refused):
    """An error that is answered with a Status of failure."""

    def __init__(self, code: int, reason: str, message: str, details: Data | None = None, metadata: Data | None = None):
        super().__init__((FieldError("", "", message),), Answer(reason, message, status=code))
        self.code, self.reason, self.details, self.metadata = code, reason, details, metadata or {}
        self.headers: Sequence[tuple[str, str]] = ()

    @property
    def reply(self) -> Reply:
        status: Data = {"kind": "Status", "apiVersion": "v1", "metadata": self.metadata, "status": "Failure"}
        status["message"] = self.answer.message
        if self.reason:
            status["reason"] = self.reason
        if self.details is not None:
            status["details"] = self.details
        seconds = (self.details or {}).get("retryAfterSeconds")
        headers = [("Retry-After", str(seconds))] if seconds else []
        return Reply(self.code, {**status, "code": self.code}, headers=[*headers, *self.headers])


def no_resource() -> Failure:
    """Return the error for a path without a resource."""
    return Failure(404, "NotFound", NO_RESOURCE, {})


def not_allowed() -> Failure:
    """Return the error for a method that a resource does not have."""
    return Failure(405, "MethodNotAllowed", NOT_ALLOWED, {})


def bad_request(message: str) -> Failure:
    return Failure(400, "BadRequest", message)


def causes_of(errors: Sequence[FieldError]) -> list[Data]:
    """Return the causes of a Status."""
    found = []
    for each in errors:
        reason = _CAUSES.get(each.kind, "FieldValueInvalid")
        typed = "FieldValueTypeInvalid" if " in body must be of type " in each.expected else reason
        found.append({"reason": typed, "message": each.text, "field": each.path or "<nil>"})
    return found


def invalid_options(kind: str, *errors: FieldError) -> Failure:
    """Return the error for invalid options of a request (CreateOptions, ListOptions, ...)."""
    texts = ", ".join(map(str, errors))
    said = f"[{texts}]" if len(errors) > 1 else texts
    details = {"group": "meta.k8s.io", "kind": kind, "causes": causes_of(errors)}
    return Failure(422, "Invalid", f'{kind}.meta.k8s.io "" is invalid: {said}', details)


def failure_of(refused: Refused, kind: str, plural: str, group: str, name: str) -> Failure:
    """Return the Status of a refusal about an object. `kind` and `plural` name its resource."""
    answer: Answer = refused.answer
    reason = answer.reason
    if not name and (named_so := re.search(r'^\S+ "([^"]+)" is (?:invalid|forbidden)', answer.message)):
        name = named_so[1]  # generated
    if reason in _WITHOUT_DETAILS:
        return Failure(answer.code, reason, answer.message)
    named: Data = {"name": name} if name else {}
    if group:
        named["group"] = group
    if answer.causes and answer.message.endswith(f" is forbidden: {answer.causes[0]}"):  # for any reason
        details = {**named, "kind": plural, "causes": [{"message": each} for each in answer.causes]}
        return Failure(answer.code, reason, answer.message, details)
    if reason == "Invalid":
        details = {**named, "kind": kind, "causes": causes_of(refused.errors)}
        return Failure(422, reason, answer.message, details)
    details = {**named, "kind": plural}
    if reason == "TooManyRequests":
        causes = [{"reason": "DisruptionBudget", "message": each} for each in answer.causes]
        details = {"causes": causes} if causes else {}
    if answer.retry_after:
        details["retryAfterSeconds"] = answer.retry_after
    if reason in ("Unknown", "InternalError"):
        return Failure(500, "InternalError" if reason == "InternalError" else "", answer.message)
    return Failure(answer.code, reason, answer.message, details)

"""Injected faults of the API server: the next calls about a pod fail or are delayed.

The messages are those that kube's clients get for a status code; the client's reaction (a retry or an error) is in scheduler/client.py.

kube: apimachinery/pkg/api/errors/errors.go (NewGenericServerResponse, NewForbidden, NewConflict, NewNotFound),
apiserver/pkg/registry/generic/registry/store.go (OptimisticLockErrorMsg) @ v1.34.1
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated, Literal

import msgspec

from scheduler_core.apiserver.status import DONE, Answer, conflict, not_found
from scheduler_core.base.clock.agenda import SECOND

BIND, STATUS, DELETE, VOLUMES, CLAIMS = "bind", "status", "delete", "volumes", "claims"
Call = Literal[
    "bind",  # the binding of the pod
    "status",  # the patch of the pod's status: its condition, its nomination, the reason of its eviction
    "delete",  # the deletion of the pod as a victim of preemption
    "volumes",  # the updates of its claims and volumes in PreBind
    "claims",  # writes of DynamicResources to its resource claims
]
StatusCode = Literal[0, 403, 404, 409, 429, 500, 503, 504]
MAX_FAULT_TIMES = 1000
MAX_FAULT_MESSAGE = 500
MAX_LATENCY = 3600 * SECOND

CHANGED = "the object has been modified; please apply your changes to the latest version and try again"
_VERBS = {BIND: "post", STATUS: "patch", DELETE: "delete", VOLUMES: "put", CLAIMS: "put"}
_RIGHTS = {BIND: "create", STATUS: "patch", DELETE: "delete", VOLUMES: "update", CLAIMS: "update"}


class Fault(msgspec.Struct, frozen=True):
    """The outcome of the next `times` calls of a kind about a pod (namespace/name).

    `code` is an HTTP status, or 0 if the call is answered as usual; `message` replaces kube's message. `after_write`: the API server
    carries out the call, and only the answer is lost. `latency` (ns) replaces the setting.
    """

    call: Call
    pod: str
    code: StatusCode = 0
    times: Annotated[int, msgspec.Meta(ge=0, le=MAX_FAULT_TIMES)] = 1
    after_write: bool = False
    latency: Annotated[int, msgspec.Meta(ge=0, le=MAX_LATENCY, extra={"unit": "ns"})] | None = None
    message: Annotated[str, msgspec.Meta(max_length=MAX_FAULT_MESSAGE)] = ""

    @property
    def key(self) -> tuple[str, str]:
        return self.call, self.pod

    def answer(self, resource: str = "pods", name: str = "") -> Answer:
        """Return the client's answer; DONE if the call does not fail. The object is the pod unless another one is given."""
        if not self.code:
            return DONE
        namespace, _, pod = self.pod.partition("/")
        answer = _ANSWERS[self.code](_Call(self.call, resource, name or pod, namespace))
        return replace(answer, message=self.message) if self.message else answer


Faults = dict[tuple[str, str], Fault]


def take(faults: Faults, call: str, pod: str) -> Fault | None:
    """Return the fault for a call that is answered now, or None, and use up one of its times."""
    fault = faults.get((call, pod))
    if fault is None:
        return None
    if fault.times > 1:
        faults[fault.key] = msgspec.structs.replace(fault, times=fault.times - 1)
    else:
        del faults[fault.key]
    return fault


@dataclass(frozen=True, slots=True)
class _Call:
    """The parts of an error message."""

    call: str
    resource: str
    name: str
    namespace: str

    @property
    def subresource(self) -> str:
        part = {BIND: "/binding", STATUS: "/status"}.get(self.call, "")
        return self.resource + part


def _generic(reason: str, text: str) -> Callable[[_Call], Answer]:
    """Return a function that builds an answer without a body, in the words of a client."""
    return lambda c: Answer(reason, f"{text} ({_VERBS[c.call]} {c.resource} {c.name})")


def _forbidden(c: _Call) -> Answer:
    user, where = 'User "system:kube-scheduler"', f'in the namespace "{c.namespace}"'
    what = f'{user} cannot {_RIGHTS[c.call]} resource "{c.subresource}" in API group ""'
    return Answer("Forbidden", f'{c.resource} "{c.name}" is forbidden: {what} {where}')


def _conflict(c: _Call) -> Answer:
    return conflict(c.subresource if c.call == BIND else c.resource, c.name, CHANGED)


_ANSWERS: dict[int, Callable[[_Call], Answer]] = {
    403: _forbidden,
    404: lambda c: not_found(c.resource, c.name),
    409: _conflict,
    429: _generic("TooManyRequests", "the server has received too many requests and has asked us to try again later"),
    500: _generic("InternalError", 'an error on the server ("unknown") has prevented the request from succeeding'),
    503: _generic("ServiceUnavailable", "the server is currently unable to handle the request"),
    504: _generic(
        "Timeout",
        "the server was unable to return a response in the time allotted, but may still be processing the request",
    ),
}
FAULT_CODES = tuple(_ANSWERS)

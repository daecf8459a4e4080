"""Commands: everything that can be asked of a world, as frozen data.

`to_json` and `command_from_json` are inverse to each other; the log of a session is made of the former.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar

from scheduler_core.api.faults import CALLS, CODES, MOST_TEXT, MOST_TIMES, Fault
from scheduler_core.api.status import Refused
from scheduler_core.objects.errors import FieldError

Manifest = Mapping[str, Any]

DEFAULT_SCHEDULER_NAME = "kube-scheduler"
MAX_LATENCY = 3600 * 10**9


@dataclass(frozen=True, slots=True)
class Ref:
    """Names one object; `namespace` is "" for kinds that have none."""

    kind: str
    namespace: str
    name: str

    def to_json(self) -> dict[str, str]:
        return {"kind": self.kind, "namespace": self.namespace, "name": self.name}


@dataclass(frozen=True, slots=True)
class ApplyObjects:
    """Creates objects, or replaces those of the same name; all or none. `create_only` refuses names that are taken."""

    KIND: ClassVar[str] = "ApplyObjects"
    objects: tuple[Manifest, ...]
    create_only: bool = False

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.KIND, "objects": list(self.objects), "create_only": self.create_only}


@dataclass(frozen=True, slots=True)
class DeleteObjects:
    """Deletes objects as kubectl delete does; all or none."""

    KIND: ClassVar[str] = "DeleteObjects"
    refs: tuple[Ref, ...]

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.KIND, "refs": [ref.to_json() for ref in self.refs]}


@dataclass(frozen=True, slots=True)
class PatchObject:
    """Changes one object by a JSON merge patch (RFC 7386)."""

    KIND: ClassVar[str] = "PatchObject"
    ref: Ref
    patch: Manifest

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.KIND, "ref": self.ref.to_json(), "patch": self.patch}


@dataclass(frozen=True, slots=True)
class SetConfiguration:
    """Restarts a scheduler with a KubeSchedulerConfiguration (None: kube's default), or adds one under a new name."""

    KIND: ClassVar[str] = "SetConfiguration"
    configuration: Manifest | None = None
    scheduler: str = DEFAULT_SCHEDULER_NAME

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.KIND, "configuration": self.configuration, "scheduler": self.scheduler}


@dataclass(frozen=True, slots=True)
class SetSettings:
    """Changes settings of the world (see WorldSettings); the schedulers restart."""

    KIND: ClassVar[str] = "SetSettings"
    settings: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.KIND, "settings": dict(self.settings)}


@dataclass(frozen=True, slots=True)
class DecidePermit:
    """Allows or rejects a pod that waits on Permit, in the name of every plugin it waits for."""

    KIND: ClassVar[str] = "DecidePermit"
    pod: str
    decision: str

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.KIND, "pod": self.pod, "decision": self.decision}


@dataclass(frozen=True, slots=True)
class FailCall:
    """Has the next API calls of a kind about a pod fail, or take their time (see Fault); `times` 0 takes back what was asked."""

    KIND: ClassVar[str] = "FailCall"
    fault: Fault

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.KIND, **asdict(self.fault)}


@dataclass(frozen=True, slots=True)
class Undo:
    """Puts back what the last edit changed; the world's time goes on."""

    KIND: ClassVar[str] = "Undo"

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.KIND}


@dataclass(frozen=True, slots=True)
class Redo:
    """Makes the edit again that was undone last."""

    KIND: ClassVar[str] = "Redo"

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.KIND}


Command = (
    ApplyObjects
    | DeleteObjects
    | PatchObject
    | SetConfiguration
    | SetSettings
    | DecidePermit
    | FailCall
    | Undo
    | Redo
)


def refuse(path: str, received: object, expected: str) -> Refused:
    """The error of one field of a command."""
    return Refused((FieldError(path, repr(received), expected),))


def command_from_json(data: object) -> Command:
    """The command that some JSON data is; Refused says which field is wrong."""
    if not isinstance(data, Mapping):
        raise refuse("", data, "a command object")
    kind = data.get("kind")
    if not isinstance(kind, str) or kind not in READERS:
        raise refuse("kind", kind, f"one of {', '.join(READERS)}")
    return READERS[kind](data)


def _mapping(value: object, path: str) -> Manifest:
    if not isinstance(value, Mapping):
        raise refuse(path, value, "an object")
    return value


def _text(value: object, path: str) -> str:
    if not isinstance(value, str):
        raise refuse(path, value, "a string")
    return value


def _list(value: object, path: str) -> list[object]:
    if not isinstance(value, list):
        raise refuse(path, value, "a list")
    return value


def _ref(value: object, path: str) -> Ref:
    data = _mapping(value, path)
    return Ref(
        _text(data.get("kind"), f"{path}.kind"),
        _text(data.get("namespace", ""), f"{path}.namespace"),
        _text(data.get("name"), f"{path}.name"),
    )


def _apply(data: Manifest) -> Command:
    raw = _list(data.get("objects"), "objects")
    create_only = data.get("create_only", False)
    if not isinstance(create_only, bool):
        raise refuse("create_only", create_only, "true or false")
    return ApplyObjects(tuple(_mapping(item, f"objects[{i}]") for i, item in enumerate(raw)), create_only)


def _delete(data: Manifest) -> Command:
    raw = _list(data.get("refs"), "refs")
    return DeleteObjects(tuple(_ref(item, f"refs[{i}]") for i, item in enumerate(raw)))


def _patch(data: Manifest) -> Command:
    return PatchObject(_ref(data.get("ref"), "ref"), _mapping(data.get("patch"), "patch"))


def _configure(data: Manifest) -> Command:
    raw = data.get("configuration")
    name = _text(data.get("scheduler", DEFAULT_SCHEDULER_NAME), "scheduler")
    if not name:
        raise refuse("scheduler", name, "a name")
    return SetConfiguration(None if raw is None else _mapping(raw, "configuration"), name)


def _settings(data: Manifest) -> Command:
    return SetSettings(_mapping(data.get("settings"), "settings"))


def _decide(data: Manifest) -> Command:
    decision = _text(data.get("decision"), "decision")
    if decision not in ("allow", "reject"):
        raise refuse("decision", decision, "allow or reject")
    return DecidePermit(_text(data.get("pod"), "pod"), decision)


def _fail_call(data: Manifest) -> Command:
    call, message = _text(data.get("call"), "call"), _text(data.get("message", ""), "message")
    if call not in CALLS:
        raise refuse("call", call, f"one of {', '.join(CALLS)}")
    code = _whole(data.get("code", 0), "code", f"0 or one of {', '.join(map(str, CODES))}", (0, *CODES))
    times = _whole(data.get("times", 1), "times", f"0 to {MOST_TIMES}", range(MOST_TIMES + 1))
    after_write = data.get("after_write", False)
    if not isinstance(after_write, bool):
        raise refuse("after_write", after_write, "true or false")
    if len(message) > MOST_TEXT:
        raise refuse("message", f"{len(message)} characters", f"at most {MOST_TEXT}")
    latency = data.get("latency")
    if latency is not None:
        longest = range(MAX_LATENCY + 1)
        latency = _whole(latency, "latency", f"0 to {MAX_LATENCY} ns, or null", longest)
    if times and not code and latency is None:
        raise refuse("code", code, "a status code, a latency or both")
    if not code and (message or after_write):
        raise refuse("code", code, "a status code, as there is a message or after_write")
    return FailCall(Fault(call, _text(data.get("pod"), "pod"), code, times, after_write, latency, message))


def _whole(value: object, path: str, expected: str, allowed: Container[int]) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value not in allowed:
        raise refuse(path, value, expected)
    return value


READERS: dict[str, Callable[[Manifest], Command]] = {
    "ApplyObjects": _apply,
    "DeleteObjects": _delete,
    "PatchObject": _patch,
    "SetConfiguration": _configure,
    "SetSettings": _settings,
    "DecidePermit": _decide,
    "FailCall": _fail_call,
    "Undo": lambda _: Undo(),
    "Redo": lambda _: Redo(),
}

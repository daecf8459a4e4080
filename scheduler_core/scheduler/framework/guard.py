"""Guards around custom plugins: an error in a plugin ends only the cycle.

An exception, an invalid answer, and a call that exceeds its budget of lines become an Error status with a message. A plugin's
error ends a cycle of kube-scheduler, too. If a plugin panics or hangs, kube-scheduler itself panics or hangs.

DEVIATION: a plugin that panics is an error of its cycle here.
"""

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import wraps
from types import FrameType
from typing import Any, TypeVar

import numpy as np

from scheduler_core.apimachinery.objects import FieldError, Pod, invalid
from scheduler_core.apiserver.status import Refused
from scheduler_core.scheduler.framework import plugin as framework
from scheduler_core.scheduler.framework.arguments import Arguments
from scheduler_core.scheduler.framework.events import On
from scheduler_core.scheduler.framework.explanation import Paragraph
from scheduler_core.scheduler.framework.status import SUCCESS, Status, error

# Budgets: custom Python code is stopped when it exceeds a number of lines.
#
# Lines are counted, not seconds, so that a replay stops at the same line on any machine. Only modules of the code's own package are
# counted line by line, others call by call. A hang inside a C function is not detected here; the process that runs the world must
# end it.

T = TypeVar("T")

Trace = Callable[[FrameType, str, Any], Any]


class OutOfBudget(BaseException):
    """The code exceeds its budget of lines. Not an Exception, so that no `except Exception` catches it."""


def within(lines: int, package: str, call: Callable[[], T]) -> T:
    """Return the result of a call; raise OutOfBudget if the call exceeds `lines` lines of the package."""
    before = sys.gettrace()
    sys.settrace(_counter(lines, package))
    try:
        return call()
    finally:
        sys.settrace(before)


def _counter(lines: int, package: str) -> Trace:
    left = lines

    def count() -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise OutOfBudget

    def in_package(frame: FrameType, event: str, _: Any) -> Trace:
        if event == "line":
            count()
        return in_package

    def anywhere(frame: FrameType, event: str, _: Any) -> Trace | None:
        count()
        return in_package if _package(frame.f_globals.get("__name__")) == package else None

    return anywhere


def _package(module: Any) -> str:
    return str(module).partition(".")[0]


LINES = 1_000_000  # of Python that one call may run
LINES_IN_QUEUE = 50_000  # of calls for every pod of a queue: one change may cause many
SORTS_LAST = ((1 << 63) - 1,)
_ADJUSTED = "adjust failed/"


@dataclass(frozen=True, slots=True)
class _Method:
    """A plugin's method: the error of an answer ("": valid), and the substitute for an invalid answer.

    `whole` reads a lazy answer to its end.
    """

    check: Callable[[Any, tuple[Any, ...]], str]
    instead: Callable[[framework.Plugin, Status, tuple[Any, ...]], Any]
    whole: Callable[[Any], Any] = lambda answer: answer


def guard_plugin(plugin: type[framework.Plugin]) -> type[framework.Plugin]:
    """Return the plugin's class with a guard around each of its methods."""
    members: dict[str, Any] = {
        name: _guard_method(plugin, name, method)
        for name, method in _METHODS.items()
        if getattr(plugin, name) is not getattr(framework.Plugin, name)
    }
    members |= {"__init__": _guard_init(plugin), "registrations": _guard_registrations(plugin)}
    members |= {"guarded": True, "__module__": plugin.__module__, "__qualname__": plugin.__qualname__}
    members |= {"__doc__": plugin.__doc__, "sort_status": _sort_status}
    if plugin.arguments is not None:
        members["arguments"] = _guard_arguments(plugin, plugin.arguments)
    made: type[framework.Plugin] = type(plugin.__name__, (plugin,), members)
    return made


def _call_plugin(plugin: type[framework.Plugin], call: Callable[[], Any], *, queued: bool = False) -> tuple[Any, str]:
    """Return the result of a call, and an error text ("": none)."""
    lines = LINES_IN_QUEUE if queued else LINES
    try:
        return within(lines, _package(plugin.__module__), call), ""
    except OutOfBudget:
        return None, f"has not returned after {lines:,} lines of Python"
    except MemoryError:
        raise
    except Exception as problem:  # custom code may raise anything
        return None, f"{type(problem).__name__}: {problem}"


def _guard_method(plugin: type[framework.Plugin], name: str, method: _Method) -> Callable[..., Any]:
    original = getattr(plugin, name)

    @wraps(original)
    def call(self: framework.Plugin, *args: Any) -> Any:
        failed = spoilt(args[0], self.name) if name == "filter" else None
        if failed is not None:
            return method.instead(self, failed, args)
        answer, problem = _call_plugin(
            plugin, lambda: method.whole(original(self, *args)), queued=name in ("pre_enqueue", "sort_key")
        )
        problem = problem or method.check(answer, args)
        return method.instead(self, error(problem), args) if problem else answer

    return call


def _sort_status(self: framework.Plugin, pod: Pod, timestamp: int) -> Status:
    """Return whether QueueSort has a valid key for a pod; after an error, the pod waits behind all others."""
    unguarded: Any = type(self).__bases__[0]
    original = unguarded.sort_key
    answer, problem = _call_plugin(type(self), lambda: original(self, pod, timestamp), queued=True)
    problem = problem or _wrong_key(answer, ())
    return error(problem) if problem else SUCCESS


def _guard_init(plugin: type[framework.Plugin]) -> Callable[..., None]:
    """kube: framework/runtime/framework.go (NewFramework): a plugin that can't be made keeps the scheduler from starting"""

    def init(self: framework.Plugin, args: Mapping[str, Any], handle: Any) -> None:
        _, problem = _call_plugin(plugin, lambda: plugin.__init__(self, args, handle))
        if problem:
            raise Refused((FieldError("profiles", "", f'initializing plugin "{plugin.name}": {problem}'),))

    return init


def _guard_registrations(plugin: type[framework.Plugin]) -> Callable[[framework.Plugin], tuple[On, ...]]:
    def registrations(self: framework.Plugin) -> tuple[On, ...]:
        found, problem = _call_plugin(plugin, lambda: plugin.registrations(self))
        if problem:
            return framework.Plugin.registrations(self)
        return tuple(on if on.hint is None else replace(on, hint=_guard_hint(plugin, on)) for on in found)

    return registrations


def _guard_hint(plugin: type[framework.Plugin], on: On) -> Callable[..., bool]:
    """Guard a hint: if it fails, the pod is requeued. kube: backend/queue/scheduling_queue.go (isPodWorthRequeuing)"""
    hint: Any = on.hint

    @wraps(hint)
    def asked(*args: Any) -> bool:
        answer, problem = _call_plugin(plugin, lambda: hint(*args), queued=True)
        return True if problem else bool(answer)

    return asked


def _guard_arguments(plugin: type[framework.Plugin], arguments: Arguments) -> Arguments:
    """Guard the arguments: if defaults or validation fail, the arguments are refused with the error."""

    def defaults(given: Any, features: Any) -> Any:
        answer, problem = _call_plugin(plugin, lambda: arguments.defaults(given, features))
        return {} if problem or not isinstance(answer, Mapping) else answer

    def validate(args: Any, path: str, features: Any) -> list[FieldError]:
        def both() -> list[FieldError]:
            arguments.defaults(args, features)
            return list(arguments.validate(args, path, features))

        answer, problem = _call_plugin(plugin, both)
        return [invalid(path, plugin.name, problem)] if problem else answer

    return replace(arguments, defaults=defaults, validate=validate)


# Errors of answers


def _is(kind: type, *kinds: type) -> Callable[[Any, tuple[Any, ...]], str]:
    def check(answer: Any, _: tuple[Any, ...]) -> str:
        if isinstance(answer, (kind, *kinds)):
            return ""
        return _describe_wrong_answer(answer, " or ".join(each.__name__ for each in (kind, *kinds)))

    return check


def _describe_wrong_answer(answer: Any, what: str) -> str:
    return f"received {type(answer).__name__} as its answer; expected {what}"


def _anything(answer: Any, _: tuple[Any, ...]) -> str:
    return ""


def _wrong_key(answer: Any, _: tuple[Any, ...]) -> str:
    fine = isinstance(answer, tuple) and all(isinstance(part, int) for part in answer)
    return "" if fine else _describe_wrong_answer(answer, "a tuple of whole numbers")


def _wrong_verdicts(answer: Any, args: tuple[Any, ...]) -> str:
    """Return the error of Filter's answer, or "". The last of `args` are the rows."""
    if answer is None:
        return ""
    if not isinstance(answer, framework.Verdicts):
        return _describe_wrong_answer(answer, "Verdicts or None")
    reason = answer.reason
    if not isinstance(reason, np.ndarray) or reason.shape != (len(args[3]),):
        return f"received verdicts for {np.shape(reason)} rows; expected one for each of {len(args[3])}"
    if len(reason) and not -1 <= int(reason.min()) <= int(reason.max()) < len(answer.statuses):
        return f"received verdicts with reasons from {reason.min()} to {reason.max()}; expected -1 to {len(answer.statuses) - 1}"
    return ""


def _wrong_scores(answer: Any, args: tuple[Any, ...]) -> str:
    if isinstance(answer, Status):
        return ""
    if not isinstance(answer, np.ndarray) or answer.dtype != np.int64:
        return _describe_wrong_answer(answer, "an array of int64, or a Status")
    if answer.shape != (len(args[3]),):
        return f"received scores of shape {answer.shape}; expected one for each of {len(args[3])} nodes"
    return ""


# Substitutes for invalid answers


def _status(self: framework.Plugin, failed: Status, args: tuple[Any, ...]) -> Status:
    return failed


def _of(result: Callable[[Status], Any]) -> Callable[[framework.Plugin, Status, tuple[Any, ...]], Any]:
    return lambda self, failed, args: result(failed)


def _refuse_all(self: framework.Plugin, failed: Status, args: tuple[Any, ...]) -> framework.Verdicts:
    return framework.Verdicts(np.zeros(len(args[3]), np.int32), (failed,))


def _spoil(self: framework.Plugin, failed: Status, args: tuple[Any, ...]) -> None:
    """Mark the what-if as invalid; Filter then fails. kube: RunPreFilterExtensionAddPod, RunPreFilterExtensionRemovePod"""
    state, changes = args[0], args[3]
    way = "RemovePod" if changes and changes[0].sign < 0 else "AddPod"
    state.write(_ADJUSTED + self.name, error(f'running {way} on PreFilter plugin "{self.name}": {failed.message}'))


def spoilt(state: Any, plugin: str) -> Status | None:
    """Return the failure of a plugin's AddPod or RemovePod in a what-if."""
    status: Status | None = state.get(_ADJUSTED + plugin)
    return status


_METHODS: Mapping[str, _Method] = {
    "pre_enqueue": _Method(_is(Status), _status),
    "sort_key": _Method(_wrong_key, lambda self, failed, args: SORTS_LAST),
    "pre_filter": _Method(_is(framework.PreFilterResult), _of(framework.PreFilterResult)),
    "adjust": _Method(_anything, _spoil),
    "filter": _Method(_wrong_verdicts, _refuse_all),
    "post_filter": _Method(_is(framework.PostFilterResult), _of(framework.PostFilterResult)),
    "nominate": _Method(_is(framework.PostFilterResult), _of(framework.PostFilterResult)),
    "pre_score": _Method(_is(Status), _status),
    "score": _Method(_wrong_scores, _status),
    "normalize": _Method(_wrong_scores, _status),
    "reserve": _Method(_is(Status), _status),
    "unreserve": _Method(_anything, _status),
    "permit": _Method(_is(framework.PermitResult), _of(framework.PermitResult)),
    "will_pre_bind": _Method(_anything, lambda self, failed, args: True),
    "pre_bind": _Method(_is(framework.CallResult), _of(framework.CallResult)),
    "bind": _Method(_is(framework.CallResult), _of(framework.CallResult)),
    "post_bind": _Method(_anything, _status),
    "explain": _Method(_is(tuple), lambda self, failed, args: (Paragraph((failed.message,), "bad"),)),
    "propose_fixes": _Method(_anything, lambda self, failed, args: iter(()), whole=lambda drafts: iter(tuple(drafts))),
}

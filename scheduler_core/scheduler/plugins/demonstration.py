"""Demonstration: our own plugin, off by default, that follows the pod's annotations.

No in-tree plugin uses Permit or PostBind; this one makes those points, and failures late in a cycle, visible. docs/plugins.md lists the
annotations. An invalid annotation leads to an Error status with the expected values.
"""

import re

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.scheduler.framework import SKIP, SUCCESS, Code, CycleState, Reason, Status, error, unschedulable
from scheduler_core.scheduler.framework.plugin import CallResult, PermitResult, Plugin, Point

NAME = "Demonstration"

_ASKED = Reason("AskedToBeRejected", "the pod asks to be rejected: <annotation>")

PREFIX = "playground.dev/"
PRE_ENQUEUE = PREFIX + "pre-enqueue"
RESERVE = PREFIX + "reserve"
PERMIT = PREFIX + "permit"
PRE_BIND = PREFIX + "pre-bind"
BIND = PREFIX + "bind"
NOTE = PREFIX + "note"

NOTE_STATE = "PostBind" + NAME

_UNITS = {"ms": 10**6, "s": 10**9, "m": 60 * 10**9, "h": 3600 * 10**9}
_DURATION = re.compile(r"([0-9]{1,6})(ms|s|m|h)\Z", re.ASCII)


class Demonstration(Plugin):
    """Waits, rejects, fails, delays and notes as the pod's playground.dev/ annotations say; without any it does nothing.

    It says not which events may help; so all do, as kube has it, the change of the pod's own status that follows a refusal included.
    """

    name = NAME
    reasons = (_ASKED,)

    def pre_enqueue(self, pod: Pod) -> Status:
        return _obey(pod, PRE_ENQUEUE)[0]

    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> Status:
        return _obey(pod, RESERVE)[0]

    def unreserve(self, state: CycleState, pod: Pod, node_name: str) -> None:
        """Do nothing: Reserve reserves nothing. The method only makes Unreserve visible."""

    def permit(self, state: CycleState, pod: Pod, node_name: str) -> PermitResult:
        status, time = _obey(pod, PERMIT)
        if status.code is Code.WAIT:
            return PermitResult(status, time or 0)
        return PermitResult(status)

    def is_idle(self, point: Point, state: CycleState, pod: Pod) -> bool:
        return {Point.RESERVE: RESERVE, Point.PERMIT: PERMIT, Point.PRE_BIND: PRE_BIND}.get(
            point
        ) not in pod.annotations

    def pre_bind(self, state: CycleState, pod: Pod, node_name: str) -> CallResult:
        return CallResult(*_obey(pod, PRE_BIND))

    def bind(self, state: CycleState, pod: Pod, node_name: str) -> CallResult:
        """Skip, so that the next Bind plugin binds the pod, unless the annotation requests a failure or a delay before the binding."""
        if BIND not in pod.annotations:
            return CallResult(SKIP)
        status, delay = _obey(pod, BIND)
        if not status.ok:
            return CallResult(status)
        return CallResult(self.handle.bind(pod, node_name), delay) if delay is not None else CallResult(SKIP)

    def post_bind(self, state: CycleState, pod: Pod, node_name: str) -> None:
        note = pod.annotations.get(NOTE)
        if note is not None:
            state.write(NOTE_STATE, note)


# The valid words of each annotation. A word that ends in a colon requires a duration after it.
_WORDS: dict[str, tuple[str, ...]] = {
    PRE_ENQUEUE: ("allow", "reject"),
    RESERVE: ("allow", "reject", "fail"),
    PERMIT: ("allow", "reject", "fail", "wait:"),
    PRE_BIND: ("allow", "reject", "fail", "delay:"),
    BIND: ("allow", "fail", "delay:"),
}


def _obey(pod: Pod, key: str) -> tuple[Status, int | None]:
    """Return the status that the annotation requests, and its time in nanoseconds if it has one."""
    text = pod.annotations.get(key)
    if text is None:
        return SUCCESS, None
    word, colon, rest = text.partition(":")
    if word + colon not in _WORDS[key]:
        return _unreadable(key, text), None
    if colon:
        match = _DURATION.match(rest)
        time = int(match[1]) * _UNITS[match[2]] if match else None
        if time is None:
            return _unreadable(key, text), None
        return (Status(Code.WAIT) if word == "wait" else SUCCESS), time
    if word == "reject":
        return unschedulable(_ASKED(annotation=f"{key}={text}")), None
    if word == "fail":
        return error(f"the pod asks to fail: {key}={text}"), None
    return SUCCESS, None


def _unreadable(key: str, text: str) -> Status:
    expected = ", ".join(word + "5s" if word.endswith(":") else word for word in _WORDS[key])
    return error(f'{key}: "{text}" is not understood; expected one of {expected}')

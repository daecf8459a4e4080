"""One record as a row of a list: what it is of, and a sentence that says what happened."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from playground.presenters.scene import short
from playground.presenters.sentence import of_record, of_step
from playground.presenters.words import Message, gettext_noop, message
from scheduler_core.view import Code, Point, Record, StepFacts

Data = Mapping[str, Any]

_FINE = (Code.SUCCESS.kube_name, Code.SKIP.kube_name, Code.WAIT.kube_name)
_BINDING = (Point.PRE_BIND, Point.BIND, Point.POST_BIND)
_FAILED = ("unschedulable", "error", "failed")


def row(record: Record) -> dict[str, Any]:
    """`head` names the extension point and plugin, or the kind of thing, `sentence` says what; `no` marks refusals and failures."""
    source = record.source
    if isinstance(source, StepFacts) and source.step.point not in _BINDING:
        step = source.step
        head, line = f"{step.point} · {step.plugin}", of_step(step, short(source.pod))
        return _row(record, head, line, bool(step.refused) or step.status.code.kube_name not in _FINE)
    data = record.data
    if record.kind == "plugin_ran":
        return _plugin(record, data)
    described = _OTHERS[record.kind](data) if record.kind in _OTHERS else of_record(record)
    failed = "fault" in data or data.get("outcome") in _FAILED or data.get("type") == "Warning"
    return _row(record, described["head"], described["sentence"], failed)


def _row(record: Record, head: str, line: Message | None, no: bool) -> dict[str, Any]:
    return {"kind": record.kind, "head": head, "sentence": line, "no": no}


def _plugin(record: Record, data: Data) -> dict[str, Any]:
    """A plugin that was asked about the pod alone: before the queue, or in a binding cycle."""
    status, pod = data["status"], short(data["pod"])
    fine = status["code"] in _FINE
    line = message(gettext_noop("%(code)s for %(pod)s"), code=status["code"], pod=pod)
    if not fine:
        reason = ", ".join(status["reasons"])
        line = message(
            gettext_noop("%(code)s for %(pod)s: %(reason)s"), code=status["code"], pod=pod, reason=reason
        )
    return _row(record, f"{data['point']} · {data['plugin']}", line, not fine)


def _event(data: Data) -> dict[str, Any]:
    line = message(
        gettext_noop("%(pod)s %(reason)s: %(message)s"),
        pod=short(f"{data.get('namespace', '')}/{data.get('name', '')}"),
        reason=data.get("reason", ""),
        message=data.get("message", ""),
    )
    return {"head": gettext_noop("Kubernetes Event"), "sentence": line}


def _point(data: Data) -> dict[str, Any]:
    return {
        "head": data["point"],
        "sentence": message(gettext_noop("begins for %(pod)s"), pod=short(data["pod"])),
    }


def _preemption(data: Data) -> dict[str, Any]:
    line = message(
        gettext_noop("%(pod)s begins to have pods evicted from %(node)s: %(victims)s"),
        pod=short(data["pod"]),
        node=data["node"],
        victims=", ".join(short(victim) for victim in data["victims"]),
    )
    return {"head": gettext_noop("Preemption"), "sentence": line}


def _started(data: Data) -> dict[str, Any]:
    line = message(gettext_noop("begins with the profiles %(names)s"), names=", ".join(data["profiles"]))
    return {"head": gettext_noop("Scheduler"), "sentence": line}


_OTHERS = {
    "event": _event,
    "point_started": _point,
    "preemption_started": _preemption,
    "scheduler_started": _started,
}

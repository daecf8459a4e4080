"""Pod: what it asks for, where it stands, how its attempts went."""

from __future__ import annotations

from typing import Any

from playground.presenters.acting import list_actions, owner_of
from playground.presenters.amounts import amount, clock, cpu, duration, memory
from playground.presenters.devices.claims import claims_of
from playground.presenters.inspector.preempted import preemptions
from playground.presenters.inspector.yaml import silent
from playground.presenters.look import Look
from playground.presenters.scene import find_pod
from playground.presenters.why import present as present_why
from playground.presenters.words import gettext_noop
from scheduler_core.world.readonly import Pod, Toleration, WorldView

ATTEMPTS = 12


def present(sim: WorldView, look: Look, key: str) -> dict[str, Any]:
    """The pod as the API server has it now."""
    inspected = find_pod(sim, key) if key else None
    if inspected is None:
        return _present_gone_pod(sim, look, key) if key else {"kind": "none"}
    return {
        "kind": "pod",
        "why": present_why(sim, key),
        "at": look.at,
        "facts": _facts(inspected),
        "labels": [f"{k}={v}" for k, v in sorted(inspected.labels.items())],
        "tolerations": [_toleration(t) for t in inspected.spec.tolerations],
        "gates": list(inspected.spec.scheduling_gates),
        "conditions": [
            {k: str(c.get(k, "")) for k in ("type", "status", "reason", "message")}
            for c in inspected.conditions
        ],
        "attempts": _attempts(sim, key),
        "claims": claims_of(sim, key),
        "preemptions": preemptions(sim, key),
        "key": key,
        "offers": list_actions(sim, "Pod", inspected.namespace, inspected.name),
        "owner": owner_of(inspected.manifest),
        "namespace": inspected.namespace,
        "name": inspected.name,
        "pending": not inspected.node_name,
        "silent": silent(inspected.manifest),
        "stranger": inspected.spec.scheduler_name if key in sim.journal.ignored else "",
        "faults": [
            {
                "call": call,
                "code": fault.code,
                "message": fault.answer().message,
                "times": fault.times,
                "takes": "" if fault.latency is None else duration(fault.latency),
                "lost": fault.after_write,
            }
            for (call, pod), fault in sorted(sim.faults.items())
            if pod == key
        ],
    }


def _present_gone_pod(sim: WorldView, look: Look, key: str) -> dict[str, Any]:
    """Return the data of a pod that does not exist: the preemptions that removed the pod, if any, and its attempts."""
    return {
        "kind": "gone",
        "preemptions": preemptions(sim, key),
        "attempts": _attempts(sim, key),
        "at": look.at,
    }


def _facts(pod: Pod) -> list[dict[str, str]]:
    requests = pod.requests
    requested = [cpu(requests.milli_cpu) + " cpu"] if requests.milli_cpu else []
    requested += [memory(requests.memory)] if requests.memory else []
    requested += [f"{amount(name, value)} {name}" for name, value in requests.scalar]
    selector = pod.spec.node_selector or {}
    rows = [
        (gettext_noop("requests"), " · ".join(requested) or "-"),
        (gettext_noop("priority"), str(pod.priority)),
        (gettext_noop("node"), pod.node_name or "-"),
        (gettext_noop("phase"), pod.phase),
        (gettext_noop("scheduler"), pod.spec.scheduler_name),
        (gettext_noop("node selector"), ", ".join(f"{k}={v}" for k, v in sorted(selector.items()))),
        (gettext_noop("host ports"), ", ".join(f"{p.port}/{p.protocol}" for p in pod.spec.host_ports)),
        (gettext_noop("images"), ", ".join(pod.spec.images)),
    ]
    return [{"name": name, "value": value} for name, value in rows if value]


def _toleration(toleration: Toleration) -> str:
    key = toleration.key or "*"
    value = f"={toleration.value}" if toleration.operator != "Exists" else ""
    return f"{key}{value}:{toleration.effect or '*'}"


def _attempts(sim: WorldView, key: str) -> list[dict[str, Any]]:
    """The pod's attempts, the last one first. They are few for each pod and found from its moves."""
    out: list[dict[str, Any]] = []
    if key not in sim.journal.last_attempt:
        return out
    attempts = sim.journal.attempts
    for index in range(sim.journal.last_attempt[key], -1, -1):
        attempt = attempts[index]
        if attempt.pod != key:
            continue
        out.append(
            {
                "number": attempt.number,
                "at": clock(attempt.started),
                "outcome": attempt.outcome,
                "node": attempt.node,
                "message": attempt.message,
                "goto": attempt.last_position,
            }
        )
        if len(out) == ATTEMPTS:
            break
    return out

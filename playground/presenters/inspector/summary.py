"""Summary: an overview of the subject, and a pod's requests, place, and attempts."""

from collections.abc import Sequence
from typing import Literal, TypedDict

from playground.presenters.acting import Owner, list_actions, owner_of
from playground.presenters.devices.claims import PodClaim, claims_of
from playground.presenters.inspector import node, objects
from playground.presenters.inspector.node import NodeBody, NoNode
from playground.presenters.inspector.objects import Fact, NoObject, ObjectBody
from playground.presenters.inspector.yaml import SilentField, silent
from playground.presenters.look import Look
from playground.presenters.scene import find_pod, short
from playground.presenters.why import WhyPanel
from playground.presenters.why import present as present_why
from playground.presenters.words import Message, clock, duration, format_requests, gettext_noop, message, ordinal
from playground.workbench.actions import Offer
from scheduler_core.world.readonly import Attempt, Pod, Toleration, WorldView

# Preempted: the preemptions by a pod or with it as victim, each with a link to the dry run.

SEARCHED = 1_000  # last attempts of all pods, searched for a victim's preemptor
NAMED = 4


def preemptions(sim: WorldView, key: str) -> "list[PreemptionNote]":
    """Return the pod's own last preemption, and the one that evicts it. `at` is the step that shows the dry run."""
    own = next((a for a in reversed(sim.journal.attempts_of(key)) if a.nominated and a.victims), None)
    out = [] if own is None else [_row(own, _own(own))]
    attempts = reversed(sim.journal.attempts[-SEARCHED:])
    other = next((attempt for attempt in attempts if key in attempt.victims), None)
    if other is not None:
        text = gettext_noop("Preempted on %(node)s to make room for %(pod)s in cycle %(n)s.")
        out.append(_row(other, message(text, node=other.nominated, pod=short(other.pod), n=other.number)))
    return out


def _own(attempt: Attempt) -> Message:
    names = [short(victim) for victim in attempt.victims]
    rest = len(names) - NAMED
    listed = ", ".join(names[:NAMED]) + (f" +{rest}" if rest > 0 else "")
    text = gettext_noop("Preempts %(victims)s on %(node)s in cycle %(n)s.")
    return message(text, victims=listed, node=attempt.nominated, n=attempt.number)


class PreemptionNote(TypedDict):
    said: Message
    pod: str
    at: int


def _row(attempt: Attempt, said: Message) -> PreemptionNote:
    return {"said": said, "pod": attempt.pod, "at": attempt.last_position}


ATTEMPTS = 12

_FOR_A_TIME = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")


class PodCondition(TypedDict):
    type: str
    status: str
    reason: str
    message: str


class FaultRow(TypedDict):
    call: str
    code: int
    message: str
    times: int
    takes: str
    lost: bool


class NoPod(TypedDict):
    about: Literal["pod"]
    kind: Literal["none"]


class GonePod(TypedDict):
    about: Literal["pod"]
    kind: Literal["gone"]
    preemptions: list[PreemptionNote]
    attempts: "list[AttemptRow]"


class PodBody(TypedDict):
    about: Literal["pod"]
    kind: Literal["pod"]
    why: WhyPanel | None
    at: int | None
    facts: list[Fact]
    labels: list[str]
    tolerations: list[str]
    gates: list[str]
    conditions: list[PodCondition]
    attempts: "list[AttemptRow]"
    claims: list[PodClaim]
    preemptions: list[PreemptionNote]
    key: str
    offers: list[Offer]
    owner: Owner | None
    namespace: str
    name: str
    pending: bool
    silent: list[SilentField]
    stranger: str
    faults: list[FaultRow]


def present_pod(sim: WorldView, look: Look, key: str) -> PodBody | GonePod | NoPod:
    """Return the pod as stored in the API server."""
    inspected = find_pod(sim, key) if key else None
    if inspected is None:
        if not key:
            return {"about": "pod", "kind": "none"}
        # The journal still has the attempts of a deleted pod, and the preemption that removed it.
        return {"about": "pod", "kind": "gone", "preemptions": preemptions(sim, key), "attempts": _attempts(sim, key)}
    return {
        "about": "pod",
        "kind": "pod",
        "why": present_why(sim, key),
        "at": look.at,
        "facts": _facts(inspected),
        "labels": [f"{k}={v}" for k, v in sorted(inspected.labels.items())],
        "tolerations": _list_tolerations(inspected.spec.tolerations),
        "gates": list(inspected.spec.scheduling_gates),
        "conditions": [
            {
                "type": str(c.get("type", "")),
                "status": str(c.get("status", "")),
                "reason": str(c.get("reason", "")),
                "message": str(c.get("message", "")),
            }
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


def _facts(pod: Pod) -> list[Fact]:
    selector = pod.spec.node_selector or {}
    rows = [
        (gettext_noop("requests"), " · ".join(format_requests(pod)) or "-"),
        (gettext_noop("priority"), str(pod.priority)),
        (gettext_noop("node"), pod.node_name or "-"),
        (gettext_noop("phase"), pod.phase),
        (gettext_noop("scheduler"), pod.spec.scheduler_name),
        (gettext_noop("node selector"), ", ".join(f"{k}={v}" for k, v in sorted(selector.items()))),
        (gettext_noop("host ports"), ", ".join(f"{p.port}/{p.protocol}" for p in pod.spec.host_ports)),
        (gettext_noop("images"), ", ".join(pod.spec.images)),
    ]
    return [{"name": name, "value": value} for name, value in rows if value]


def _list_tolerations(tolerations: Sequence[Toleration]) -> list[str]:
    """Format the tolerations as kubectl prints taints. Those that admission adds for a limited time are combined."""
    said, brief = [], dict[int, list[str]]()
    for each in tolerations:
        if each.seconds is not None and each.key in _FOR_A_TIME:
            brief.setdefault(each.seconds, []).append(each.key.rpartition("/")[2])
            continue
        value = f"={each.value}" if each.operator != "Exists" else ""
        said.append(f"{each.key or '*'}{value}:{each.effect or '*'}")
    return said + [f"{', '.join(keys)}: {seconds}\u00a0s" for seconds, keys in brief.items()]


class AttemptRow(TypedDict):
    number: Message
    at: str
    outcome: str
    node: str
    message: str
    goto: int


def _attempts(sim: WorldView, key: str) -> list[AttemptRow]:
    """Return the pod's attempts, latest first."""
    return [
        {
            "number": ordinal(number),
            "at": clock(attempt.started),
            "outcome": attempt.outcome,
            "node": attempt.node,
            "message": attempt.message,
            "goto": attempt.last_position,
        }
        for number, attempt in [*enumerate(sim.journal.attempts_of(key), 1)][: -ATTEMPTS - 1 : -1]
    ]


def present(
    sim: WorldView, look: Look, key: str
) -> ObjectBody | NoObject | NodeBody | NoNode | PodBody | GonePod | NoPod:
    """Return the panel data of the selected object, with its type under `about`."""
    if look.about in ("claim", "controller") and getattr(look, look.about):
        return objects.present(sim, look, key)
    if look.about == "node":
        return node.present(sim, look, key)
    return present_pod(sim, look, key)

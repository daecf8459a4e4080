"""Explanations as data: frozen and JSON-safe. The codes never change (docs/explain.md)."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from scheduler_core.apiserver.store import Store

TIMES = ("time", "until")  # values of facts


class State(enum.StrEnum):
    """A pod's state. The first nine values are also codes of reasons without a plugin."""

    NO_SUCH_SCHEDULER = "NoSuchScheduler"
    NO_SUCH_NODE = "NoSuchNode"
    GATED = "Gated"
    WAITING_FOR_CLAIM = "WaitingForClaim"
    QUOTA_EXCEEDED = "QuotaExceeded"
    BACKOFF = "Backoff"
    WAITING_FOR_EVENT = "WaitingForEvent"
    NOT_ATTEMPTED = "NotAttempted"
    NO_NODES = "NoNodes"
    NOT_CREATED = "NotCreated"  # refused by the API server for a reason other than a quota
    ATTEMPTING = "Attempting"
    BINDING = "Binding"
    SCHEDULED = "Scheduled"
    REFUSED = "Refused"  # by the kubelet of its node, permanently
    FAILED = "Failed"
    PAUSED = "Paused"  # pods that their workload does not create: a Deployment is paused
    SUSPENDED = "Suspended"
    MANAGED_ELSEWHERE = "ManagedElsewhere"
    NOT_RUNNING = "NotRunning"  # scheduled, but blocked by its volumes, its kubelet, or its node
    TERMINATING = "Terminating"
    GONE = "Gone"
    STUCK = "Stuck"  # a workload or a drain without progress
    AS_WANTED = "AsWanted"  # a workload or a node in its desired state


@dataclass(frozen=True, slots=True)
class GivenReason:
    """A reason: its code, the plugin ("": none), and kube's message. `nodes`: the nodes it applies to, `count` of them.

    `groups`: for many nodes, how many of each group. `evidence`: the plugin's findings, and the names in its message. `final`: no pod
    that ends could help (UnschedulableAndUnresolvable).
    """

    code: str
    plugin: str
    message: str
    nodes: tuple[str, ...] = ()
    count: int = 0
    groups: tuple[tuple[str, int], ...] = ()
    evidence: Mapping[str, Any] = field(default_factory=dict)
    final: bool = False

    def to_json(self) -> dict[str, Any]:
        groups = [{"group": name, "count": count} for name, count in self.groups]
        return {**_list_fields(self, final="unresolvable"), "groups": groups, "evidence": dict(self.evidence)}


class Role(enum.StrEnum):
    """The question that a fact answers."""

    PROVENANCE = "provenance"  # the source of a number or of a rule
    HOLDERS = "holders"  # the holder of a scarce resource
    NOTES = "notes"


@dataclass(frozen=True, slots=True)
class Fact:
    """One sentence in addition to the reasons, as data: a code of docs/explain.md with its values. Amounts are in kube's base units, and
    belong to the value `resource`; times are virtual nanoseconds, or, in a world with a calendar, as in manifests.
    """

    role: Role
    code: str
    values: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        return {"code": self.code, **self.values}


@dataclass(frozen=True, slots=True)
class Preemption:
    """The result of preemption for a pod: why evicting others did not help, or the pods that it waits for.

    `message` is kube's message, `reasons` (code, text, nodes) its parts. `lower` counts the pods of lower priority on nodes.
    """

    priority: int
    policy: str
    lower: int
    message: str = ""
    reasons: tuple[tuple[str, str, int], ...] = ()
    nominated: str = ""
    victims: tuple[str, ...] = ()  # that the last attempt chose, and that are not terminating yet

    def to_json(self) -> dict[str, Any]:
        reasons = [{"code": code, "message": text, "count": n} for code, text, n in self.reasons]
        return {**_list_fields(self, lower="lowerPriorityPods", nominated="nominatedNode"), "reasons": reasons}


@dataclass(frozen=True, slots=True)
class Explanation:
    """The reasons for the state of a pod "namespace/name". Times: see Fact.

    `until`: the end of its backoff or its latest retry, and `due` the same as a calendar time, if the world has a calendar. `events`:
    kube's names of the events that requeue it before. `fits`: the nodes that it would pass now, of `total`. `message`: the message of its
    last attempt. `node`: its node, or the node to which it will be bound.

    `phase` and `reason`: those of its status, also if a kubelet that refuses the pod is only about to write them. `predecessors`: the
    number of pods of its owner that failed or were evicted before it.
    """

    pod: str
    state: State
    reasons: tuple[GivenReason, ...] = ()
    until: int | None = None
    events: tuple[str, ...] = ()
    attempts: int = 0
    message: str = ""
    node: str = ""
    fits: tuple[str, ...] = ()
    total: int = 0
    preemption: Preemption | None = None
    phase: str = "Pending"
    reason: str = ""
    predecessors: int = 0
    facts: tuple[Fact, ...] = ()
    due: str | None = None

    @property
    def pending(self) -> bool:
        return self.state not in (State.SCHEDULED, State.REFUSED, State.FAILED)

    @property
    def problem(self) -> bool:
        """Return whether the pod, the workload, or the node is not in the desired state."""
        if self.state is State.TERMINATING:
            return self.until is None
        telling = _TELLING.get(self.state, ())
        return self.state not in _FINE or any(fact.code in telling for fact in self.facts)

    def date(self, store: Store) -> Explanation:
        """Return the explanation with calendar times if the world has a calendar: users know the cluster's own times."""
        if not store.is_dated:
            return self
        return replace(
            self,
            due=None if self.until is None else store.timestamp(self.until),
            facts=tuple(replace(fact, values=_date_values(fact.values, store)) for fact in self.facts),
        )

    def list_facts(self, role: Role) -> tuple[Fact, ...]:
        return tuple(fact for fact in self.facts if fact.role is role)

    def to_json(self) -> dict[str, Any]:
        preemption = None if self.preemption is None else self.preemption.to_json()
        facts = {role.value: [fact.to_json() for fact in self.list_facts(role)] for role in Role}
        made = {**_list_fields(self, total="nodes"), "preemption": preemption, **facts}
        del made["facts"]
        return {**made, "state": self.state.value, "reasons": [reason.to_json() for reason in self.reasons]}


def _date_values(values: Mapping[str, Any], store: Store) -> dict[str, Any]:
    dated = (name for name in TIMES if isinstance(values.get(name), int))
    return {**values, **{name: store.timestamp(values[name]) for name in dated}}


def _list_fields(given: Any, **renamed: str) -> dict[str, Any]:
    """Return the fields of an object by their JSON names, with tuples as lists."""
    found = ((each.name, getattr(given, each.name)) for each in fields(given))
    return {renamed.get(name, name): list(value) if isinstance(value, tuple) else value for name, value in found}


_TELLING = {
    State.SCHEDULED: ("RuleNotAsked",),
    State.BINDING: ("Reports", "ClusterSaysOtherwise", "CycleFailed"),
}  # facts that make a state a problem
_FINE = (State.SCHEDULED, State.BINDING, State.ATTEMPTING, State.GONE, State.AS_WANTED)

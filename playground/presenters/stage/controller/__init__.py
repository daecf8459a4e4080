"""Controller: actions around the scheduler, from the last records: the actor, the objects, and the cause."""

import json
from collections.abc import Sequence
from typing import Any, NotRequired, Required, TypedDict

from playground.presenters.acting import DrainState, PlannedEviction, draining, list_planned_evictions
from playground.presenters.look import AIM, Look
from playground.presenters.panel import Stage
from playground.presenters.scene import short
from playground.presenters.sentences import lines
from playground.presenters.sentences.kinds import BY_KIND, Row, row
from playground.presenters.sentences.lines import describe_deeds, describe_key
from playground.presenters.sentences.records import get_host
from playground.presenters.stage.controller.owners import (
    OF_CONTROLLER,
    AllChanged,
    BudgetRow,
    ChangeTable,
    Evictions,
    OwnerChain,
    budgets,
    chain_of,
    collect_changes,
    evictions,
    owners,
)
from playground.presenters.stage.controller.replicas import STATES, Span, lane
from playground.presenters.words import Message, brief, clock, exactly, gettext_noop, message
from playground.workbench.actions.nodes import format_taint
from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.base.trace import kinds as trace
from scheduler_core.world.readonly import Record, WorldView

# Nodes that changed: abnormal conditions, taints, a drain, and evictions planned because of taints.

MOST_NODES, PLANNED = 6, 6


def nodes(sim: WorldView, rows: AllChanged) -> "list[ChangedNode]":
    """Return the nodes that changed, and the node that a controller reconciled."""
    names = {each.name: each.what for each in rows.of("Node")}
    for record in sim.last[-1:]:
        facts = record.of(trace.Reconciled)
        if facts is not None and facts.did and sim.store.get("Node", "", facts.key) is not None:
            names.setdefault(facts.key, "")
    return [_node(sim, name, what) for name, what in list(names.items())[:MOST_NODES]]


class ChangedNode(TypedDict):
    name: str
    gone: bool
    added: bool
    cordoned: bool
    conditions: "list[Condition]"
    taints: list[str]
    drain: DrainState | None
    planned: list[PlannedEviction]


def _node(sim: WorldView, name: str, what: str) -> ChangedNode:
    manifest = sim.store.get("Node", "", name)
    spec = (manifest or {}).get("spec") or {}
    return {
        "name": name,
        "gone": manifest is None,
        "added": what == "ADDED",
        "cordoned": bool(spec.get("unschedulable")),
        "conditions": _conditions(manifest),
        "taints": [format_taint(taint) for taint in spec.get("taints") or ()],
        "drain": draining(sim, name),
        "planned": list_planned_evictions(sim, _pods_on(sim, name))[:PLANNED],
    }


class Condition(TypedDict):
    type: str
    status: str
    reason: str
    bad: bool


def _conditions(manifest: Manifest | None) -> list[Condition]:
    """Return Ready always, and the other conditions unless they are False."""
    found = ((manifest or {}).get("status") or {}).get("conditions") or ()
    return [
        {
            "type": str(c.get("type")),
            "status": str(c.get("status")),
            "reason": str(c.get("reason") or ""),
            "bad": c.get("status") != ("True" if c.get("type") == "Ready" else "False"),
        }
        for c in found
        if c.get("type") == "Ready" or c.get("status") != "False"
    ]


def _pods_on(sim: WorldView, name: str) -> list[str]:
    """Return the node's pods whose eviction is planned."""
    return [
        key
        for key in sim.surroundings.nodes.evictions
        if (pod := sim.store.pod_at(key)) is not None and pod.node_name == name
    ]


# Cause and effect: the actor, and the effects in the same transition.

LOOKED_THROUGH = 64  # records of one transition; an import makes thousands
EFFECTS = 10
_CAUSES = (trace.CommandApplied.KIND, trace.Reconciled.KIND, trace.WatchEventHeard.KIND, trace.TimerFired.KIND)


class Effect(Row):
    times: int


class Chain(TypedDict):
    """The cause, its `effects`, and the number of `more` records. A controller's own record is the last, but is shown first."""

    actor: "Actor | None"
    effects: list[Effect]
    more: int


def chain(sim: WorldView) -> Chain:
    records = sim.last[:LOOKED_THROUGH]
    if len(sim.last) > LOOKED_THROUGH:
        records = [*records, sim.last[-1]]
    cause = _cause(records)
    # Consecutive equal effects are one row.
    rows = [row(record) for record in records if record is not cause]
    effects: list[Effect] = []
    for each in rows:
        if effects and {**effects[-1], "times": 1} == {**each, "times": 1}:
            effects[-1]["times"] += 1
        else:
            effects.append({**each, "times": 1})
    shown = effects[:EFFECTS]
    listed = sum(effect["times"] for effect in shown) + (cause is not None)
    return {"actor": None if cause is None else _actor(cause), "effects": shown, "more": len(sim.last) - listed}


def _cause(records: Sequence[Record]) -> Record | None:
    for kind in _CAUSES:
        found = next((record for record in records if record.kind == kind), None)
        if found is not None:
            return found
    return next(iter(records), None)


class Actor(TypedDict):
    """`who` is the actor, `key` the key of its work queue, `did` its action and the reason."""

    who: Message
    controller: NotRequired[str]
    key: Message | None
    did: Message | None
    idle: bool


def _actor(record: Record) -> Actor:
    facts = record.facts
    if isinstance(facts, trace.Reconciled):
        return {
            "who": exactly(facts.controller),
            "controller": facts.controller,
            "key": describe_key(facts.key),
            "did": describe_deeds(brief(facts.did)) if facts.did else message("Nothing to do."),
            "idle": not facts.did,
        }
    if isinstance(facts, trace.CommandApplied):
        words = BY_KIND[record.kind].line.words(facts)
        return {"who": message(lines.TITLES[lines.USER][0]), "key": None, "did": words, "idle": False}
    line = row(record)
    who = record.scheduler if isinstance(facts, trace.LeaderElection | trace.SchedulerStage) else ""
    return {"who": exactly(who) if who else message(line["head"]), "key": None, "did": line["sentence"], "idle": False}


# The last actions of the chosen controller, or of the chosen workload's, from its notes, newest first.

MOST = 6
_CONTROLLERS = {kind: name for name, kind in OF_CONTROLLER.items()} | {
    "PodDisruptionBudget": "disruption-controller",
    "ResourceClaim": "resourceclaim-controller",
    "Namespace": "namespace-controller",
    **dict.fromkeys(("PersistentVolume", "PersistentVolumeClaim"), "persistentvolume-binder-controller"),
}


class Reconcile(TypedDict):
    t: str
    key: Message
    did: Message


class ControllerAction(TypedDict):
    """`here`: the controller acts in this step. `point`: a breakpoint that finds its actions.

    `idle`: the controller has not acted yet. `owners`: the workload with its owners and dependents, and their counts.
    """

    who: str
    key: str
    here: bool
    idle: bool
    done: list[Reconcile]
    point: str
    owners: list[OwnerChain]


def present_controller(sim: WorldView, look: Look) -> ControllerAction | None:
    """Return the last actions of the chosen controller, or None without one."""
    if look.stage != AIM or look.about != "controller" or not look.controller:
        return None
    kind, slash, key = look.controller.partition("/")
    name, key = (_CONTROLLERS.get(kind, ""), key) if slash else (look.controller, "")
    queue = sim.surroundings.queues.get(name)
    notes = [note for note in queue.done if key in ("", note.key)] if queue is not None else []
    done: list[Reconcile] = [
        {"t": clock(note.t), "key": describe_key(note.key), "did": describe_deeds(brief(note.text))}
        for note in reversed(notes[-MOST:])
    ]
    return {
        "who": name or kind,
        "key": short(key),
        "here": any(_is_by(record.of(trace.Reconciled), name, key) for record in sim.last),
        "idle": not done,
        "done": done,
        "point": json.dumps(_point(name, key)),
        "owners": _owners(sim, kind, key) if slash else [],
    }


def _owners(sim: WorldView, kind: str, key: str) -> list[OwnerChain]:
    namespace, _, name = key.rpartition("/")
    there = kind in OF_CONTROLLER.values() and sim.store.get(kind, namespace, name) is not None
    return [chain_of(sim, (kind, namespace, name))] if there else []


def _is_by(facts: trace.Reconciled | None, name: str, key: str) -> bool:
    return facts is not None and bool(facts.did) and facts.controller == name and key in ("", facts.key)


def _point(name: str, key: str) -> dict[str, str]:
    """Return the fields of a breakpoint at an action of this controller on this object."""
    asked = [f"record.data.controller == {json.dumps(name)}", 'record.data.did != ""']
    asked += [f"record.data.key == {json.dumps(key)}"] if key else []
    return {"name": name, "kind": trace.Reconciled.KIND, "cel": " && ".join(asked)}


# The leader: the schedulers' processes as lanes over virtual time, if the last transition was about one.

LEADING = "leading"
_KINDS = (trace.LeaderElection.KIND, trace.SchedulerStage.KIND)


class Leader(TypedDict):
    name: str
    state: str
    leads: bool
    since: str
    leader: str
    lane: list[Span]


def election(sim: WorldView) -> list[Leader]:
    """Return each process with its state, its start, and the leader it observes; empty if the transition is about something else."""
    if not any(record.kind in _KINDS for record in sim.last[:64]):
        return []
    moves = sim.journal.processes
    begin = min((move.t for move in moves), default=sim.now)
    out: list[Leader] = []
    for identity in dict.fromkeys(move.identity for move in moves):
        mine = [move for move in moves if move.identity == identity]
        last = mine[-1]
        states = [{"t": move.t, "state": move.state, "cutOff": move.cut_off} for move in mine]
        out.append(
            {
                "name": get_host(identity) or last.scheduler,
                "state": STATES.get(last.state, last.state),
                "leads": last.state == LEADING,
                "since": clock(last.t),
                "leader": get_host(last.leader),
                "lane": lane(states, begin, sim.now),
            }
        )
    return out


FORMS = {"flow": gettext_noop("Flow"), "table": gettext_noop("Table"), "nodes": gettext_noop("Nodes")}


class ChangesBody(TypedDict, total=False):
    acted: Required[ControllerAction | None]
    table: ChangeTable
    at: int
    before: int


class FlowBody(ChangesBody, Chain):
    owners: list[OwnerChain]
    nodes: list[ChangedNode]
    budgets: list[BudgetRow]
    evictions: Evictions
    schedulers: list[Leader]


ControllerBody = ChangesBody | FlowBody


def present(sim: WorldView, look: Look, key: str) -> Stage[ControllerBody, Any]:
    """Return the stage for the last transition, with its objects as a table, or for the chosen controller's last actions."""
    chosen = present_controller(sim, look)
    body: ControllerBody = {"acted": chosen}
    rows = None
    if chosen is None or chosen["here"] or look.form not in ("", "flow"):
        rows = collect_changes(sim)
    if rows is not None and look.form == "table":
        body["table"] = rows.table()
    elif rows is not None and look.form != "nodes":
        found = chain(sim)
        body = {
            "acted": chosen,
            "actor": found["actor"],
            "effects": found["effects"],
            "more": found["more"],
            "owners": owners(sim, rows),
            "nodes": nodes(sim, rows),
            "budgets": budgets(sim, rows),
            "evictions": evictions(sim),
            "schedulers": election(sim),
        }
    if rows is not None and (rows.objects or look.form == "table") and look.form != "nodes":
        body["at"], body["before"] = sim.position, max(sim.position - 1, 0)
    return Stage(_question(chosen), body, forms=FORMS, map=look.form != "table")


def _question(chosen: ControllerAction | None) -> Message:
    if chosen is None:
        return message("What happened in the cluster?")
    if chosen["key"]:
        return message("What did %(who)s do last to %(key)s?", who=chosen["who"], key=chosen["key"])
    return message("What did %(who)s do last?", who=chosen["who"])

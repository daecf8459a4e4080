"""The comparison of an external scheduler with the built-in one from the same start, inside a worker."""

import msgspec

from playground.features.second_opinion.query import AskOutside, AuditBinding, SecondOpinion
from playground.sessions.protocol.base import Data
from playground.sessions.worker.engine import Engine
from playground.sessions.worker.engines import Engines
from playground.sessions.worker.time_sharing import Steps, Task, answers, answers_as_worker, in_slices
from playground.sessions.worker.world import Simulation
from scheduler_core.analysis import second_opinion as comparing
from scheduler_core.analysis.second_opinion import Configurations, ask_filters, start_schedulers
from scheduler_core.analysis.whatif import RestResult
from scheduler_core.scheduler.config import format_gates
from scheduler_core.world.commands import CallAPI
from scheduler_core.world.readonly import Place

SHOWN = 5  # nodes


@answers(AskOutside)
def ask_outside(engine: Engine, request: AskOutside) -> Steps[Data]:
    """Return the state of the schedulers, the kubelets, and the pods of a world."""
    world = yield from engine.at(request.position)
    found = (yield from _find_configurations(engine, world)) if request.configured else {}
    pending = [pod for pod in world.store.pods() if not (pod.node_name or pod.terminal or pod.deleting)]
    return {
        "schedulers": [scheduler.name for scheduler in world.schedulers],
        "kubelets": world.cluster.run_kubelets or bool(world.cluster.stand_in),
        "release": world.settings.release,
        "gates": format_gates(msgspec.to_builtins(world.settings), world.settings.release),
        "configuration": next((dict(given) for given in found.values() if given), {}),
        "asked": len(engine.commands),
        "waiting": sum(not pod.manifest["spec"].get("schedulingGates") for pod in pending),
        "undecided": sum(pod.condition("PodScheduled") is None for pod in pending),
    }


class Comparison(Task[tuple[list[comparing.Row], RestResult], Data]):
    """A comparison that continues from one request to the next."""

    def __init__(self, answer: Data, steps: Steps[tuple[list[comparing.Row], RestResult]]) -> None:
        super().__init__(steps)
        self._answer = answer

    def progress(self) -> Data:
        """Return the answer. In it, `late` is true if the time ended first."""
        if self.result is None:
            return {**self._answer, "late": True}
        rows, rest = self.result
        at = {each["pod"]: each for each in self._answer["bindings"]}
        pods = [
            {**msgspec.to_builtins(row), "different": row.different, "at": None, "position": None}
            | {name: at[row.pod][name] for name in ("at", "position") if row.pod in at}
            for row in rows
        ]
        return {**self._answer, "atRest": bool(rest), "pods": pods}


@answers_as_worker(SecondOpinion, slow=True)
def second_opinion(engines: Engines, session: int, request: SecondOpinion) -> Steps[Data]:
    """Return the bindings from outside and, if our schedulers were stopped for them, both sides of each pod."""
    engine = engines.get(session)
    world = yield from engine.at(request.position)
    last = max((at for at in engine.commands if at < world.position), default=0)
    token = f"second opinion {last} {request.seed}"  # later steps change nothing that is compared
    going = engines.take_task(session, token, Comparison)
    if going is None:
        bindings = _list_bindings(engine, world)
        stopped = not world.schedulers and _find_stop(world) is not None
        answer: Data = {"release": world.settings.release, "bindings": bindings, "stopped": stopped, "late": False}
        answer |= {"atRest": True, "pods": []}
        start = _find_first_call(engine, world)
        if not stopped or start is None:
            return answer
        configurations = yield from _find_configurations(engine, world)
        theirs, ours = world.fork(), (yield from engine.own(start))
        compared = comparing.compare(ours, theirs, configurations, request.seed)
        going = Comparison(answer, in_slices(compared, engine.slice))
    return (yield from engines.go_on(session, token, going, request.seconds))


@answers(AuditBinding, slow=True)
def audit_binding(engine: Engine, request: AuditBinding) -> Steps[Data]:
    """Run the filters of our scheduler for a pod in the state just before it was bound."""
    world = yield from engine.at(request.position)
    moves = [move for move in world.journal.lane(request.pod) if move.place == Place.BOUND]
    if not moves:
        return {}
    node = moves[-1].cause
    before = yield from engine.own(moves[-1].position - 1)
    start_schedulers(before, (yield from _find_configurations(engine, world)))
    verdict = ask_filters(before, request.pod)
    if verdict is None:
        return {}
    feasible, total, refusals = verdict
    here = next((text for text, nodes in refusals.items() if node in nodes), "")
    rows = [{"text": text, "nodes": nodes[:SHOWN], "more": len(nodes[SHOWN:])} for text, nodes in refusals.items()]
    return {"node": node, "here": here, "feasible": feasible, "total": total, "refusals": rows}


def _find_stop(world: Simulation) -> int | None:
    """Return the position before the last of our schedulers was stopped, and those stopped just before it, or None."""
    stops = [move.position for move in world.journal.processes if move.state == "ended"]
    first = stops.pop() if stops else 0
    while stops and stops[-1] == first - 1:
        first = stops.pop()
    return first - 1 if first else None


def _find_configurations(engine: Engine, world: Simulation) -> Steps[Configurations]:
    """Return the configurations of the running schedulers, or of those before the stop; for replicas, one of them."""
    start = _find_stop(world)
    before = world if world.schedulers or start is None else (yield from engine.own(start))
    names = {tuple(scheduler.profiles): scheduler.name for scheduler in reversed(before.schedulers)}
    return {name: before.scheduler(name).configuration.given for name in names.values()}


def _find_first_call(engine: Engine, world: Simulation) -> int | None:
    """Return the position of a client's first request after our schedulers were stopped, or None."""
    stop = _find_stop(world) or 0
    later = (at for at in engine.commands if stop < at < world.position)
    return next((at for at in later if isinstance(engine.commands[at], CallAPI)), None)


def _list_bindings(engine: Engine, world: Simulation) -> list[Data]:
    """Return the bindings that clients requested: agent, time, and node."""
    found = []
    for move in world.journal.moves:
        at = move.position - 1
        if move.place == Place.BOUND and at in engine.commands and isinstance(call := engine.commands[at], CallAPI):
            agent = call.manager or call.agent
            found.append({"pod": move.pod, "node": move.cause, "agent": agent, "at": move.t, "position": move.position})
    return found

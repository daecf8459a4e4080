"""A world in which nearly everything happens: affinity, spreading, preemption, volumes, gates, waits on Permit, faults, two schedulers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from scheduler_core.apiserver.faults import BIND, Fault
from scheduler_core.base.steps import finish
from scheduler_core.world.checkpoint import Archive, decode, encode
from scheduler_core.world.commands import (
    ApplyObjects,
    Command,
    DeleteObjects,
    FailCall,
    PatchObject,
    Ref,
    SetConfiguration,
    SetSettings,
    Undo,
)
from scheduler_core.world.simulation import Simulation
from tests.scheduler_core.worlds import configuration, node, pod
from tests.support.storage import make_claim, make_class, make_volume

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def _term(key: str, app: str) -> dict[str, Any]:
    return {"topologyKey": key, "labelSelector": {"matchLabels": {"app": app}}}


def _labelled(name: str, app: str, **spec: Any) -> dict[str, Any]:
    made = pod(name, **spec)
    made["metadata"]["labels"] = {"app": app}
    return made


def _near_and_apart() -> dict[str, Any]:
    preferred = [{"weight": 5, "podAffinityTerm": _term("zone", "b")}]
    return {
        "podAntiAffinity": {_REQUIRED: [_term("kubernetes.io/hostname", "a")]},
        "podAffinity": {_REQUIRED: [_term("zone", "a")], _PREFERRED: preferred},
    }


def _spread() -> list[dict[str, Any]]:
    selector = {"matchLabels": {"app": "b"}}
    ways = ("DoNotSchedule", "ScheduleAnyway")
    return [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": way, "labelSelector": selector} for way in ways]


def _objects() -> Iterator[dict[str, Any]]:
    for i in range(6):
        yield node(f"n{i}", labels={"zone": f"z{i % 3}"})
    for i in range(5):
        yield _labelled(f"a{i}", "a", affinity=_near_and_apart())
        yield _labelled(f"b{i}", "b", topologySpreadConstraints=_spread(), priority=i)
    yield pod("waits", annotations={"playground.dev/permit": "wait:3s"})
    yield pod("never", cpu="99")
    yield pod("gated", schedulingGates=[{"name": "x"}])
    yield pod("stranger", schedulerName="nobody")
    yield from (make_class(), make_volume("va", hosts=["n0"]), make_volume("vb", hosts=["n1"]))
    for name in ("c", "d"):
        yield make_claim(name)
        claim = {"persistentVolumeClaim": {"claimName": name}}
        yield pod(f"uses-{name}", volumes=[{"name": "v", **claim}])


def commands() -> list[Command]:
    """What is asked for, to be applied now and then."""
    ports = [{"containerPort": 80, "hostPort": 8080}]
    tolerant = pod("tolerant", tolerations=[{"operator": "Exists"}])
    tolerant["spec"]["containers"][0]["ports"] = ports
    taint = [{"key": "full", "value": "yes", "effect": "NoSchedule"}]
    return [
        SetSettings({"demonstration": True}),
        ApplyObjects(tuple(_objects())),
        ApplyObjects(tuple(pod(f"big{i}", cpu="3", priority=100) for i in range(4))),
        SetConfiguration(configuration(profiles=[{"schedulerName": "second"}]), "second"),
        ApplyObjects((pod("other", schedulerName="second"), tolerant)),
        PatchObject(Ref("Node", "", "n2"), {"spec": {"taints": taint}}),
        DeleteObjects((Ref("Node", "", "n3"), Ref("Pod", "default", "b0"))),
        Undo(),
        PatchObject(Ref("Pod", "default", "gated"), {"spec": {"schedulingGates": None}}),
        SetSettings({"informer_lag": 20_000_000, "client_qps": 20, "client_burst": 1}),
        ApplyObjects(tuple(pod(f"late{i}") for i in range(3))),
        FailCall("bind", "default/late0", 429, times=2),
        SetSettings({"queue_mode": "historical", "informer_lag": 0}),
        ApplyObjects((node("n9"), pod("last"))),
    ]


def walk(
    seed: int = 5, steps: int = 1200, every: int = 60, through: Callable[[Simulation], Simulation] | None = None
) -> Iterator[Simulation]:
    """The world after each transition: a command every so often, and the first binding fails. Now and then it goes `through` something."""
    sim = Simulation(seed)
    sim.faults[BIND, "default/a0"] = Fault(BIND, "default/a0", code=500)
    asked = commands()
    for step in range(steps):
        if asked and (sim.idle or step % every == 0):
            sim.apply(asked.pop(0))
        else:
            sim.advance()
        if through is not None and step % every == every // 2:
            sim = through(sim)
        yield sim


def seal(archive: Archive) -> bytes | None:
    """Return the part that `sealing` makes, at once."""
    return finish(archive.sealing())


def again(world: Simulation) -> Simulation:
    """A world written and read by another process."""
    archive = Archive()
    data = encode(world.fork(), archive)
    other = Archive()
    part = seal(archive)
    if part is not None:
        other.load(part)
    return decode(data, other)

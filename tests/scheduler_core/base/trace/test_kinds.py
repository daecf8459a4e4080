"""Records say what the class of their kind says: no other fields, no other types, none that is missing."""

import re
from collections.abc import Iterator
from functools import cache, partial
from itertools import chain
from typing import Any, get_args

import msgspec
import pytest

from scheduler_core.base.trace import kinds
from scheduler_core.base.trace.kinds import CLASSES, KINDS, Facts, NodeSelected, PodForgotten, Reconciled
from scheduler_core.base.trace.records import FieldSchema, Record, description, fields_of
from scheduler_core.scheduler.config.settings import WorldSettings
from scheduler_core.scheduler.extenders.behaviour import RecordedServer
from scheduler_core.scheduler.plugins.cel import Definition
from scheduler_core.world.commands import (
    AnswerExtender,
    ApplyObjects,
    BeginLife,
    CallAPI,
    Command,
    CommandRecord,
    Continuation,
    CreateObject,
    DecidePermit,
    DefinePlugin,
    DeleteObjects,
    DrainNode,
    EvictPod,
    OutsideAnswer,
    PartitionScheduler,
    PatchObject,
    Ref,
    ReportCondition,
    ReportDeviceCondition,
    ScaleObject,
    SetConfiguration,
    SetExtender,
    SetKubelet,
    SetPrograms,
    SetUsage,
    StartScheduler,
    StopScheduler,
)
from scheduler_core.world.readonly import RECORD_FIELDS
from scheduler_core.world.simulation import Simulation
from tests.scheduler_core.world.checkpoint.rich import walk
from tests.scheduler_core.worlds import node, pod, settle
from tests.support.devices import claim, claiming, device_class, gpus
from tests.walks import ROOT

SECOND = 1_000_000_000
LAG = 60 * SECOND
CLASS_OF = {**KINDS, CommandRecord.KIND: CommandRecord}


def expiring() -> Iterator[Record]:
    """A scheduler hears so late of a binding that the assumed pod has expired by then."""
    sim = Simulation(settings=WorldSettings(informer_lag=LAG, assumed_pod_ttl=30 * SECOND))
    sim.apply(ApplyObjects((node("a"), pod("web"))))
    yield from settle(sim)


def unbindable() -> Iterator[Record]:
    """A pod is deleted while its scheduler, which has not heard of it yet, binds it."""
    sim = Simulation(settings=WorldSettings(informer_lag=LAG))
    sim.apply(ApplyObjects((node("a"), pod("web"))))
    yield from sim.run(until=lambda w: any(record.kind == "pod_assumed" for record in w.last)).records
    yield from sim.apply(DeleteObjects((Ref("Pod", "default", "web"),)))
    yield from settle(sim)


def preempting() -> Iterator[Record]:
    """A pod of higher priority, which asks for one node by its name, takes the place of the one there."""
    sim = Simulation()
    sim.apply(ApplyObjects((node("a"), node("b"), pod("small", cpu="4"), pod("other", cpu="4"))))
    yield from settle(sim)
    field = {"key": "metadata.name", "operator": "In", "values": ["a"]}
    terms = {"nodeSelectorTerms": [{"matchFields": [field]}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    yield from sim.apply(ApplyObjects((pod("big", cpu="4", priority=9, affinity=affinity),)))
    yield from settle(sim)


def decided() -> Iterator[Record]:
    """A pod waits on Permit until a command lets it go."""
    sim = Simulation(settings=WorldSettings(demonstration=True))
    sim.apply(ApplyObjects((node("a"), pod("web", annotations={"playground.dev/permit": "wait:9s"}))))
    sim.run(until=lambda w: any(record.kind == "pod_waits" for record in w.last))
    yield from sim.apply(DecidePermit("default/web", "allow"))
    yield from sim.run().records


def waiting() -> Iterator[Record]:
    """A plugin rejects pods that wait on Permit for one that fits nowhere."""
    sim = Simulation()
    enabled = {"plugins": {"multiPoint": {"enabled": [{"name": "Coscheduling"}]}}}
    version = "kubescheduler.config.k8s.io/v1"
    manifest = {"apiVersion": version, "kind": "KubeSchedulerConfiguration", "profiles": [enabled]}
    sim.apply(SetConfiguration(manifest))
    members = [pod(name, cpu, {"playground.dev/min-member": "2"}) for name, cpu in (("a", "1"), ("b", "99"))]
    for member in members:
        member["metadata"]["labels"] = {"scheduling.x-k8s.io/pod-group": "g"}
    sim.apply(ApplyObjects((node("a"), *members)))
    yield from sim.run(steps=200).records


def clustered() -> Iterator[Record]:
    """A world hears every command to the components around the schedulers."""
    sim = Simulation()
    sim.apply(ApplyObjects((node("a"), pod("web"))))
    web = Ref("Pod", "default", "web")
    for command in (
        PatchObject(web, {"metadata": {"labels": {"a": "b"}}}, type="strategic", subresource="", user=""),
        CreateObject(node("b")),
        SetKubelet("a", False),
        ReportCondition("a", "MemoryPressure", "True", "Because", "somebody says so"),
        SetPrograms(()),
        SetUsage(()),
        DefinePlugin("Mine", Definition(filter="true")),
        DeleteObjects((web,), grace_period_seconds=0, propagation_policy="Background", user=""),
    ):
        yield from sim.apply(command)
    yield sim_record(Reconciled("deployment-controller", "default/web", "made a ReplicaSet"))
    for command in (
        ScaleObject(Ref("Deployment", "default", "web"), 3),
        EvictPod("default/web", 1, dry_run=True),
        DrainNode("a", ignore_daemon_sets=True, force=True),
        ReportDeviceCondition("default/c", "Ready", "True", "gpu.example.com/a/gpu-0"),
        CallAPI(
            "PATCH",
            "/api/v1/nodes/a",
            {"dryRun": "All"},
            {"spec": {}},
            "application/json",
            "kubectl",
            "kubectl-patch",
            1,
        ),
        BeginLife("2026-01-31T12:00:00Z", live=False),
    ):
        yield sim_record(msgspec.convert(msgspec.to_builtins(command), CommandRecord))


def elected() -> Iterator[Record]:
    """A process stands for election, and is cut off for a while."""
    sim = Simulation()
    for command in (
        StartScheduler("a", None, clock_offset=1, clock_rate=2.0),
        PartitionScheduler("a", True, hang=0),
        PartitionScheduler("a", False),
    ):
        yield from sim.apply(command)
        end = sim.now + 3 * 10**9
        while sim.due(end):
            yield from sim.advance()
    stop = StopScheduler("a", "SIGKILL")
    yield sim_record(msgspec.convert(msgspec.to_builtins(stop), CommandRecord))


def extended() -> Iterator[Record]:
    """Extenders are asked which nodes suit a pod, and to bind it; one of them outside."""
    sim = Simulation()
    extender = {"urlPrefix": "http://e", "filterVerb": "filter", "bindVerb": "bind"}
    kind = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    yield from sim.apply(SetConfiguration({**kind, "extenders": [extender]}))
    yield from sim.apply(SetExtender("http://e", RecordedServer()))
    yield from sim.apply(ApplyObjects((node("a"), pod("web"))))
    yield from settle(sim)
    answer = AnswerExtender("kube-scheduler", 1, 0, OutsideAnswer(500, "no"))
    yield sim_record(msgspec.convert(msgspec.to_builtins(answer), CommandRecord))
    said = SetExtender("http://e", RecordedServer())
    yield sim_record(msgspec.convert(msgspec.to_builtins(said), CommandRecord))


def allocating() -> Iterator[Record]:
    """A claim is allocated a device, and reserved for the pod that waits for it."""
    sim = Simulation()
    objects = (node("a"), gpus("a"), device_class("gpu"), claim("c"), claiming(pod("web"), "c"))
    sim.apply(ApplyObjects(objects))
    yield from sim.run(steps=60).records


def continued() -> Iterator[Record]:
    """Another world's objects go on in this one."""
    yield from Simulation().apply(ApplyObjects((node("a"),), continues=Continuation(created=3), stopped=("a",)))
    yield from Simulation().apply(ApplyObjects((node("a"),), taken="2026-11-28T12:00:00Z"))


def sim_record(facts: Facts) -> Record:
    """A record of these facts in a world of its own."""
    sim = Simulation()
    (record,) = sim.change(partial(sim.record, facts))
    return record


@cache
def records() -> tuple[Record, ...]:
    """What worlds say in which, all together, everything happens."""
    rich = chain.from_iterable(sim.last for sim in walk(steps=1_600))
    return (
        *rich,
        *expiring(),
        *unbindable(),
        *preempting(),
        *decided(),
        *waiting(),
        *clustered(),
        *extended(),
        *elected(),
        *allocating(),
        *continued(),
    )


def kinds_seen() -> list[str]:
    return [kind for kind in KINDS if any(record.kind == kind for record in records())]


def test_the_worlds_here_make_records_of_these_many_kinds() -> None:
    assert len(kinds_seen()) >= 26  # which only grows


def test_every_kind_is_written_somewhere() -> None:
    """A kind that none of these worlds makes is tested where it happens."""
    files = [path for path in (ROOT / "scheduler_core").rglob("*.py") if path.name != "kinds.py"]
    source = "\n".join(path.read_text() for path in files)
    names = [CLASS_OF[kind].__name__ for kind in KINDS]
    assert [
        name for name in names if not re.search(rf"(?<!class ){name}\(|convert\(.*, (?:\w+\.)?{name}\)", source)
    ] == []


@pytest.mark.parametrize("kind", kinds_seen())
def test_what_a_record_says_is_what_its_class_has(kind: str) -> None:
    seen: set[str] = set()
    for record in (record for record in records() if record.kind == kind):
        assert type(record.facts) is CLASS_OF[kind]
        read = msgspec.convert(record.data, CLASS_OF[kind], strict=True)  # raises for what is unknown or missing
        assert list(read.to_json().items()) == list(record.data.items())
        seen |= record.data.keys()
    assert [field.name for field in RECORD_FIELDS[kind] if field.name not in seen] == []


def test_every_class_of_records_is_on_the_list_and_has_a_name_of_its_own() -> None:
    assert set(Facts.__subclasses__()) == set(CLASSES)
    assert len(KINDS) == len(CLASSES)


@pytest.mark.parametrize("command", get_args(Command), ids=lambda command: command.__name__)
def test_the_record_of_a_command_knows_its_fields(command: type[Any]) -> None:
    assert set(command.__struct_fields__) - {field.name for field in RECORD_FIELDS["command"]} == set()


def test_what_there_is_nothing_to_say_of_is_left_out() -> None:
    assert PodForgotten("default/p").to_json() == {"pod": "default/p"}
    assert PodForgotten("default/p", "expired").to_json() == {"pod": "default/p", "cause": "expired"}


def test_null_is_told_where_it_is_an_answer() -> None:
    chosen = NodeSelected("default/p", "a", ["a"], None, 1)
    assert chosen.to_json() == {"pod": "default/p", "node": "a", "tied": ["a"], "draw": None, "feasible": 1}
    (applied,) = Simulation().apply(SetConfiguration())[:1]
    assert list(applied.data.items())[:2] == [("kind", "SetConfiguration"), ("configuration", None)]


class Looked(msgspec.Struct, kw_only=True):
    """Somebody looked.

    A class like those of records, which is none.
    """

    status: kinds.StatusData
    came_from: kinds.NodeName = msgspec.field(name="from")
    draw: int | None
    wait: int | None = None
    many: dict[str, list[bool]] | msgspec.UnsetType | None = msgspec.UNSET


def test_a_class_tells_its_fields_as_expressions_see_them() -> None:
    looked: Any = Looked
    assert description(looked) == "somebody looked"
    assert fields_of(looked) == (
        FieldSchema("status", "{code: string, plugin: string, reasons: list(string)}", False, ""),
        FieldSchema("from", "string", False, "the node"),
        FieldSchema("draw", "int or null", False, ""),
        FieldSchema("wait", "int", True, ""),
        FieldSchema("many", "map(string, list(bool)) or null", True, ""),
    )

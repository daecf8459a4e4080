"""Every command that there is, with any data in any of its fields: the engine takes it or refuses it, and nothing else."""

from __future__ import annotations

import traceback
from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from scheduler_core.world.commands import KINDS, Refused, command_from_json
from scheduler_core.world.simulation import Grain, Simulation
from tests.hostile.ground import WORLD, Ground
from tests.hostile.tally import Tally

JSON = dict[str, Any]
STEPS = 40  # after each command
SETTLED = 600  # before them: pods run
DATA: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    1.5,
    2**63,
    10**30,
    float("nan"),
    "",
    "x",
    "a/b/c",
    "é\0",
    "9" * 400,
    [],
    [1],
    ["x", None],
    [{}],
    {},
    {"": None},
    {"a": 1},
    {"a.b/[": {"c": [1, {"d": "x"}]}},
    {"matchLabels": 1},
    "x" * 70_000,
)
POD = {"kind": "Pod", "namespace": "default", "name": "web"}
CONFIGURATION = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "parallelism": 16,
    "podMaxBackoffSeconds": 10,
    "leaderElection": {"leaderElect": True, "leaseDuration": "15s"},
    "clientConnection": {"qps": 50},
    "profiles": [
        {
            "schedulerName": "other",
            "percentageOfNodesToScore": 50,
            "plugins": {
                "multiPoint": {"disabled": [{"name": "ImageLocality"}], "enabled": [{"name": "NodeName"}]},
                "score": {
                    "disabled": [{"name": "NodeResourcesFit"}],
                    "enabled": [{"name": "NodeAffinity", "weight": 3}],
                },
            },
            "pluginConfig": [
                {
                    "name": "NodeResourcesFit",
                    "args": {
                        "ignoredResources": ["example.com/x"],
                        "scoringStrategy": {
                            "type": "RequestedToCapacityRatio",
                            "resources": [{"name": "cpu", "weight": 3}],
                            "requestedToCapacityRatio": {"shape": [{"utilization": 0, "score": 0}]},
                        },
                    },
                },
                {
                    "name": "NodeAffinity",
                    "args": {
                        "addedAffinity": {
                            "requiredDuringSchedulingIgnoredDuringExecution": {
                                "nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "operator": "Exists"}]}]
                            }
                        }
                    },
                },
                {
                    "name": "PodTopologySpread",
                    "args": {
                        "defaultingType": "List",
                        "defaultConstraints": [
                            {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"}
                        ],
                    },
                },
                {"name": "InterPodAffinity", "args": {"hardPodAffinityWeight": 5}},
                {"name": "DefaultPreemption", "args": {"minCandidateNodesPercentage": 10}},
                {"name": "VolumeBinding", "args": {"bindTimeoutSeconds": 600}},
                {"name": "NodeResourcesBalancedAllocation", "args": {"resources": [{"name": "cpu", "weight": 1}]}},
                {"name": "DynamicResources", "args": {"filterTimeout": "10s"}},
            ],
        }
    ],
    "extenders": [
        {
            "urlPrefix": "http://extender.example",
            "filterVerb": "filter",
            "managedResources": [{"name": "example.com/x"}],
        }
    ],
}
CLUSTER = {
    "apiserver": {
        "enable-admission-plugins": ["PodNodeSelector"],
        "podNodeSelectorPluginConfig": {"clusterDefaultNodeSelector": "disk=ssd"},
        "ResourceQuotaConfiguration": {
            "limitedResources": [
                {
                    "resource": "pods",
                    "matchContains": ["pods"],
                    "matchScopes": [{"scopeName": "PriorityClass", "operator": "In", "values": ["web"]}],
                }
            ]
        },
    },
    "controller_manager": {"node-monitor-period": "5s", "node-eviction-rate": 0.1},
    "kubelet": {
        "maxPods": 9,
        "kubeReserved": {"cpu": "1m"},
        "enforceNodeAllocatable": ["pods"],
        "evictionHard": {"memory.available": "1%"},
        "evictionSoft": {"memory.available": "2%"},
        "evictionSoftGracePeriod": {"memory.available": "30s"},
        "evictionMinimumReclaim": {"memory.available": "1Mi"},
        "nodeStatusUpdateFrequency": "10s",
    },
    "kubelets": {"web": {"maxPods": 5}},
    "controllers": ["job-controller"],
    "provisioners": ["disk.example.com"],
    "reconcile_latency": 1,
}
PROGRAM = {
    "pods": {"matchLabels": {"app": "web"}},
    "container": "main",
    "createdAfter": "1s",
    "runs": [{"for": "5s", "exit": 1}],
    "ready": [{"at": "1s", "is": True}],
    "onTerm": {"after": "3s", "exit": 1},
}
USAGE = [
    {"at": "5s", "pod": "web", "memory": "1Gi", "rootfs": "1Mi", "volumes": {"x": "1Mi"}},
    {"at": "6s", "podLabel": "app=web", "memory": "1Gi"},
    {"at": "7s", "node": "web", "nodefs": {"capacity": "1Gi", "used": "1Mi"}, "pidMax": 100},
]
CELL = {"type": "cel", "filter": "true", "prioritize": "1", "preempt": "true", "bind": "true", "latency": 1}
# A command of each kind that may well be taken, in a world with an object of every kind.
GOOD: Mapping[str, JSON] = {
    "ApplyObjects": {
        "objects": "OBJECTS",
        "continues": {"draws": 1, "created": 1, "next_start": {"kube-scheduler": 1}},
    },
    "DeleteObjects": {"refs": [POD], "grace_period_seconds": 1, "propagation_policy": "Orphan", "user": "x"},
    "PatchObject": {"ref": POD, "patch": {"metadata": {"labels": {"a": "b"}}}, "type": "strategic"},
    "SetConfiguration": {"configuration": CONFIGURATION, "scheduler": "second"},
    "SetSettings": {"settings": {"cluster": CLUSTER, "cycle_cost": 1, "queue_mode": "v1.34"}},
    "DefinePlugin": {"plugin": "Own", "definition": {"filter": "true", "score": "1", "weight": 2}},
    "DecidePermit": {"pod": "default/web", "decision": "allow"},
    "FailCall": {"call": "bind", "pod": "default/large", "code": 500, "times": 2, "latency": 5, "message": "x"},
    "CreateObject": {"manifest": {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "new"}}},
    "ScaleObject": {"ref": {**POD, "kind": "Deployment"}, "replicas": 2},
    "BindPod": {"pod": "default/large", "node": "web"},
    "EvictPod": {"pod": "default/claiming", "grace_period_seconds": 5},
    "DrainNode": {"node": "small", "force": True, "grace_period_seconds": 1},
    "CancelDrain": {"node": "web"},
    "SetKubelet": {"node": "web", "running": False},
    "ReportCondition": {"node": "web", "type": "Ready", "status": "False", "reason": "x"},
    "ReportDeviceCondition": {"claim": "default/web", "type": "Ready"},
    "SetPrograms": {"rules": [PROGRAM]},
    "SetUsage": {"entries": USAGE},
    "SetExtender": {"url_prefix": "http://extender.example", "behaviour": CELL},
    "CallAPI": {
        "method": "PATCH",
        "path": "/api/v1/namespaces/default/pods/web",
        "query": {"fieldManager": "x"},
        "body": {"metadata": {"labels": {"a": "b"}}},
        "content_type": "application/merge-patch+json",
        "agent": "x",
        "manager": "x",
        "time": 1,
    },
    "BeginLife": {"start": "2026-01-31T12:00:00Z", "live": False},
    "AnswerExtender": {
        "scheduler": "kube-scheduler",
        "attempt": 1,
        "number": 1,
        "answer": {"status": 200, "body": "{}"},
    },
    "Undo": {},
    "Redo": {},
    "StartScheduler": {"name": "third", "configuration": CONFIGURATION, "clock_offset": 5, "clock_rate": 1.5},
    "StopScheduler": {"name": "kube-scheduler", "signal": "SIGKILL"},
    "PartitionScheduler": {"name": "kube-scheduler", "partitioned": True, "hang": 5},
}
# What such a command needs before it; those that wait for an answer need more than a command.
BEFORE: Mapping[str, JSON] = {
    "CancelDrain": {"kind": "DrainNode", "node": "web", "force": True, "ignore_daemon_sets": True},
    "Redo": {"kind": "Undo"},
}
WAITING = ("DecidePermit", "AnswerExtender", "ReportDeviceCondition")


def world() -> Simulation:
    """The world with an object of every kind."""
    simulation = Simulation()
    simulation.apply(command_from_json({"kind": "ApplyObjects", "objects": objects()}))
    for _step in range(SETTLED):
        simulation.step(Grain.CALL)
    return simulation


def objects() -> list[JSON]:
    return list(yaml.safe_load_all(WORLD))


def tries(kind: str, long: bool) -> Iterator[tuple[str, JSON]]:
    """Commands of a kind, each with one thing wrong in it."""
    good = example(kind)
    for turn, place in enumerate(_places(good)):
        for data in DATA if long else (DATA[(turn * 2 + number) % len(DATA)] for number in range(2)):
            yield f"{kind} {'.'.join(map(str, place))}={data!r:.40}", _with(good, place, data)


def example(kind: str) -> JSON:
    """A command that may be taken."""
    fields = GOOD[kind]
    return {"kind": kind, **fields, **({"objects": objects()} if kind == "ApplyObjects" else {})}


def _places(value: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of everything in some data."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, below in inside:
        yield (*above, step)
        yield from _places(below, (*above, step))


def _with(value: Any, place: tuple[Any, ...], data: Any) -> Any:
    if not place:
        return data
    copy = value.copy()
    copy[place[0]] = _with(value[place[0]], place[1:], data)
    return copy


def walk_commands(ground: Ground, tally: Tally) -> None:
    """Apply each to a fork of the world, and go on from there."""
    begin = world()
    for kind in KINDS:
        ready = begin.fork()
        if kind in BEFORE:
            ready.apply(command_from_json(BEFORE[kind]))
        taken = _apply(ready, kind, example(kind), ground.long, tally)
        tally.demand(taken or kind in WAITING, f"{kind}: the example is refused")
        for label, data in tries(kind, ground.long):
            _apply(ready, label, data, ground.long, tally)


def _apply(ready: Simulation, label: str, data: JSON, long: bool, tally: Tally) -> bool:
    """Whether it is taken."""
    tally.tried += 1
    fork = ready.fork()
    try:
        fork.apply(command_from_json(data))
        for _step in range(STEPS if long else 3):
            fork.step(Grain.CALL)
    except Refused as refused:
        tally.demand(refused.errors and str(refused.errors[0]), f"{label}: refused without words")
        return False
    except Exception as error:  # whatever it is, it is what is looked for
        where = traceback.extract_tb(error.__traceback__)[-1]
        tally.demand(False, f"{label}: {type(error).__name__}: {error} ({where.name}, line {where.lineno})")
    return True

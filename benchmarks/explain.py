"""How long do Why and Fix take in a large cluster? `python -m benchmarks.explain [--nodes N] [--pods P] [--json]`.

Nodes in three zones, one in ten tainted, one in fifty with GPUs, filled with pods of 200 applications; then one pod for each situation,
and each stays Pending. Why is asked for twice, since the first time reads what the second finds read. Milliseconds are of the processor;
a turn is what Fix computes before others on the same worker may have theirs. Garbage is collected as in a worker.
"""

from __future__ import annotations

import argparse
import gc
import json
import time
from dataclasses import asdict, dataclass
from typing import Any

from benchmarks.probe import probe
from scheduler_core.analysis.explain import explain
from scheduler_core.analysis.fixes import Budget, search_fixes
from scheduler_core.apimachinery.objects.manifest import MutableManifest
from scheduler_core.world.commands import ApplyObjects, SetSettings
from scheduler_core.world.simulation import Simulation

ZONES = "abc"
APPLICATIONS = 200
ZONE, HOSTNAME = "topology.kubernetes.io/zone", "kubernetes.io/hostname"


@dataclass(frozen=True, slots=True)
class Figures:
    """Of one pod: milliseconds of Why, first and again; of Fix, of its first fix, and of its longest turn; what was tried, and what
    kinds of fixes were found.
    """

    situation: str
    why: float
    again: float
    fix: float
    first: float
    turn: float
    tried: int
    fixes: list[str]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=5_000)
    parser.add_argument("--pods", type=int, default=50_000)
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    options = parser.parse_args()
    sim = world(options.nodes, options.pods)
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 20, 20)
    figures = [measured(sim, name) for name in PENDING]
    if options.json:
        print(json.dumps({"probe": probe(), "figures": [asdict(each) for each in figures]}, indent=2))
        return
    print(f"{options.nodes:,} nodes, {options.pods:,} pods; probe {probe()}")
    print(f"{'pod':16} {'why':>6} {'again':>6} {'fix':>7} {'first':>6} {'turn':>6}  tried  fixes")
    for row in figures:
        times = f"{row.why:6.0f} {row.again:6.0f} {row.fix:7.0f} {row.first:6.0f} {row.turn:6.0f}"
        print(f"{row.situation:16} {times}  {row.tried:5}  {', '.join(row.fixes)}")


def world(nodes: int, pods: int) -> Simulation:
    """The cluster as it stands when every pod of PENDING had its attempt."""
    sim = Simulation(seed=1)
    sim.apply(SetSettings({"cluster": {"controllers": []}}))
    sim.apply(ApplyObjects(tuple(map(node, range(nodes)))))
    sim.apply(ApplyObjects(tuple(running(number, nodes) for number in range(pods))))
    sim.apply(ApplyObjects(tuple(pod(name, **spec) for name, spec in PENDING.items())))
    sim.run(steps=20_000)
    return sim


def node(number: int) -> MutableManifest:
    name = f"node-{number}"
    offered = {"cpu": "16", "memory": "64Gi", "pods": "110"}
    if number % 50 == 0:
        offered["nvidia.com/gpu"] = "8"
    labels = {HOSTNAME: name, ZONE: ZONES[number % len(ZONES)], "node.kubernetes.io/instance-type": f"m{number % 4}"}
    taints = [{"key": "dedicated", "value": "batch", "effect": "NoSchedule"}] if number % 10 == 0 else []
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "spec": {"taints": taints},
        "status": {"capacity": offered, "allocatable": offered, "conditions": [{"type": "Ready", "status": "True"}]},
    }


def running(number: int, nodes: int) -> MutableManifest:
    """A pod of 1.5 processors, so that ten of them leave one on each node."""
    manifest = pod(f"running-{number}", app=f"app-{number % APPLICATIONS}", cpu="1500m", memory="4Gi")
    manifest["spec"]["nodeName"] = f"node-{number % nodes}"
    return {**manifest, "status": {"phase": "Running"}}


def pod(
    name: str, *, app: str = "asked", cpu: str = "8", memory: str = "4Gi", gpu: int = 0, **spec: Any
) -> MutableManifest:
    requests: dict[str, Any] = {"cpu": cpu, "memory": memory}
    if gpu:
        requests["nvidia.com/gpu"] = str(gpu)
    resources = {"requests": requests, "limits": {"nvidia.com/gpu": str(gpu)} if gpu else {}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", "labels": {"app": app}},
        "spec": {"containers": [{"name": "main", "image": "app:1", "resources": resources}], **spec},
    }


def _beside(kind: str, app: str, key: str) -> MutableManifest:
    term = {"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": key}
    return {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def _make_spread(key: str) -> list[MutableManifest]:
    selector = {"matchLabels": {"app": "app-0"}}
    return [{"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector}]


PENDING: dict[str, MutableManifest] = {
    "no-room": {},
    "more-than-a-node": {"cpu": "88"},
    "gpus": {"cpu": "2", "gpu": 16},
    "zone": {"nodeSelector": {ZONE: "a"}},
    "no-label": {"cpu": "500m", "nodeSelector": {"disk": "ssd"}},
    "affinity-no-pod": {"cpu": "500m", "affinity": _beside("podAffinity", "none", HOSTNAME)},
    "affinity-neither": {"affinity": _beside("podAffinity", "none", HOSTNAME)},
    "affinity-no-room": {"affinity": _beside("podAffinity", "app-0", ZONE)},
    "anti-affinity": {"cpu": "500m", "app": "app-0", "affinity": _beside("podAntiAffinity", "app-0", ZONE)},
    "spread-zones": {"topologySpreadConstraints": _make_spread(ZONE)},
    "spread-nodes": {"app": "app-0", "topologySpreadConstraints": _make_spread(HOSTNAME)},
}


def measured(sim: Simulation, name: str) -> Figures:
    key = f"default/{name}"
    why, again = _milliseconds(sim, key), _milliseconds(sim, key)
    started = last = time.process_time()
    times: list[float] = []
    found = lambda fix: times.append(time.process_time())  # noqa: E731
    turn, search = 0.0, search_fixes(sim, key, Budget(), found=found)
    while True:
        try:
            next(search)
        except StopIteration as end:
            findings = end.value
            break
        finally:
            now = time.process_time()
            turn, last = max(turn, now - last), now
    kinds = [fix.kind for fix in findings.fixes]
    first = (min(times, default=last) - started) * 1e3
    return Figures(name, why, again, (last - started) * 1e3, first, turn * 1e3, findings.tried, kinds)


def _milliseconds(sim: Simulation, key: str) -> float:
    started = time.process_time()
    explain(sim, key)
    return (time.process_time() - started) * 1e3


if __name__ == "__main__":
    main()

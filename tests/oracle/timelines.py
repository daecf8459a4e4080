"""Compare the queue, batching, and pod groups with the real scheduler's over random timelines.

    python -m tests.oracle.timelines ORACLE RELEASE FIRST LAST

ORACLE is the program timelines-oracle that build.sh builds. Prints each timeline that differs, and sums; exits 1 where one differs.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Mapping
from typing import Any

from scheduler_core.base.clock.agenda import MILLISECOND
from scheduler_core.base.releases import read_release
from scheduler_core.testing.conformance.timelines.compare import difference
from scheduler_core.testing.conformance.timelines.entities import EntityRun
from scheduler_core.testing.conformance.timelines.oracle import oracle
from tests.oracle.compare import ask_oracle
from tests.oracle.worlds import CONFIG, HOSTNAME, ZONE

Manifest = dict[str, Any]

KINDS = ("queue", "batching", "groups")
_QUEUES = ("activeQ", "backoffQ", "unschedulable")


def make_timeline(seed: int, release: str) -> Manifest:
    """Make the timeline of a seed. Nodes have ranks that score more than all else, so that none tie."""
    return _Maker(random.Random(seed), release).timeline(seed)


def _prefer_ranks(step: int) -> list[Manifest]:
    """Return preferences for nodes by their rank: the first is the best."""
    return [
        {
            "weight": 100 - step * rank,
            "preference": {"matchExpressions": [{"key": "rank", "operator": "In", "values": [str(rank)]}]},
        }
        for rank in range(100 // step)
    ]


class _Maker:
    def __init__(self, rng: random.Random, release: str) -> None:
        self.rng = rng
        self.kind = rng.choice(KINDS if release.startswith("1.37") else KINDS[:2])
        self.steps: list[Manifest] = []
        self.pods: dict[str, Manifest] = {}
        self.nodes: dict[str, Manifest] = {}
        self.groups: dict[str, Manifest] = {}
        self.made = 0
        self.topology = self.kind == "groups" and rng.random() < 0.4

    def often(self, share: float) -> bool:
        return self.rng.random() < share

    def timeline(self, seed: int) -> Manifest:
        for _ in range(self.rng.randint(2, 6)):
            self.create(self.node())
        gates: dict[str, bool] = {"GenericWorkload": True} if self.kind == "groups" else {}
        if self.topology:
            gates["TopologyAwareWorkloadScheduling"] = True
        turns = {
            "pod": (6, self.add_pod),
            "schedule": (9, lambda: self.steps.append({"op": "scheduleOne"})),
            "advance": (
                2,
                lambda: self.steps.append({"op": "advance", "seconds": self.rng.choice([0.6, 2, 5, 12, 40, 330])}),
            ),
            "node": (1, lambda: self.create(self.node())),
            "change": (1.5, self.change),
            "remove": (1.5, self.remove),
        }
        if self.kind == "batching":
            turns["burst"] = (3, self.add_burst)
        if self.kind == "groups":
            turns["group"] = (2, self.add_group)
        for _ in range(self.rng.randint(15, 60)):
            names = list(turns)
            turns[self.rng.choices(names, [turns[name][0] for name in names])[0]][1]()
        self.steps += [{"op": "scheduleOne"}] * 3
        return {"name": f"{self.kind} {seed}", "config": self.configuration(), "gates": gates, "steps": self.steps}

    def configuration(self) -> Manifest:
        profile: Manifest = {
            "schedulerName": "default-scheduler",
            "plugins": {"multiPoint": {"enabled": [{"name": "NodeAffinity", "weight": 1000}]}},
        }
        arguments = {}
        if self.kind != "batching":
            added = {"preferredDuringSchedulingIgnoredDuringExecution": _prefer_ranks(5)}
            arguments["NodeAffinity"] = {"addedAffinity": added}
        elif self.often(0.9):
            arguments["PodTopologySpread"] = {"defaultingType": "List"}
        profile["pluginConfig"] = [
            {"name": name, "args": {"apiVersion": CONFIG, "kind": f"{name}Args", **args}}
            for name, args in arguments.items()
        ]
        return {
            "apiVersion": CONFIG,
            "kind": "KubeSchedulerConfiguration",
            "percentageOfNodesToScore": 100,
            "profiles": [profile],
        }

    def create(self, manifest: Manifest) -> None:
        self.steps.append({"op": "create", "object": manifest})

    def update(self, manifest: Manifest) -> None:
        self.steps.append({"op": "update", "object": manifest})

    def node(self) -> Manifest:
        rng, rank = self.rng, len(self.nodes)
        name = f"n{rank}"
        amounts = {"cpu": str(rng.choice([2, 3, 4])), "memory": "16Gi", "pods": rng.choice(["110", "110", "3"])}
        labels = {HOSTNAME: name, "rank": str(rank), "disk": rng.choice(["ssd", "hdd"])}
        if self.often(0.9):
            labels[ZONE] = rng.choice(["za", "zb", "zc"])
        node: Manifest = {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name, "uid": name, "labels": labels},
            "spec": {},
            "status": {"allocatable": amounts, "capacity": amounts},
        }
        if self.often(0.15):
            node["spec"]["taints"] = [{"key": "dedicated", "value": "a", "effect": "NoSchedule"}]
        self.nodes[name] = node
        return node

    def add_pod(self) -> None:
        rng = self.rng
        self.made += 1
        name = f"p{self.made}"
        requests = {"cpu": rng.choice(["100m", "500m", "1", "2", "3"])}
        priority = rng.choice([0, 0, 0, 10_000]) + self.made  # no two alike: kube draws between nodes whose victims are
        labels = {"app": rng.choice("xy")}
        spec: Manifest = {
            "preemptionPolicy": "PreemptLowerPriority",
            "priority": priority,
            "schedulerName": "default-scheduler",
        }
        if self.kind == "batching":
            spec["affinity"] = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": _prefer_ranks(6)}}
        container: Manifest = {"name": "c", "image": "app:v1", "resources": {"requests": requests}}
        if self.often(0.1):
            container["ports"] = [{"containerPort": 80, "hostPort": 80, "protocol": "TCP"}]
        spec |= {"containers": [container], "terminationGracePeriodSeconds": 0}
        if self.groups and self.often(0.8):
            group = rng.choice(list(self.groups.values()))
            spec["schedulingGroup"] = {"podGroupName": group["metadata"]["name"]}
            if self.often(0.95):
                spec["priority"] = group["spec"].get("priority", 0)
        if self.kind != "batching" or self.often(0.3):
            self.limit(spec)
        if self.kind == "batching" and self.pods and self.often(0.75):  # such a pod as the last
            last = list(self.pods.values())[-1]
            spec, labels = {**last["spec"], "priority": priority}, last["metadata"]["labels"]
        pod = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name, "namespace": "default", "uid": f"default-{name}", "labels": labels},
            "spec": spec,
            "status": {"phase": "Pending"},
        }
        self.pods[name] = pod
        self.create(pod)

    def add_burst(self) -> None:
        count = self.rng.randint(2, 6)
        for _ in range(count):
            self.add_pod()
        self.steps += [{"op": "scheduleOne"}] * count

    def limit(self, spec: Manifest) -> None:
        """Add what keeps a pod off some nodes."""
        rng, required = self.rng, "requiredDuringSchedulingIgnoredDuringExecution"
        if self.often(0.15):
            spec["nodeSelector"] = {"disk": rng.choice(["ssd", "hdd"])}
        if self.often(0.15):
            spec["tolerations"] = [{"key": "dedicated", "operator": "Exists"}]
        if self.often(0.12):
            spec["schedulingGates"] = [{"name": "example.com/wait"}]
        selector = {"matchLabels": {"app": rng.choice("xy")}}
        if self.often(0.12):
            term = {"labelSelector": selector, "topologyKey": rng.choice([HOSTNAME, ZONE])}
            kind = rng.choice(["podAffinity", "podAntiAffinity", "podAntiAffinity"])
            spec.setdefault("affinity", {})[kind] = {required: [term]}
        if self.often(0.1):
            spec["topologySpreadConstraints"] = [
                {
                    "maxSkew": 1,
                    "topologyKey": rng.choice([HOSTNAME, ZONE]),
                    "whenUnsatisfiable": "DoNotSchedule",
                    "labelSelector": selector,
                }
            ]

    def add_group(self) -> None:
        rng = self.rng
        self.made += 1
        name = f"g{self.made}"
        policy = {"basic": {}} if self.often(0.25) else {"gang": {"minCount": rng.randint(1, 4)}}
        spec: Manifest = {"schedulingPolicy": policy, "disruptionMode": {rng.choice(["all", "single"]): {}}}
        if self.often(0.5):
            spec["priority"] = rng.choice([0, 10_000, 20_000]) + self.made
        if self.topology and self.often(0.7):
            spec["schedulingConstraints"] = {"topology": [{"key": rng.choice([ZONE, "disk"])}]}
        metadata = {"name": name, "namespace": "default", "uid": f"default-{name}"}
        group = {"apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PodGroup", "metadata": metadata, "spec": spec}
        self.groups[name] = group
        self.create(group)

    def change(self) -> None:
        """Change a node, or a pod that is perhaps waiting."""
        rng = self.rng
        if self.often(0.5) or not self.pods:
            name = rng.choice(list(self.nodes))
            node = self.nodes[name]
            what = rng.choice(["cpu", "label", "taint", "cordon"])
            metadata, spec, status = dict(node["metadata"]), dict(node["spec"]), dict(node["status"])
            if what == "cpu":
                amounts = {**status["allocatable"], "cpu": str(rng.choice([1, 2, 4, 6]))}
                status = {"allocatable": amounts, "capacity": amounts}
            elif what == "label":
                metadata["labels"] = {**metadata["labels"], "disk": rng.choice(["ssd", "hdd"])}
            elif what == "taint":
                taint = {"key": "dedicated", "value": "a", "effect": "NoSchedule"}
                spec = {**spec, "taints": [] if spec.get("taints") else [taint]}
            else:
                spec["unschedulable"] = not spec.get("unschedulable", False)
            self.nodes[name] = {**node, "metadata": metadata, "spec": spec, "status": status}
            self.update(self.nodes[name])
            return
        name = rng.choice(list(self.pods))
        pod = self.pods[name]
        metadata, spec = dict(pod["metadata"]), dict(pod["spec"])
        if spec.pop("schedulingGates", None) is None:
            metadata["labels"] = {"app": rng.choice("xy")}
        self.pods[name] = {**pod, "metadata": metadata, "spec": spec}
        self.update(self.pods[name])

    def remove(self) -> None:
        found = [("Pod", self.pods)] if self.pods else []
        if self.groups and self.often(0.1):
            found = [("PodGroup", self.groups)]
        for kind, objects in found:
            name = self.rng.choice(list(objects))
            del objects[name]
            self.steps.append({"op": "delete", "kind": kind, "namespace": "default", "name": name})


def find_difference(timeline: Mapping[str, Any], seen: list[Manifest], release: str, sums: Counter[str]) -> str | None:
    """Return the first difference of a timeline, or None; count what the steps did."""
    # Before 1.37 kube does not count entities; its count of a group's members depends on the order of a map.
    uncounted = "queue_incoming_entities" if not release.startswith("1.37") else "-"
    uncounted = "queue_incoming_pods_total" if timeline["gates"] else uncounted
    with oracle():
        run = EntityRun(timeline, read_release(release))
        for number, (step, expected) in enumerate(zip(timeline["steps"], seen, strict=True)):
            run.records, run.result = [], None
            current = _refresh(run, step)
            if current is not None:
                run._apply(current)
            if step["op"] != "advance":
                run._pass(MILLISECOND)
            received = _reduce(run, run.observer.look(run.records, run.result))
            if step["op"] == "scheduleOne":
                received["result"] = run.result
            for shown in (expected, received):
                shown["metrics"] = {
                    name: n for name, n in (shown["metrics"] or {}).items() if not name.startswith(uncounted)
                }
            popped = (expected.get("result") or {}).get("popped") or {}
            sums["cycles"] += bool(popped)
            sums["groups"] += "podGroup" in popped
            for name, n in expected["metrics"].items():
                sums[name.partition("{")[0]] += n if "result=hint" in name or "preemption" in name else 0
            first = difference(number, step["op"], _order(expected), _order(received))
            if first is not None:
                return f"{timeline['name']}: {first}"
    return None


def _refresh(run: EntityRun, step: Manifest) -> Manifest | None:
    """Let the update of a pod keep what the scheduler wrote; None for a pod that was preempted."""
    if step["op"] != "update" or step["object"]["kind"] != "Pod":
        return step
    pod = step["object"]
    stored = run.sim.store.get("Pod", pod["metadata"]["namespace"], pod["metadata"]["name"])
    if stored is None:
        return None
    node = {"nodeName": stored["spec"]["nodeName"]} if stored["spec"].get("nodeName") else {}
    return {**step, "object": {**pod, "spec": {**pod["spec"], **node}, "status": stored["status"]}}


def _reduce(run: EntityRun, shown: Manifest) -> Manifest:
    """Reduce a step of ours to the oracle's form: names of pods, and all states."""
    store, fields = run.sim.store, ("type", "status", "reason", "message")

    def conditions(manifest: Manifest) -> list[Manifest]:
        listed = (manifest.get("status") or {}).get("conditions") or ()
        return [{field: each[field] for field in fields if each.get(field)} for each in listed]

    def names(entities: list[Manifest]) -> list[str]:
        return [each["pod"] for entity in entities for each in entity.get("pods") or [entity]]

    queues = {queue: names(shown.get(queue, [])) for queue in _QUEUES}
    queues["backoffQ"] += names(shown.get("errorBackoffQ", []))
    return {
        **{key: shown.get(key) for key in ("t", "inFlight", "nominated", "bound", "events", "apiCalls", "metrics")},
        **queues,
        "pods": {
            pod.key: {"nominatedNodeName": pod.nominated_node_name, "conditions": conditions(pod.manifest)}
            for pod in store.pods()
        },
        "podGroups": {
            f"{each['metadata']['namespace']}/{each['metadata']['name']}": conditions(each)
            for each in store.list("PodGroup")
        },
        **{
            key: [name for names in (shown.get(key) or {}).values() for name in names]
            for key in ("pendingPodGroupPods", "incompletePodGroupPods")
        },
    }


def _order(shown: Manifest) -> Manifest:
    """Without what is empty, and without an order that means nothing."""
    listed = (*_QUEUES, "pendingPodGroupPods", "incompletePodGroupPods", "inFlight")
    kept = {key: sorted(value) if key in listed and value else value for key, value in shown.items()}
    for name in ("pods", "podGroups"):
        kept[name] = {key: _drop_empty(value) for key, value in (shown.get(name) or {}).items()}
    return {key: value for key, value in kept.items() if value or key in ("t", "result")}


def _drop_empty(value: Any) -> Any:
    if isinstance(value, dict):
        kept = {key: sorted(each, key=str) if isinstance(each, list) else each for key, each in value.items()}
        return {key: each for key, each in kept.items() if each}
    return sorted(value, key=str) if isinstance(value, list) else value


def main(program: str, release: str, first: str, last: str) -> int:
    """Compare the timelines of the seeds from `first` to before `last`. Return the exit code."""
    timelines = [make_timeline(seed, release) for seed in range(int(first), int(last))]
    sums: Counter[str] = Counter()
    agreed: Counter[str] = Counter()
    for timeline, answer in zip(timelines, ask_oracle(program, timelines), strict=True):
        try:
            different = find_difference(timeline, answer["steps"], release, sums)
        except Exception as problem:
            different = f"{timeline['name']}: {type(problem).__name__}: {problem}"
        word = "agree"
        if different is not None:
            # What depends on the order of a Go map is not the same in each run.
            again = ask_oracle(program, [timeline] * 12)
            same = any(find_difference(timeline, each["steps"], release, Counter()) is None for each in again)
            word = "agree once" if same else "differ"
            print(word, different)
        agreed[f"{timeline['name'].split()[0]} {word}"] += 1
    print(f"{release}: {dict(sorted(agreed.items()))}; {dict(+sums)}")
    return int(any("differ" in name for name in agreed))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

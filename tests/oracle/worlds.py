"""Random worlds of nodes and pods as the API server would have admitted them, for a comparison with the real scheduler."""

from __future__ import annotations

import random
from typing import Any

from scheduler_core.base.releases import read_release
from scheduler_core.scheduler.config.gates import GateError, gates_of, resolve
from tests.oracle.devices import GATES, DeviceMaker
from tests.oracle.extras import ExtraMaker

Manifest = dict[str, Any]

HOSTNAME, ZONE, REGION = "kubernetes.io/hostname", "topology.kubernetes.io/zone", "topology.kubernetes.io/region"
CONFIG = "kubescheduler.config.k8s.io/v1"
EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist")
FEATURES = ("GuaranteedQoSPodCPUResize", "RestartAllContainersOnContainerExits", "UserNamespacesHostNetworkSupport")
# Gates beside those of devices.
_GATES = (
    "InPlacePodLevelResourcesVerticalScaling",
    "MatchLabelKeysInPodTopologySpread",
    "NodeDeclaredFeatures",
    "PodLevelResources",
    "StorageCapacityScoring",
    "VolumeLimitScaling",
    "TaintTolerationComparisonOperators",
)


def make_world(seed: int, release: str) -> Manifest:
    """Make the world of a seed: a configuration (or none), objects, and pods that are tried in their order."""
    make = _Maker(random.Random(seed), declares=not release.startswith("1.34."))
    rng = make.rng
    nodes = [make.node(i) for i in range(rng.choice([2, 3, 4, 5, 6, 8, 12]))]
    names = [node["metadata"]["name"] for node in nodes]
    bound = [make.bound_pod(k, rng.choice(names)) for k in range(rng.choice([0, 4, 8, 16]))]
    bound.sort(key=lambda pod: (pod["metadata"]["namespace"], pod["metadata"]["name"]))
    pending = [make.pod(f"p{k:02}") for k in range(rng.choice([3, 6, 10, 16]))]
    world = {
        "name": f"world {seed}",
        "kubeVersion": f"v{release}",
        "config": make.configuration(),
        "objects": [*nodes, *make.others(), *bound],
        "pending": pending,
        "retryAfter": 0,
        "gates": {},
    }
    # Drawn by a generator of their own, so that the rest of a world does not depend on them.
    make.rng = random.Random(seed + 1_000_000)
    make.add_gates(world)
    if make.often(0.4):
        make.add_devices(world)
    if make.often(0.2):
        make.add_profile(world)
    extra = ExtraMaker(make.rng, "VolumeLimitScaling" in gates_of(read_release(release)))
    if make.often(0.3):
        extra.add_volumes(world)
    if make.often(0.25):
        extra.add_resizes(world)
    return world


class _Maker:
    def __init__(self, rng: random.Random, declares: bool) -> None:
        self.rng = rng
        self.declares = declares

    def often(self, share: float) -> bool:
        return self.rng.random() < share

    def add_gates(self, world: Manifest) -> None:
        """Set gates that a cycle depends on otherwise than the release does; let tolerations compare, where that is on."""
        known = gates_of(read_release(world["kubeVersion"]))
        free = [name for name in (*GATES, *_GATES) if name in known and not known[name].locked]
        chosen = self.rng.sample(free, min(len(free), self.rng.randint(1, 4))) if self.often(0.4) else []
        world["gates"] = {name: not known[name].default for name in chosen}
        try:
            resolve(world["gates"], read_release(world["kubeVersion"]))
        except GateError:
            world["gates"] = {}
        if "TaintTolerationComparisonOperators" in known:
            for pod in world["pending"]:
                if self.often(0.3):
                    operator = {"operator": self.rng.choice(["Gt", "Lt"]), "value": str(self.rng.randint(-2, 12))}
                    pod["spec"].setdefault("tolerations", []).append({"key": "level", **operator})
            for each in world["objects"]:
                if each["kind"] == "Node" and self.often(0.3):
                    level = {"key": "level", "value": str(self.rng.randint(0, 9)), "effect": self.rng.choice(EFFECTS)}
                    each["spec"].setdefault("taints", []).append(level)

    def add_devices(self, world: Manifest) -> None:
        known = gates_of(read_release(world["kubeVersion"]))
        on = {name for name, gate in known.items() if world["gates"].get(name, gate.default)}
        nodes = [each["metadata"]["name"] for each in world["objects"] if each["kind"] == "Node"]
        maker = DeviceMaker(
            self.rng, nodes, on, "1.35" not in world["kubeVersion"] or "DRAPartitionableDevices" not in on
        )
        bound = [each for each in world["objects"] if each["kind"] == "Pod"]
        rest = [each for each in world["objects"] if each["kind"] != "Pod"]
        made = maker.objects()
        for pod in world["pending"]:
            if self.often(0.7):
                maker.let_claim(pod)
        world["objects"] = [*rest, *made, *maker.claims, *bound]
        world["deviceConditions"] = maker.conditions

    def add_profile(self, world: Manifest) -> None:
        """Let a second profile, which packs, schedule some of the pods."""
        config = world["config"] or {
            "apiVersion": CONFIG,
            "kind": "KubeSchedulerConfiguration",
            "profiles": [{"schedulerName": "default-scheduler"}],
        }
        strategy = {"scoringStrategy": {"type": "MostAllocated", "resources": [{"name": "cpu", "weight": 1}]}}
        arguments = {"apiVersion": CONFIG, "kind": "NodeResourcesFitArgs", **strategy}
        second = {"schedulerName": "packing", "pluginConfig": [{"name": "NodeResourcesFit", "args": arguments}]}
        if self.often(0.3):
            second["plugins"] = {"filter": {"disabled": [{"name": "TaintToleration"}]}}
        world["config"] = {**config, "profiles": [*config["profiles"], second]}
        for pod in world["pending"]:
            if self.often(0.4):
                pod["spec"]["schedulerName"] = "packing"

    def node(self, number: int) -> Manifest:
        rng = self.rng
        name = f"n{number:02}"
        allocatable = {
            "cpu": str(rng.choice([1, 2, 4, 8])),
            "memory": f"{rng.choice([1, 2, 4, 8, 16])}Gi",
            "pods": str(rng.choice([2, 4, 10, 110])),
            "ephemeral-storage": "50Gi",
        }
        if self.often(0.35):
            allocatable["example.com/gpu"] = str(rng.choice([1, 2, 4]))
        labels = {HOSTNAME: name, "disk": rng.choice(["ssd", "hdd"]), "num": str(rng.randint(0, 9))}
        if self.often(0.85):
            labels[ZONE] = rng.choice(["za", "zb", "zc"])
        if self.often(0.5):
            labels[REGION] = "r1"
        if self.often(0.5):
            labels["rack"] = rng.choice("ab")
        node: Manifest = {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name, "uid": name, "labels": labels},
            "spec": {},
            "status": {"allocatable": allocatable, "capacity": dict(allocatable)},
        }
        self._taint(node["spec"])
        if self.often(0.5):
            sizes = rng.sample(range(1, 9), rng.randint(1, 4))
            node["status"]["images"] = [{"names": [f"img{k}:1"], "sizeBytes": k * 37 * 2**20 + 12345} for k in sizes]
        if self.declares and self.often(0.3):
            node["status"]["declaredFeatures"] = sorted(rng.sample(FEATURES, rng.randint(1, 3)))
        return node

    def _taint(self, spec: Manifest) -> None:
        rng = self.rng
        taints = []
        if self.often(0.35):
            for key in rng.sample(["dedicated", "gpu", "spot"], rng.randint(1, 2)):
                value = rng.choice([{"value": "a"}, {"value": "b"}, {}])
                taints.append({"key": key, **value, "effect": rng.choice(EFFECTS)})
        if self.often(0.08):
            spec["unschedulable"] = True
            taints.append({"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"})
        if taints:
            spec["taints"] = taints

    def bound_pod(self, number: int, node: str) -> Manifest:
        """Make a running pod. No two start at the same time, so that preemption never has to draw between nodes."""
        pod = self.pod(f"b{number:02}")
        pod["spec"]["nodeName"] = node
        pod["status"] = {"phase": "Running", "startTime": f"2026-05-01T00:{number:02}:00Z"}
        return pod

    def pod(self, name: str) -> Manifest:
        rng = self.rng
        namespace = rng.choice(["default", "default", "team"])
        spec: Manifest = {
            "schedulerName": "default-scheduler",
            "priority": rng.choice([0, 0, 0, 10, 100, 1000]),
            "preemptionPolicy": "Never" if self.often(0.1) else "PreemptLowerPriority",
            "restartPolicy": "Always",
            "terminationGracePeriodSeconds": 30,
            "containers": [self._container(f"c{i}") for i in range(rng.choice([1, 1, 1, 2]))],
        }
        self._add_parts(spec)
        if self.often(0.15):
            spec["nodeSelector"] = {"disk": rng.choice(["ssd", "hdd"])}
        affinity = self._affinity()
        if affinity:
            spec["affinity"] = affinity
        if self.often(0.22):
            spec["topologySpreadConstraints"] = self._constraints()
        if self.often(0.4):
            spec["tolerations"] = [self._toleration() for _ in range(rng.randint(1, 2))]
        labels = {"app": rng.choice("xyz")}
        if self.often(0.5):
            labels["tier"] = rng.choice(["web", "db"])
        metadata: Manifest = {"name": name, "namespace": namespace, "uid": f"{namespace}-{name}", "labels": labels}
        if self.often(0.3):
            owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "rs", "uid": "rs1", "controller": True}
            metadata["ownerReferences"] = [owner]
        return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": {}}

    def _add_parts(self, spec: Manifest) -> None:
        """Add what counts beside the containers' requests: init containers, overhead, pod-level requests, ports, users."""
        rng, containers = self.rng, spec["containers"]
        if self.often(0.15):
            spec["initContainers"] = [{**self._container("i0"), "image": "img1:1"}]
            if self.often(0.5):
                spec["initContainers"][0]["restartPolicy"] = "Always"
        if self.often(0.08):
            spec["overhead"] = {"cpu": "50m", "memory": "20Mi"}
        if self.often(0.08):
            spec["resources"] = {"requests": {"cpu": rng.choice(["2", "6"]), "memory": "6Gi"}}
        if self.declares and self.often(0.06):
            spec["hostUsers"] = False
            spec["hostNetwork"] = self.often(0.5)
        if self.often(0.12):
            port = {"containerPort": 80, "hostPort": rng.choice([80, 81]), "protocol": rng.choice(["TCP", "UDP"])}
            if spec.get("hostNetwork"):
                port["hostPort"] = 80
            if self.often(0.3):
                port["hostIP"] = rng.choice(["10.0.0.1", "127.0.0.1"])
            containers[0]["ports"] = [port]

    def _container(self, name: str) -> Manifest:
        rng = self.rng
        requests = {}
        if self.often(0.85):
            requests["cpu"] = rng.choice(["100m", "250m", "500m", "1", "1500m", "2"])
        if self.often(0.8):
            requests["memory"] = rng.choice(["64Mi", "256Mi", "500M", "1Gi", "2Gi"])
        if self.often(0.1):
            requests["ephemeral-storage"] = rng.choice(["1Gi", "20Gi"])
        limits = {}
        if self.often(0.12):
            limits["example.com/gpu"] = requests["example.com/gpu"] = str(rng.choice([1, 2]))
        resources = {key: value for key, value in (("requests", requests), ("limits", limits)) if value}
        return {"name": name, "image": f"img{rng.randint(1, 9)}:1", "resources": resources}

    def _selector(self) -> Manifest:
        rng = self.rng
        selector: Manifest = {}
        if self.often(0.7):
            selector["matchLabels"] = {"app": rng.choice("xyz")}
        if self.often(0.4) or not selector:
            selector["matchExpressions"] = [self._expression(["app", "tier"], ["x", "y", "z", "web", "db"])]
        return selector

    def _expression(self, keys: list[str], values: list[str]) -> Manifest:
        rng = self.rng
        key = rng.choice(keys)
        operator = rng.choice([*OPERATORS, "Gt", "Lt"] if key == "num" else OPERATORS)
        if operator in ("Gt", "Lt"):
            return {"key": key, "operator": operator, "values": [str(rng.randint(0, 9))]}
        named = {"values": rng.sample(values, rng.randint(1, 3))} if operator in ("In", "NotIn") else {}
        return {"key": key, "operator": operator, **named}

    def _node_expressions(self) -> list[Manifest]:
        keys, values = ["disk", ZONE, "num", "rack", "missing"], ["ssd", "hdd", "za", "zb", "zc", "a", "b", "3", "5"]
        return [self._expression(keys, values) for _ in range(self.rng.randint(1, 2))]

    def _node_term(self) -> Manifest:
        term: Manifest = {"matchExpressions": self._node_expressions()}
        if self.often(0.08):
            operator, name = self.rng.choice(["In", "NotIn"]), f"n{self.rng.randint(0, 5):02}"
            term["matchFields"] = [{"key": "metadata.name", "operator": operator, "values": [name]}]
        return term

    def _affinity(self) -> Manifest:
        rng, required = self.rng, "requiredDuringSchedulingIgnoredDuringExecution"
        preferred = "preferredDuringSchedulingIgnoredDuringExecution"
        affinity: Manifest = {}
        if self.often(0.25):
            part: Manifest = {}
            if self.often(0.5):
                part[required] = {"nodeSelectorTerms": [self._node_term() for _ in range(rng.randint(1, 2))]}
            if self.often(0.7) or not part:
                part[preferred] = [
                    {"weight": rng.randint(1, 100), "preference": {"matchExpressions": self._node_expressions()}}
                    for _ in range(rng.randint(1, 3))
                ]
            affinity["nodeAffinity"] = part
        for kind in ("podAffinity", "podAntiAffinity"):
            if self.often(0.15):
                part = {}
                if self.often(0.5):
                    part[required] = [self._pod_term() for _ in range(rng.choice([1, 1, 2]))]
                if self.often(0.6) or not part:
                    part[preferred] = [
                        {"weight": rng.randint(1, 100), "podAffinityTerm": self._pod_term()}
                        for _ in range(rng.randint(1, 2))
                    ]
                affinity[kind] = part
        return affinity

    def _pod_term(self) -> Manifest:
        rng = self.rng
        term: Manifest = {
            "labelSelector": self._selector(),
            "topologyKey": rng.choice([HOSTNAME, ZONE, "rack", REGION]),
        }
        if self.often(0.2):
            term["namespaces"] = rng.sample(["default", "team"], rng.randint(1, 2))
        if self.often(0.15):
            term["namespaceSelector"] = rng.choice([{}, {"matchLabels": {"env": "prod"}}])
        return term

    def _constraints(self) -> list[Manifest]:
        rng = self.rng
        kept: dict[tuple[str, str], Manifest] = {}
        for _ in range(rng.randint(1, 2)):
            constraint: Manifest = {
                "maxSkew": rng.randint(1, 2),
                "topologyKey": rng.choice([HOSTNAME, ZONE, "rack"]),
                "whenUnsatisfiable": rng.choice(["DoNotSchedule", "ScheduleAnyway"]),
                "labelSelector": self._selector(),
            }
            if constraint["whenUnsatisfiable"] == "DoNotSchedule" and self.often(0.3):
                constraint["minDomains"] = rng.randint(1, 4)
            for field in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
                if self.often(0.3):
                    constraint[field] = rng.choice(["Honor", "Ignore"])
            kept.setdefault((constraint["topologyKey"], constraint["whenUnsatisfiable"]), constraint)
        return list(kept.values())

    def _toleration(self) -> Manifest:
        rng = self.rng
        effect = {"effect": rng.choice(EFFECTS)} if self.often(0.6) else {}
        if self.often(0.1):
            return {"operator": "Exists", **effect}
        key = rng.choice(["dedicated", "gpu", "spot", "node.kubernetes.io/unschedulable"])
        value = {"operator": "Equal", "value": rng.choice("ab")} if self.often(0.5) else {"operator": "Exists"}
        return {"key": key, **value, **effect}

    def others(self) -> list[Manifest]:
        rng = self.rng
        found: list[Manifest] = [
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default", "labels": {}}},
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team", "labels": {"env": "prod"}}},
        ]
        if self.often(0.5):
            spec: Manifest = {"selector": {"app": "x"}}
            found.append({"apiVersion": "v1", "kind": "Service", "metadata": _named("s"), "spec": spec})
        if self.often(0.5):
            spec = {"replicas": 1, "selector": {"matchLabels": {"app": rng.choice("xy")}}, "template": {}}
            metadata = {**_named("rs"), "uid": "rs1"}
            found.append({"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": metadata, "spec": spec})
        for i in range(rng.choice([0, 0, 1, 2])):
            status = {"currentHealthy": 1, "desiredHealthy": 1, "expectedPods": 1}
            budget = {
                "apiVersion": "policy/v1",
                "kind": "PodDisruptionBudget",
                "metadata": _named(f"budget{i}"),
                "spec": {"selector": {"matchLabels": {"app": rng.choice("xyz")}}},
                "status": {**status, "disruptionsAllowed": rng.choice([0, 0, 1])},
            }
            found.append(budget)
        return found

    def configuration(self) -> Manifest | None:
        rng = self.rng
        if self.often(0.45):
            return None
        given = {
            "NodeResourcesFit": (0.5, self._fit),
            "PodTopologySpread": (0.3, self._spread),
            "InterPodAffinity": (0.3, self._between_pods),
            "NodeResourcesBalancedAllocation": (0.3, self._balance),
            "NodeAffinity": (0.2, self._added_affinity),
        }
        arguments = [
            {"name": name, "args": {"apiVersion": CONFIG, "kind": f"{name}Args", **make()}}
            for name, (share, make) in given.items()
            if self.often(share)
        ]
        profile: Manifest = {"schedulerName": "default-scheduler", "pluginConfig": arguments}
        if self.often(0.4):
            scorers = ["ImageLocality", "NodeResourcesBalancedAllocation", "TaintToleration", "PodTopologySpread"]
            off = rng.sample([*scorers, "InterPodAffinity"], rng.randint(1, 2))
            back = [{"name": off[0], "weight": rng.randint(1, 20)}] if self.often(0.6) else []
            profile["plugins"] = {"score": {"disabled": [{"name": name} for name in off], "enabled": back}}
        return {"apiVersion": CONFIG, "kind": "KubeSchedulerConfiguration", "profiles": [profile]}

    def _weights(self, share: float) -> list[Manifest]:
        names = ["cpu", "memory", *(["example.com/gpu"] if self.often(share) else [])]
        return [{"name": name, "weight": self.rng.randint(1, 5)} for name in names]

    def _fit(self) -> Manifest:
        rng = self.rng
        kind = rng.choice(["LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"])
        strategy: Manifest = {"type": kind, "resources": self._weights(0.4)}
        if kind == "RequestedToCapacityRatio":
            marks = (0, rng.randint(20, 80), 100)
            shape = [{"utilization": mark, "score": rng.randint(0, 10)} for mark in marks]
            strategy["requestedToCapacityRatio"] = {"shape": shape}
        return {"scoringStrategy": strategy}

    def _spread(self) -> Manifest:
        key, action = self.rng.choice([ZONE, HOSTNAME]), self.rng.choice(["ScheduleAnyway", "DoNotSchedule"])
        constraint = {"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": action}
        return {"defaultingType": "List", "defaultConstraints": [constraint]}

    def _between_pods(self) -> Manifest:
        weight = self.rng.choice([0, 1, 50, 100])
        return {"hardPodAffinityWeight": weight, "ignorePreferredTermsOfExistingPods": self.often(0.5)}

    def _balance(self) -> Manifest:
        return {"resources": [{**each, "weight": 1} for each in self._weights(0.5)]}

    def _added_affinity(self) -> Manifest:
        expression = {"key": "disk", "operator": "In", "values": ["ssd"]}
        preference = {"weight": self.rng.randint(1, 50), "preference": {"matchExpressions": [expression]}}
        return {"addedAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [preference]}}


def _named(name: str) -> Manifest:
    return {"name": name, "namespace": "default"}

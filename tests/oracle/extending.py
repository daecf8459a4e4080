"""HTTP extenders for the random worlds: which of them there are, and what they answer."""

from __future__ import annotations

import random
from typing import Any

from tests.oracle.worlds import CONFIG, make_world

Manifest = dict[str, Any]
GPU = "example.com/gpu"


def make_extended_world(seed: int, release: str) -> Manifest:
    """Make the world of a seed with one to three extenders, and without what is written while a pod is bound."""
    world = make_world(seed, release)
    rng = random.Random(seed + 2_000_000)
    dropped = ("ResourceClaim", "ResourceClaimTemplate", "ResourceSlice", "DeviceClass", "DeviceTaintRule")
    world["objects"] = [each for each in world["objects"] if each["kind"] not in dropped]
    world["pending"] = [pod for pod in world["pending"] if not _writes(pod)]
    world.pop("deviceConditions", None)
    maker = _Maker(rng, world)
    count = rng.choice([1, 1, 2, 3])
    config = world["config"] or {"profiles": [{"schedulerName": "default-scheduler"}]}
    extenders = [maker.extender(number) for number in range(count)]
    world["config"] = {
        **config,
        "apiVersion": CONFIG,
        "kind": "KubeSchedulerConfiguration",
        "percentageOfNodesToScore": 100,
        "extenders": extenders,
    }
    world["extenderBehaviour"] = [maker.rules() for _ in range(count)]
    return world


def _writes(pod: Manifest) -> bool:
    late = any("persistentVolumeClaim" in volume for volume in pod["spec"].get("volumes", ()))
    return late or "resourceClaims" in pod["spec"]


class _Maker:
    def __init__(self, rng: random.Random, world: Manifest) -> None:
        self.rng = rng
        self.nodes = [each["metadata"]["name"] for each in world["objects"] if each["kind"] == "Node"]
        self.pods = [f"{each['metadata']['namespace']}/{each['metadata']['name']}" for each in world["pending"]]
        self.bound = [each["metadata"]["uid"] for each in world["objects"] if each["kind"] == "Pod"]
        self.binds = self.manages = False

    def often(self, share: float) -> bool:
        return self.rng.random() < share

    def extender(self, number: int) -> Manifest:
        made: Manifest = {"urlPrefix": f"http://127.0.0.1:9100/e{number}", "nodeCacheCapable": self.often(0.5)}
        verbs = [verb for verb in ("filter", "prioritize", "preempt") if self.often(0.65)]
        if not self.binds and self.often(0.3):
            self.binds = True
            verbs.append("bind")
        for verb in verbs or ["filter"]:
            made[f"{verb}Verb"] = verb
        if "prioritize" in verbs:
            made["weight"] = self.rng.choice([1, 2, 5])
        if self.often(0.3):
            made["ignorable"] = True
        if not self.manages and self.often(0.3):  # a resource has one extender
            self.manages = True
            made["managedResources"] = [{"name": GPU, "ignoredByScheduler": self.often(0.5)}]
        return made

    def _some(self, share: float) -> list[str]:
        return [node for node in self.nodes if self.often(share)]

    def _of_pods(self, rule: Manifest) -> Manifest:
        if self.often(0.5):
            rule["pods"] = [pod for pod in self.pods if self.often(0.5)]
        return rule

    def rules(self) -> list[Manifest]:
        made = []
        for verb in ("filter", "filter", "prioritize", "prioritize", "preempt", "bind"):
            if self.often(0.75):
                rule = self._broken() if self.often(0.12) else getattr(self, f"_{verb}")()
                made.append(self._of_pods({"verb": verb, **rule}))
        return made

    def _broken(self) -> Manifest:
        return self.rng.choice([{"status": 500}, {"raw": "oops"}, {"raw": "{}"}, {"status": 404, "raw": "x"}])

    def _filter(self) -> Manifest:
        rng, rule = self.rng, {}
        if self.often(0.08):
            return {"error": "no such device"}
        if self.often(0.6):
            rule["refuse"] = {node: f"no {rng.choice(['license', 'slot'])}" for node in self._some(0.3)}
        if self.often(0.3):
            rule["unresolvable"] = dict.fromkeys(self._some(0.25), "wrong rack")
        if self.often(0.2):
            rule["drop"] = self._some(0.2)
        if self.often(0.06):
            rule["refuseAll"] = "closed"
        if self.often(0.1):
            rule["keepRefused"] = True
        if self.often(0.2):
            rule["order"] = rng.choice(["reverse", "sorted"])
        if self.often(0.1):
            rule["form"] = rng.choice(["nodeNames", "none"])
        if self.often(0.15):
            rule["allocatable"] = {node: {"cpu": "16", "memory": "32Gi", "pods": "110"} for node in self._some(0.3)}
        return rule

    def _prioritize(self) -> Manifest:
        rule: Manifest = {"scores": {node: self.rng.randint(0, 10) for node in self._some(0.6)}}
        return {**rule, "default": self.rng.randint(0, 10)} if self.often(0.4) else rule

    def _preempt(self) -> Manifest:
        rule: Manifest = {}
        if self.often(0.5):
            rule["dropNodes"] = self._some(0.3)
        if self.often(0.3):
            rule["keep"] = {node: [uid for uid in self.bound if self.often(0.7)] for node in self._some(0.3)}
        if self.often(0.3):
            rule["numPDBViolations"] = {node: self.rng.randint(0, 2) for node in self._some(0.4)}
        return rule

    def _bind(self) -> Manifest:
        return {"error": "cannot bind"} if self.often(0.3) else {}

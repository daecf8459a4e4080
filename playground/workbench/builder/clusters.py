"""Clusters to start from, made by the same functions as the builder's forms."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from itertools import groupby
from pathlib import Path
from typing import Any

from django.utils.functional import Promise

from playground.common.catalogs import read_yaml
from playground.workbench.builder.devices import PRESETS, claim_manifests, device_manifests, read_offered
from playground.workbench.builder.manifests import node_manifests, pod_manifests
from scheduler_core.scheduler.config import Release, behaviors_of
from scheduler_core.world.commands import ApplyObjects, Command, SetSettings, command_from_json


@dataclass(frozen=True)
class Cluster:
    """A cluster offered on the first page. `make` returns its manifests, nodes before pods."""

    slug: str
    make: Callable[[], list[dict[str, Any]]]
    title: str | Promise
    summary: str | Promise


def _build(name: str) -> list[dict[str, Any]]:
    """The objects of a cluster in clusters.yaml, row by row."""
    rows: list[dict[str, dict[str, Any]]] = read_yaml(Path(__file__).with_name("clusters.yaml"))[name]
    makers: dict[str, Callable[..., list[dict[str, Any]]]] = {"nodes": node_manifests, "pods": pod_manifests}
    return [each for row in rows for made, values in row.items() for each in makers[made](**values)]


def _placement() -> list[dict[str, Any]]:
    """Six nodes in use, three of which refuse the pods, each for a reason of its own."""
    infra = [{"key": "dedicated", "value": "infra", "effect": "NoSchedule"}]
    sizes: dict[str, Any] = {"cpu": "4", "memory": "16Gi"}
    nodes = node_manifests(count=2, **sizes) + node_manifests(first=3, taints=infra, **sizes)
    nodes += node_manifests(count=2, first=4, **sizes) + node_manifests(first=6, unschedulable=True, **sizes)
    pods = []
    for number, milli in enumerate((3700, 2600, 1600, 2200, 1200, 800), 1):
        size = {"cpu": f"{milli}m", "memory": f"{3 * milli}Mi"}
        (runs,) = pod_manifests(name=f"api-{number}", labels={"app": "api"}, requests=size)
        runs["spec"]["nodeName"] = f"node-{number}"
        runs["metadata"]["uid"] = f"ran-before-{number}"  # a scheduler placed it before what kept others away
        pods.append(runs)
    waiting = pod_manifests(replicas=3, name="web-{i}", labels={"app": "web"}, requests={"cpu": "1", "memory": "2Gi"})
    return nodes + pods + waiting


def _devices() -> list[dict[str, Any]]:
    nodes = node_manifests(count=4, name="gpu-{i}", cpu="64", memory="256Gi")
    names = [node["metadata"]["name"] for node in nodes]
    requests = {"cpu": "4", "memory": "16Gi"}
    claims = claim_manifests(
        name="nvlink-4",
        count=4,
        match_attribute="gpu.example.com/nvlinkDomain",
        pods=3,
        pod_name="train-{i}",
        requests=requests,
    )
    claims += claim_manifests(name="one-gpu", pods=6, pod_name="serve-{i}", requests=requests)
    claims += claim_manifests(name="common", shared=True, pods=2, pod_name="notebook-{i}", requests={"cpu": "1"})
    claims.sort(key=lambda manifest: manifest["kind"] == "Pod")
    return nodes + device_manifests(PRESETS["gpu"], names, 8) + claims


_MAKERS = {"placement": _placement, "devices": _devices}
CLUSTERS = {
    slug: Cluster(slug, _MAKERS.get(slug) or partial(_build, slug), **words)
    for slug, words in read_offered("clusters").items()
}


@cache
def clusters_of_differences() -> Mapping[str, tuple[Mapping[str, Any], ...]]:
    """Clusters that show a difference between releases, by the name of the behavior: objects, commands, and numbers of steps."""
    found: dict[str, list[dict[str, Any]]] = read_yaml(Path(__file__).with_name("differences.yaml"))
    return {name: tuple(rows) for name, rows in found.items()}


@cache
def inputs_of_gangs() -> Mapping[str, tuple[Mapping[str, Any], ...]]:
    """Objects with PodGroups by the name of the input, for the page about gangs."""
    found: dict[str, list[dict[str, Any]]] = read_yaml(Path(__file__).with_name("gangs.yaml"))
    return {name: tuple(rows) for name, rows in found.items()}


def begin_difference(name: str, release: Release) -> list[Command | int]:
    """Return the commands that make a cluster of a difference under a release, and the numbers of steps between them.

    Rows of `with` are for releases that have the behavior, those of `without` for the others; the release "" is the one asked for.
    """
    side = "with" if name in behaviors_of(release) else "without"
    rows = [each for row in clusters_of_differences()[name] for each in row.get(side, [row])]
    commands: list[Command | int] = []
    for objects, some in groupby(rows, lambda row: "apiVersion" in row):
        if objects:
            commands.append(ApplyObjects(tuple(dict(row) for row in some)))
            continue
        for row in some:
            command = row["steps"] if "steps" in row else command_from_json(dict(row))
            if isinstance(command, SetSettings) and command.settings.get("release") == "":
                command = SetSettings({**command.settings, "release": release})
            commands.append(command)
    return commands

"""One extender of a KubeSchedulerConfiguration, and the order in which a scheduler calls them.

kube: pkg/scheduler/extender.go (NewHTTPExtender, IsInterested), pkg/scheduler/scheduler.go (buildExtenders) @ v1.34.1
"""

import enum
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from scheduler_core.apimachinery.objects import Node, Pod, parse_duration
from scheduler_core.scheduler.framework.profile import Profile

DEFAULT_TIMEOUT = 5_000_000_000  # ns; kube: DefaultExtenderTimeout
_FIT = "NodeResourcesFit"
EXTENDER_NAME = "Extender"  # in a pod's unschedulable plugins; kube: framework.ExtenderName


class Verb(enum.StrEnum):
    """A type of extender call. The configuration sets its path, with a verb of its own."""

    FILTER = "filter"
    PRIORITIZE = "prioritize"
    PREEMPT = "preempt"
    BIND = "bind"


@dataclass(frozen=True, slots=True)
class Extender:
    """An extender. `index` is its index in the configuration; `paths` are the paths of its verbs; `timeout` is in ns.

    `managed`: the extender is interested in pods that request one of these resources; empty: in all pods.
    """

    index: int
    url_prefix: str
    paths: tuple[tuple[Verb, str], ...]
    weight: int = 0
    timeout: int = DEFAULT_TIMEOUT
    node_cache_capable: bool = False
    managed: frozenset[str] = frozenset()
    ignorable: bool = False

    def has(self, verb: Verb) -> bool:
        return any(verb is known for known, _ in self.paths)

    def url(self, verb: Verb) -> str:
        """Return the URL for a verb."""
        path = next(path for known, path in self.paths if known is verb)
        return f"{self.url_prefix.rstrip('/')}/{path}"

    def interested(self, pod: Pod) -> bool:
        """Return whether the extender manages a resource of the pod."""
        if not self.managed:
            return True
        spec = pod.manifest["spec"]
        containers = (*(spec.get("containers") or ()), *(spec.get("initContainers") or ()))
        return any(self.managed & _resource_names(container) for container in containers)

    def serves(self, verb: Verb, pod: Pod) -> bool:
        """Return whether the extender serves the verb for a pod."""
        return self.has(verb) and self.interested(pod)


def _resource_names(container: Mapping[str, Any]) -> set[str]:
    resources = container.get("resources") or {}
    return {*(resources.get("requests") or ()), *(resources.get("limits") or ())}


def extenders_of(configuration: Mapping[str, Any]) -> tuple[Extender, ...]:
    """Return a valid configuration's extenders in the order of calls: ignorable ones last."""
    extenders = [_extender(i, raw) for i, raw in enumerate(configuration.get("extenders") or ())]
    return tuple(sorted(extenders, key=lambda extender: extender.ignorable))


def _extender(index: int, raw: Mapping[str, Any]) -> Extender:
    return Extender(
        index,
        raw.get("urlPrefix") or "",
        tuple((verb, raw[f"{verb}Verb"]) for verb in Verb if raw.get(f"{verb}Verb")),
        int(raw.get("weight") or 0),
        parse_duration(raw.get("httpTimeout") or "0s") or DEFAULT_TIMEOUT,
        bool(raw.get("nodeCacheCapable")),
        frozenset(resource.get("name") or "" for resource in raw.get("managedResources") or ()),
        bool(raw.get("ignorable")),
    )


def list_ignored_resources(configuration: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the resources that the scheduler leaves to the extenders: they replace NodeResourcesFit's ignoredResources."""
    return tuple(
        resource.get("name") or ""
        for raw in configuration.get("extenders") or ()
        for resource in raw.get("managedResources") or ()
        if resource.get("ignoredByScheduler")
    )


def without_ignored_resources(profile: Profile, ignored: tuple[str, ...]) -> Profile:
    """Return the profile of a scheduler whose extenders manage the ignored resources."""
    if not ignored:
        return profile
    fit = {**profile.args.get(_FIT, {}), "ignoredResources": list(ignored)}
    return replace(profile, args={**profile.args, _FIT: fit})


# A request to an extender, as data.


@dataclass(frozen=True, slots=True, eq=False)
class NodeVictims:
    """The victims of preemption on one node."""

    node: str
    pods: tuple[Pod, ...]
    violations: int  # of budgets


@dataclass(frozen=True, slots=True, eq=False)
class Request:
    """A request about a pod: its nodes (Filter, Prioritize), its victims (Preempt), or the node to bind to.

    `names_only`: the extender knows the nodes and the pods there itself (nodeCacheCapable).
    """

    pod: Pod
    nodes: tuple[Node, ...] = ()
    victims: tuple[NodeVictims, ...] = ()
    node: str = ""
    names_only: bool = False

"""Proposals: for one refusal of one node, the changes that could take it away, by the plugin that refused. Every proposal is tried."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from scheduler_core.analysis.fixes.diagnosis import Diagnosis
from scheduler_core.scheduler.core.scheduler import Scheduler
from scheduler_core.scheduler.framework.drafts import Asked, Change, Draft, Refusal
from scheduler_core.scheduler.framework.plugin import Plugin
from scheduler_core.scheduler.framework.status import Status


def propose(draft: Draft, diagnosis: Diagnosis, row: int, status: Status) -> Iterator[Draft]:
    """Drafts with one refusal less, aimed at the row's node unless they bring another one."""
    plugin = diagnosis.framework.plugin(status.plugin)
    scheduler = diagnosis.scheduler
    if plugin is None or type(plugin).propose_fixes is Plugin.propose_fixes:
        yield from without(
            draft.aimed_at(diagnosis.nodes.names[row]), scheduler, diagnosis.framework.name, status
        )
        return
    asked = Asked(scheduler.name, diagnosis.framework.name, scheduler.configuration.given)
    refusal = Refusal(diagnosis.pod, diagnosis.nodes, diagnosis.state, row, status, asked)
    yield from plugin.propose_fixes(draft.aimed_at(refusal.node.name), refusal)


def without(draft: Draft, scheduler: Scheduler, profile: str, status: Status) -> Iterator[Draft]:
    """Yield a draft whose configuration leaves out the plugin, or the extender by its address, that refused."""
    configuration = copy.deepcopy(dict(scheduler.configuration.given or {}))
    name = status.plugin
    if "://" in name:
        extenders = [each for each in configuration.get("extenders") or () if each.get("urlPrefix") != name]
        change = Change("extender", {"url": name})
        yield draft.with_configuration(change, scheduler.name, {**configuration, "extenders": extenders})
        return
    configuration.setdefault("apiVersion", "kubescheduler.config.k8s.io/v1")
    configuration.setdefault("kind", "KubeSchedulerConfiguration")
    profiles = configuration.setdefault("profiles", [{"schedulerName": profile}])
    mine = next((each for each in profiles if each.get("schedulerName", profile) == profile), None)
    if mine is not None and name:
        for points in (mine.setdefault("plugins", {"multiPoint": {}})).values():
            points["enabled"] = [each for each in points.get("enabled") or () if each["name"] != name]
        everywhere = mine["plugins"].setdefault("multiPoint", {})
        everywhere["disabled"] = [*(everywhere.get("disabled") or ()), {"name": name}]
        yield draft.with_configuration(
            Change("disable", {"plugin": name, "profile": profile}), scheduler.name, configuration
        )


def remove_gates(draft: Draft, gates: tuple[str, ...]) -> Draft:
    """The pod without its scheduling gates: only then is anything else asked."""

    def edit(manifest: dict[str, Any]) -> None:
        manifest["spec"].pop("schedulingGates", None)

    return draft.with_pod(Change("gates", {"gates": list(gates)}), edit)


def set_scheduler_name(draft: Draft, profile: str) -> Draft:
    """The pod with the schedulerName of a profile that exists."""

    def edit(manifest: dict[str, Any]) -> None:
        manifest["spec"]["schedulerName"] = profile

    return draft.with_pod(Change("scheduler", {"name": profile}), edit)


def anywhere(draft: Draft, node: str) -> Draft:
    """The pod without the nodeName that no node has: the scheduler chooses one."""

    def edit(manifest: dict[str, Any]) -> None:
        manifest["spec"].pop("nodeName", None)

    return draft.with_pod(Change("node-name", {"node": node}), edit)


def without_claims(draft: Draft) -> Draft:
    """The pod without its claims for devices."""
    names = [entry["name"] for entry in draft.original["spec"].get("resourceClaims") or ()]

    def edit(manifest: dict[str, Any]) -> None:
        spec = manifest["spec"]
        spec.pop("resourceClaims", None)
        for container in (*spec["containers"], *(spec.get("initContainers") or ())):
            (container.get("resources") or {}).pop("claims", None)

    return draft.with_pod(Change("without-claims", {"claims": names}), edit)


def profile_for(draft: Draft, scheduler: Scheduler, name: str) -> Draft:
    """A scheduler with one more profile: that which the pod asks for."""
    given = dict(scheduler.configuration.given or {})
    profiles = list(given.get("profiles") or ({"schedulerName": each} for each in scheduler.profiles))
    configuration = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        **given,
        "profiles": [*profiles, {"schedulerName": name}],
    }
    return draft.with_configuration(Change("profile", {"name": name}), scheduler.name, configuration)

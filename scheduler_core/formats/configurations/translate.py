"""Replacement of plugins that v1 lacks or renamed, with the changes.

kube: apis/config/validation/validation.go (removedPluginsByVersion, invalidPluginsByVersion) @ v1.22.17, v1.28.15 and v1.34.1
"""

from collections.abc import Mapping
from typing import Any

from scheduler_core.formats.configurations.effective import SCORE, Change, Kind, Profile, ProfilePlugin

Configs = dict[str, dict[str, Any]]  # arguments by the plugin's name

FIT, SPREAD, AFFINITY = "NodeResourcesFit", "PodTopologySpread", "NodeAffinity"
STRATEGIES = {
    "NodeResourcesLeastAllocated": "LeastAllocated",
    "NodeResourcesMostAllocated": "MostAllocated",
    "RequestedToCapacityRatio": "RequestedToCapacityRatio",
}
SPREADERS = ("SelectorSpread", "DefaultPodTopologySpread")
VOLUME_COUNTS = ("EBSLimits", "GCEPDLimits", "AzureDiskLimits", "CinderLimits")
_GONE = {
    "NodePreferAvoidPods": "the annotation scheduler.alpha.kubernetes.io/preferAvoidPods of nodes is no longer read. Use a taint with the"
    " effect PreferNoSchedule",
    "ServiceAffinity": "node labels no longer keep pods of one Service together or apart. Use podAffinity and podAntiAffinity in the"
    " pods",
    "NodeResourceLimits": "limits of pods no longer affect the score",
}
GONE = (*STRATEGIES, *SPREADERS, *VOLUME_COUNTS, *_GONE, "NodeLabel")


def translate(profile: Profile, configs: Configs, where: Mapping[str, str]) -> list[Change]:
    """Replace plugins that v1 lacks in a profile and in the arguments. `where` are the paths of the arguments."""
    changes = _strategy(profile, configs, where)
    changes += _spreaders(profile, configs)
    changes += _volume_counts(profile)
    changes += _labels(profile, configs, where)
    for name, effect in _GONE.items():
        changes += _lose(profile, name, effect)
        configs.pop(name, None)
    return changes


def _lose(profile: Profile, name: str, effect: str, *points: str) -> list[Change]:
    """Remove a plugin without a replacement, if it ran."""
    ran = [each for point in points or profile.ran if (each := profile.find(point, name)) is not None]
    profile.drop(name, *points)
    if not ran:
        return []
    whose = name if any(each.path for each in ran) else f"{name}, which ran by default,"
    return [Change("lost", _path(ran), f"{whose} was removed from kube-scheduler", effect)]


def _path(ran: list[ProfilePlugin]) -> str:
    return next((each.path for each in ran if each.path), "")


def _strategy(profile: Profile, configs: Configs, where: Mapping[str, str]) -> list[Change]:
    """One of the plugins that scored by resources becomes the strategy of NodeResourcesFit."""
    scorers = [each for each in profile.ran.get(SCORE, ()) if each.name in (*STRATEGIES, FIT)]
    own = {name: configs.pop(name, {}) for name in STRATEGIES}
    if all(each.name == FIT for each in scorers):
        return [
            Change("dropped", where[name], f"the arguments of {name} are removed, because the plugin did not run")
            for name, args in own.items()
            if args
        ]
    chosen = next((each for each in reversed(scorers) if each.path), scorers[0])
    changes = [_second(each, chosen) for each in scorers if each is not chosen]
    profile.ran[SCORE] = [
        ProfilePlugin(FIT, each.weight, each.path) if each is chosen else each
        for each in profile.ran[SCORE]
        if each is chosen or each not in scorers
    ]
    if chosen.name == FIT:
        return changes
    strategy = _strategy_args(chosen.name, own[chosen.name])
    if strategy == {"type": "LeastAllocated"}:
        kind: Kind = "moved" if chosen.path else "dropped"
        text = f"{FIT} scores like {chosen.name} by default"
        return [*changes, Change(kind, chosen.path, text)]
    configs.setdefault(FIT, {})["scoringStrategy"] = strategy
    text = f"{chosen.name} became the scoringStrategy {strategy['type']} of {FIT}, with its weight and arguments"
    return [*changes, Change("moved", chosen.path or where.get(chosen.name, ""), text)]


def _second(other: ProfilePlugin, chosen: ProfilePlugin) -> Change:
    text = f"{other.name} scored in addition to {chosen.name}, but {FIT} has one strategy"
    return Change("lost", other.path, text, f"nodes are scored as {chosen.name} alone scored them")


def _strategy_args(name: str, args: Mapping[str, Any]) -> dict[str, Any]:
    strategy: dict[str, Any] = {"type": STRATEGIES[name]}
    resources = [dict(each) for each in args.get("resources") or ()]
    if resources and [(each.get("name"), each.get("weight") or 1) for each in resources] != [("cpu", 1), ("memory", 1)]:
        strategy["resources"] = resources
    if "shape" in args:
        strategy["requestedToCapacityRatio"] = {"shape": args["shape"]}
    return strategy


def _spreaders(profile: Profile, configs: Configs) -> list[Change]:
    """Replace the old spreading plugins by PodTopologySpread, which spreads the pods of a Service or a workload without constraints of
    their own.
    """
    scorer = next((ran for name in SPREADERS if (ran := profile.find(SCORE, name)) is not None), None)
    spread = profile.find(SCORE, SPREAD)
    for name in SPREADERS:
        configs.pop(name, None)
        profile.drop(name)
    if scorer is None:
        return []
    if (configs.get(SPREAD) or {}).get("defaultConstraints"):
        text = f"{scorer.name} was removed from kube-scheduler, and {SPREAD} has default constraints of its own here"
        return [Change("lost", scorer.path, text, "pods of a workload are spread by these constraints alone")]
    text = f"{scorer.name} became the default constraints of {SPREAD} (defaultingType System)"
    if spread is not None:
        spread.weight = max(spread.weight, scorer.weight)
    else:
        profile.ran[SCORE].append(ProfilePlugin(SPREAD, scorer.weight, scorer.path))
        if SPREAD not in profile.names("preScore"):
            profile.ran.setdefault("preScore", []).append(ProfilePlugin(SPREAD))
    if configs.get(SPREAD, {}).get("defaultingType") == "List":
        configs[SPREAD]["defaultingType"] = "System"
    return [Change("moved", scorer.path, text)]


def _volume_counts(profile: Profile) -> list[Change]:
    counted = [name for name in VOLUME_COUNTS if profile.anywhere(name)]
    ran = [
        each
        for point in profile.ran
        for name in counted
        if (each := profile.find(point, name)) is not None and each.path
    ]
    for name in VOLUME_COUNTS:
        profile.drop(name)
    if not counted:
        return []
    names = ", ".join(counted)
    if "NodeVolumeLimits" in profile.names("filter"):
        text = f"{names}: removed, because NodeVolumeLimits counts these volumes by their CSI drivers"
        return [Change("dropped", _path(ran), text)]
    text = f"{names}: removed from kube-scheduler, and NodeVolumeLimits is disabled here"
    return [Change("lost", _path(ran), text, "no plugin counts the volumes attached to a node")]


def _labels(profile: Profile, configs: Configs, where: Mapping[str, str]) -> list[Change]:
    """Turn the labels that NodeLabel required into NodeAffinity terms; its preferred labels are lost."""
    args = configs.pop("NodeLabel", {})
    filtering = profile.find("filter", "NodeLabel")
    wanted = [
        {"key": key, "operator": operator}
        for field, operator in (("presentLabels", "Exists"), ("absentLabels", "DoesNotExist"))
        for key in args.get(field) or ()
    ]
    changes = []
    if filtering is not None and wanted:
        changes.append(_require_labels(profile, configs, filtering, wanted))
    profile.drop("NodeLabel", "filter", "preFilter")
    return changes + _lose(profile, "NodeLabel", "labels of nodes no longer affect the score for all pods")


def _require_labels(profile: Profile, configs: Configs, ran: ProfilePlugin, wanted: list[dict[str, str]]) -> Change:
    if AFFINITY not in profile.names("filter"):
        text = f"NodeLabel was removed from kube-scheduler, and {AFFINITY}, which could replace it, is disabled here"
        return Change("lost", ran.path, text, "labels of nodes no longer exclude nodes for all pods")
    affinity = dict(configs.setdefault(AFFINITY, {}).get("addedAffinity") or {})
    required = dict(affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or {})
    terms = required.get("nodeSelectorTerms") or [{}]
    required["nodeSelectorTerms"] = [
        {**term, "matchExpressions": [*(term.get("matchExpressions") or ()), *wanted]} for term in terms
    ]
    affinity["requiredDuringSchedulingIgnoredDuringExecution"] = required
    configs[AFFINITY]["addedAffinity"] = affinity
    return Change("moved", ran.path, f"NodeLabel at filter became the addedAffinity of {AFFINITY}")

"""Policy files, which configured kube-scheduler until v1.22: the replacement of each predicate and priority in a v1 configuration.

kube: framework/plugins/legacy_registry.go, factory.go createFromPolicy, apis/config/legacy_types.go @ v1.22.17
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from scheduler_core.apimachinery.objects import FieldError, strict
from scheduler_core.formats.configurations import effective, migrating
from scheduler_core.formats.configurations.fields import extender
from scheduler_core.formats.configurations.translate import SPREAD, Configs, translate
from scheduler_core.formats.configurations.writing import write_plugins
from scheduler_core.scheduler.config.schema import API_VERSION, FIELDS, KIND, ConfigurationError
from scheduler_core.scheduler.framework.arguments import present

RELEASE = "v1.22"
_READ_AS = effective.BY_API_VERSION[f"{effective.GROUP}/v1beta1"]

_DATA = json.loads(Path(__file__).with_suffix(".json").read_text())
PREDICATES: dict[str, list[str]] = _DATA["predicates"]
PRIORITIES: dict[str, str] = _DATA["priorities"]
_MANDATORY = ("PodToleratesNodeTaints", "CheckNodeUnschedulable")
_BEFORE_SCORE = ("InterPodAffinity", SPREAD, "TaintToleration", "NodeAffinity", "SelectorSpread")
_RATIO: strict.Shape = {"shape": strict.ListOf(strict.ANY), "resources": strict.ListOf(strict.ANY)}
SHAPE: strict.Shape = {
    "apiVersion": strict.STRING,
    "kind": strict.STRING,
    "metadata": strict.ANY,
    "predicates": strict.ListOf(
        {
            "name": strict.STRING,
            "argument": {
                "serviceAffinity": {"labels": strict.ListOf(strict.STRING)},
                "labelsPresence": {"labels": strict.ListOf(strict.STRING), "presence": strict.BOOL},
            },
            "order": strict.INTEGER32,
        }
    ),
    "priorities": strict.ListOf(
        {
            "name": strict.STRING,
            "weight": strict.INTEGER64,
            "argument": {
                "serviceAntiAffinity": {"label": strict.STRING},
                "labelPreference": {"label": strict.STRING, "presence": strict.BOOL},
                "requestedToCapacityRatioArguments": _RATIO,
            },
        }
    ),
    "extenders": strict.ListOf(migrating.EXTENDER),
    "extenderConfigs": strict.ListOf(migrating.EXTENDER),
    "hardPodAffinitySymmetricWeight": strict.INTEGER32,
    "alwaysCheckAllPredicates": strict.BOOL,
}


def migrate_policy(policy: Mapping[str, Any]) -> effective.Migration:
    """Migrate a Policy to a v1 configuration. Raise ConfigurationError for an invalid shape, or names that kube-scheduler did not know."""
    errors = strict.check_shape(policy, SHAPE, "") or _unknown(policy)
    if errors:
        raise ConfigurationError(errors)
    profile, changes = effective.Profile(), [_first()]
    configs: Configs = {}
    for point in ("queueSort", "postFilter", "bind"):
        profile.ran[point] = [effective.ProfilePlugin(name) for name, _ in _READ_AS.defaults[point]]
    changes += _filters(policy, profile, configs)
    changes += _scores(policy, profile, configs)
    changes += translate(profile, configs, {})
    out: dict[str, Any] = {"apiVersion": API_VERSION, "kind": KIND}
    changes += _others(policy, configs, out)
    made: dict[str, Any] = {"schedulerName": "default-scheduler", "plugins": _write_policy_plugins(profile)}
    if configs:
        made["pluginConfig"] = [{"name": name, "args": args} for name, args in configs.items()]
    out["profiles"] = [made]
    return effective.Migration(out, "Policy", RELEASE, tuple(changes))


def _first() -> effective.Change:
    text = f"the Policy became a profile, as {RELEASE} read it: predicates are Filter plugins, priorities Score plugins"
    return effective.Change("moved", "", text)


def _unknown(policy: Mapping[str, Any]) -> list[FieldError]:
    errors = []
    for kind, known in (("predicate", PREDICATES), ("priority", PRIORITIES)):
        field = "predicates" if kind == "predicate" else "priorities"
        for i, each in enumerate(policy.get(field) or ()):
            name = each.get("name") or ""
            if name not in known and not each.get("argument") and name != "EqualPriority":
                errors.append(FieldError(f"{field}[{i}].name", "", f'{kind} type not found for "{name}"'))
    return errors


def _write_policy_plugins(profile: effective.Profile) -> dict[str, Any]:
    """A default plugin that the Policy did not ask for did not run."""
    for point in FIELDS:
        usual = [name for name, _ in _READ_AS.defaults.get(point, ())]
        profile.disabled[point] = dict.fromkeys((name for name in usual if name not in profile.names(point)), "")
    plugins, _ = write_plugins(profile, _READ_AS)
    return plugins


def _filters(policy: Mapping[str, Any], profile: effective.Profile, configs: Configs) -> list[effective.Change]:
    changes: list[effective.Change] = []
    given: Sequence[Mapping[str, Any]] | None = policy.get("predicates")
    if given is None:
        given = [{"name": name} for name in _DATA["defaultPredicates"]]
        changes.append(effective.Change("kept", "", "no predicates were set, so the default ones are written out"))
    asked: dict[str, str] = {}
    for i, each in enumerate(given):
        plugins = _predicate(each, configs)
        path = f"predicates[{i}]"
        for name in plugins:
            asked.setdefault(name, path if "predicates" in policy and policy["predicates"] is not None else "")
        if policy.get("predicates") is not None:
            changes.append(effective.Change("moved", path, f"{each.get('name')} is {' and '.join(plugins)} at filter"))
    for name in _MANDATORY:
        for plugin in PREDICATES[name]:
            if plugin not in asked:
                asked[plugin] = ""
                changes.append(effective.Change("kept", "", f"{plugin} always ran at filter, regardless of the Policy"))
    order = list(dict.fromkeys(plugin for those in PREDICATES.values() for plugin in those))
    names = sorted(asked, key=order.index)
    profile.ran["filter"] = [effective.ProfilePlugin(name, 0, asked[name]) for name in names]
    for point, there in _DATA["besidesFilter"].items():
        profile.ran[point] = [effective.ProfilePlugin(name) for name in names if name in there]
    return changes


def _predicate(given: Mapping[str, Any], configs: Configs) -> Sequence[str]:
    """Return the plugins of a predicate. Collects the arguments of a predicate with a custom name."""
    name, argument = given.get("name") or "", given.get("argument") or {}
    if name in PREDICATES:
        return PREDICATES[name]
    if argument.get("serviceAffinity"):
        return ("ServiceAffinity",)
    labels = argument.get("labelsPresence") or {}
    field = "presentLabels" if labels.get("presence") else "absentLabels"
    configs.setdefault("NodeLabel", {}).setdefault(field, []).extend(labels.get("labels") or ())
    return ("NodeLabel",)


def _scores(policy: Mapping[str, Any], profile: effective.Profile, configs: Configs) -> list[effective.Change]:
    changes: list[effective.Change] = []
    given: Sequence[Mapping[str, Any]] | None = policy.get("priorities")
    written = given is not None
    if given is None:
        given = [{"name": name, "weight": weight} for name, weight in _DATA["defaultPriorities"].items()]
        changes.append(effective.Change("kept", "", "no priorities were set, so the default ones are written out"))
    ran: dict[str, effective.ProfilePlugin] = {}
    for i, each in enumerate(given):
        path = f"priorities[{i}]" if written else ""
        name = _priority(each, configs)
        if not name:
            changes.append(effective.Change("dropped", path, "EqualPriority gave all nodes the same score"))
            continue
        weight = each.get("weight") or 1
        ran[name] = effective.ProfilePlugin(name, weight, path)
        if written:
            changes.append(
                effective.Change("moved", path, f"{each.get('name')} became {name} at score, with the weight {weight}")
            )
    profile.ran[effective.SCORE] = list(ran.values())
    profile.ran["preScore"] = [effective.ProfilePlugin(name) for name in ran if name in _BEFORE_SCORE]
    if "SelectorSpread" in ran and SPREAD in ran:
        ran["SelectorSpread"].weight = 0  # the first weight counted, and EvenPodsSpreadPriority was first
    elif SPREAD in ran:
        configs[SPREAD] = {"defaultingType": "List"}
        changes.append(
            effective.Change("kept", "", f"{SPREAD} had no default constraints without SelectorSpreadPriority")
        )
    return changes


def _priority(given: Mapping[str, Any], configs: Configs) -> str:
    name, argument = given.get("name") or "", given.get("argument") or {}
    if argument.get("requestedToCapacityRatioArguments"):
        configs["RequestedToCapacityRatio"] = present(argument["requestedToCapacityRatioArguments"])
        return "RequestedToCapacityRatio"
    if name == "EqualPriority":
        return ""
    if name in PRIORITIES:
        return PRIORITIES[name]
    return "ServiceAffinity" if argument.get("serviceAntiAffinity") else "NodeLabel"


def _others(policy: Mapping[str, Any], configs: Configs, out: dict[str, Any]) -> list[effective.Change]:
    changes = []
    if weight := policy.get("hardPodAffinitySymmetricWeight"):
        configs.setdefault("InterPodAffinity", {})["hardPodAffinityWeight"] = weight
        text = "hardPodAffinitySymmetricWeight became the argument hardPodAffinityWeight of InterPodAffinity"
        changes.append(effective.Change("moved", "hardPodAffinitySymmetricWeight", text))
    if policy.get("alwaysCheckAllPredicates"):
        text = "alwaysCheckAllPredicates was removed: no plugin checks a node that another plugin has refused"
        effect = "messages have fewer reasons for nodes that several plugins refuse"
        changes.append(effective.Change("lost", "alwaysCheckAllPredicates", text, effect))
    for field in ("extenders", "extenderConfigs"):
        if policy.get(field):
            out["extenders"] = [extender(each) for each in policy[field]]
            changes.append(effective.Change("moved", field, "extenders became a field of the configuration"))
    return changes

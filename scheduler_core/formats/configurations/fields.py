"""Fields of older versions other than plugins: moved, renamed, or without meaning today.

kube: apis/config/{v1alpha1,v1alpha2}/{conversion,defaults}.go @ v1.18.20; apis/config/v1beta1/defaults.go @ v1.22.17
"""

from scheduler_core.apimachinery.objects import MutableManifest, go_duration
from scheduler_core.formats.configurations.effective import Change

_LOCKS = ("endpoints", "configmaps", "endpointsleases", "configmapsleases")
_ADDRESSES = ("healthzBindAddress", "metricsBindAddress")


def common(manifest: MutableManifest) -> list[Change]:
    """Migrate the fields that all older versions share; change the manifest in place."""
    changes = []
    for name in _ADDRESSES:
        if name in manifest:
            del manifest[name]
            text = f"{name} was removed: health and metrics are served at --bind-address and --secure-port"
            changes.append(Change("dropped", name, text))
    election = manifest.get("leaderElection")
    if isinstance(election, dict) and election.get("resourceLock") in _LOCKS:
        text = f'resourceLock "{election["resourceLock"]}" became "leases", the only supported lock'
        manifest["leaderElection"] = {**election, "resourceLock": "leases"}
        changes.append(Change("moved", "leaderElection.resourceLock", text))
    return changes


def alpha(manifest: MutableManifest) -> list[Change]:
    """Migrate the fields of v1alpha1 and v1alpha2 and split them into profiles; change the manifest in place."""
    election, changes = dict(manifest.get("leaderElection") or {}), []
    for old, new in (("lockObjectNamespace", "resourceNamespace"), ("lockObjectName", "resourceName")):
        if old in election:
            value = election.pop(old)
            election.setdefault(new, value)
            changes.append(Change("moved", f"leaderElection.{old}", f"{old} was renamed to {new}"))
    if changes:
        manifest["leaderElection"] = election
    if "extenders" in manifest:
        manifest["extenders"] = [extender(each) for each in manifest["extenders"] or ()]
    if "failureDomains" in manifest:
        del manifest["failureDomains"]
        text = "failureDomains was removed: each affinity term sets its own topologyKey"
        changes.append(Change("dropped", "failureDomains", text))
    single = "profiles" not in manifest
    if single:
        changes += _profile(manifest)
    manifest["profiles"] = [dict(each) for each in manifest["profiles"] or [{}]]
    for i, profile in enumerate(manifest["profiles"]):
        _points(profile, "plugins" if single else f"profiles[{i}].plugins", changes)
    changes += _bind_timeout(manifest)
    return changes + _preemption(manifest)


def extender(given: MutableManifest) -> MutableManifest:
    """Convert an extender of a Policy or of v1alpha2: enableHttps, and a timeout that may be a number of nanoseconds."""
    out = {"enableHTTPS" if name == "enableHttps" else name: value for name, value in given.items()}
    timeout = out.get("httpTimeout")
    if isinstance(timeout, int) and not isinstance(timeout, bool):
        out["httpTimeout"] = go_duration(timeout)
    return out


def _profile(manifest: MutableManifest) -> list[Change]:
    """Convert the fields of v1alpha1, which has its single profile at the top level, to a profile."""
    profile: MutableManifest = {}
    changes = []
    for name in ("schedulerName", "plugins", "pluginConfig"):
        if name in manifest:
            profile[name] = manifest.pop(name)
            changes.append(Change("moved", name, f"{name} is a field of a profile"))
    if "hardPodAffinitySymmetricWeight" in manifest:
        weight = manifest.pop("hardPodAffinitySymmetricWeight")
        _args(profile, "InterPodAffinity")["hardPodAffinityWeight"] = weight
        text = "hardPodAffinitySymmetricWeight became the argument hardPodAffinityWeight of InterPodAffinity"
        changes.append(Change("moved", "hardPodAffinitySymmetricWeight", text))
    changes += _source(manifest.pop("algorithmSource", None) or {}, profile)
    manifest["profiles"] = [profile]
    return changes


def _source(source: MutableManifest, profile: MutableManifest) -> list[Change]:
    """algorithmSource: a Policy, which is elsewhere, or a provider's default plugins."""
    if source.get("policy"):
        effect = "the plugins here are kube's defaults. To convert the Policy to v1, paste it, too"
        return [Change("lost", "algorithmSource.policy", "the Policy of this field is not in this text", effect)]
    if source.get("provider") == "ClusterAutoscalerProvider":
        plugins = profile.setdefault("plugins", {})
        score = dict(plugins.get("score") or {})
        score["disabled"] = [*(score.get("disabled") or ()), {"name": "NodeResourcesLeastAllocated"}]
        score["enabled"] = [*(score.get("enabled") or ()), {"name": "NodeResourcesMostAllocated", "weight": 1}]
        profile["plugins"] = {**plugins, "score": score}
        text = "ClusterAutoscalerProvider scored nodes with NodeResourcesMostAllocated instead of NodeResourcesLeastAllocated"
        return [Change("moved", "algorithmSource.provider", text)]
    if source.get("provider"):
        return [Change("dropped", "algorithmSource.provider", "its default plugins are also the default in v1")]
    return []


def _points(profile: MutableManifest, path: str, changes: list[Change]) -> None:
    """Rename v1alpha1's postFilter to preScore, and merge unreserve into reserve. `path` is the original path."""
    plugins = profile.get("plugins")
    if not isinstance(plugins, dict):
        return
    plugins = profile["plugins"] = dict(plugins)
    if "postFilter" in plugins:  # v1alpha1's
        plugins["preScore"] = plugins.pop("postFilter")
        changes.append(Change("moved", f"{path}.postFilter", "postFilter was renamed to preScore"))
    if "unreserve" in plugins:
        gone = plugins.pop("unreserve") or {}
        reserve = dict(plugins.get("reserve") or {})
        there = [each.get("name") for each in reserve.get("enabled") or ()]
        more = [each for each in gone.get("enabled") or () if each.get("name") not in there]
        if more:
            reserve["enabled"] = [*(reserve.get("enabled") or ()), *more]
            plugins["reserve"] = reserve
        changes.append(Change("moved", f"{path}.unreserve", "unreserve became a part of reserve"))


def _bind_timeout(manifest: MutableManifest) -> list[Change]:
    if "bindTimeoutSeconds" not in manifest:
        return []
    seconds = manifest.pop("bindTimeoutSeconds")
    if seconds not in (None, 600):
        for profile in manifest["profiles"]:
            _args(profile, "VolumeBinding")["bindTimeoutSeconds"] = seconds
    text = "bindTimeoutSeconds became an argument of VolumeBinding (by default 600)"
    return [Change("moved", "bindTimeoutSeconds", text)]


def _preemption(manifest: MutableManifest) -> list[Change]:
    if not manifest.pop("disablePreemption", False):
        return []
    for profile in manifest["profiles"]:
        profile["plugins"] = {
            **(profile.get("plugins") or {}),
            "postFilter": {"disabled": [{"name": "DefaultPreemption"}]},
        }
    return [Change("moved", "disablePreemption", "preemption is the plugin DefaultPreemption, disabled here")]


def _args(profile: MutableManifest, name: str) -> MutableManifest:
    """Return the arguments of a plugin in a profile for modification. Creates them if necessary."""
    configs = profile["pluginConfig"] = [dict(each) for each in profile.get("pluginConfig") or ()]
    config = next((each for each in configs if each.get("name") == name), None)
    if config is None:
        config = {"name": name}
        configs.append(config)
    config["args"] = dict(config.get("args") or {})
    args: MutableManifest = config["args"]
    return args

"""Where installers and charts keep what kube-scheduler is started with: flags as a section, or values for a template.

kubeadm's ClusterConfiguration, kind's and kops' Cluster, RKE's cluster.yml, k3s' config.yaml, scheduler-plugins' chart.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.formats.configurations.finding.flags import Flag
from scheduler_core.scheduler.config.types import API_VERSION, KIND

_KOPS = {"kubeAPIQPS": "kube-api-qps", "kubeAPIBurst": "kube-api-burst", "usePolicyConfigMap": "policy-configmap"}


def section_flags(manifest: Manifest) -> tuple[str, list[Flag]] | None:
    """The flags that a document keeps as a section, and what it is called; None where it keeps none."""
    for called, read in (
        ("scheduler.extraArgs of kubeadm", _kubeadm),
        ("spec.kubeScheduler of kops", _kops),
        ("services.scheduler of RKE", _rke),
        ("kube-scheduler-arg of k3s", _k3s),
    ):
        flags = list(read(manifest))
        if flags:
            return called, flags
    return None


def _mapping(value: Any) -> Manifest:
    return value if isinstance(value, Mapping) else {}


def _kubeadm(manifest: Manifest) -> Iterator[Flag]:
    if manifest.get("kind") != "ClusterConfiguration":
        return
    yield from _arguments(_mapping(manifest.get("scheduler")).get("extraArgs"), "scheduler.extraArgs")


def _arguments(given: Any, path: str) -> Iterator[Flag]:
    """A mapping, or as kubeadm has it since v1beta4 a list of names and values."""
    if isinstance(given, Mapping):
        for name, value in given.items():
            yield str(name), _text(value), f"{path}[{name}]"
    elif isinstance(given, list):
        for i, each in enumerate(given):
            if isinstance(each, Mapping) and isinstance(each.get("name"), str):
                yield each["name"], _text(each.get("value")), f"{path}[{i}]"


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else "" if value is None else str(value)


def _kops(manifest: Manifest) -> Iterator[Flag]:
    if manifest.get("kind") != "Cluster" or not str(manifest.get("apiVersion")).startswith("kops"):
        return
    section = _mapping(_mapping(manifest.get("spec")).get("kubeScheduler"))
    for name, value in section.items():
        path = f"spec.kubeScheduler.{name}"
        if name == "featureGates":
            gates = ",".join(f"{gate}={_text(on)}" for gate, on in _mapping(value).items())
            yield "feature-gates", gates, path
        elif name == "leaderElection":
            for field, given in _mapping(value).items():
                yield _convert_to_dashes(str(field)), _text(given), f"{path}.{field}"
        else:
            yield _KOPS.get(name, _convert_to_dashes(str(name))), _text(value), path


def _convert_to_dashes(name: str) -> str:
    """leaderElectLeaseDuration as leader-elect-lease-duration."""
    return "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in name)


def _rke(manifest: Manifest) -> Iterator[Flag]:
    section = _mapping(_mapping(manifest.get("services")).get("scheduler"))
    yield from _arguments(section.get("extra_args"), "services.scheduler.extra_args")


def _k3s(manifest: Manifest) -> Iterator[Flag]:
    given = manifest.get("kube-scheduler-arg")
    for i, word in enumerate(given if isinstance(given, list) else [given]):
        if isinstance(word, str):
            name, _, value = word.lstrip("-").partition("=")
            yield name, value, f"kube-scheduler-arg[{i}]" if isinstance(given, list) else "kube-scheduler-arg"


def chart_values(manifest: Manifest) -> dict[str, Any] | None:
    """The configuration that scheduler-plugins' chart makes of its values; None where they are not such."""
    scheduler, plugins = manifest.get("scheduler"), manifest.get("plugins")
    if "kind" in manifest or not isinstance(scheduler, Mapping) or not isinstance(plugins, Mapping):
        return None
    if not isinstance(plugins.get("enabled"), list):
        return None
    profile: dict[str, Any] = {}
    if isinstance(scheduler.get("name"), str):
        profile["schedulerName"] = scheduler["name"]
    profile["plugins"] = {
        "multiPoint": {
            which: [{"name": name} for name in plugins[which] if isinstance(name, str)]
            for which in ("enabled", "disabled")
            if isinstance(plugins.get(which), list)
        }
    }
    if manifest.get("pluginConfig"):
        profile["pluginConfig"] = manifest["pluginConfig"]
    election = {"leaderElect": bool(scheduler.get("leaderElect"))}
    return {"apiVersion": API_VERSION, "kind": KIND, "leaderElection": election, "profiles": [profile]}


CHART_PATHS = {
    "profiles[0].plugins.multiPoint": "plugins",
    "profiles[0].pluginConfig": "pluginConfig",
    "profiles[0].schedulerName": "scheduler.name",
    "leaderElection": "scheduler",
}

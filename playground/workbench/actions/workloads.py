"""Actions on pods, workloads, schedulers, and the plugins of a profile, as kubectl and kube perform them."""

from collections.abc import Callable, Mapping
from typing import Any, Literal

from msgspec import UNSET

from playground.workbench.actions import contract
from scheduler_core.world import commands

MOST_NODES = 200  # that are suggested


def _options(values: contract.Values) -> dict[str, Any]:
    grace = values["grace_period_seconds"]
    return {"grace_period_seconds": UNSET if grace is None else grace}


RESTARTED_AT = "kubectl.kubernetes.io/restartedAt"
ROLLBACK = "deprecated.deployment.rollback.to"


def _restart(subject: contract.Subject, values: contract.Values) -> commands.PatchObject:
    annotations = {"annotations": {RESTARTED_AT: subject.time}}
    return commands.PatchObject(subject.ref, {"spec": {"template": {"metadata": annotations}}})


def _undo(subject: contract.Subject, values: contract.Values) -> commands.PatchObject:
    """The deployment-controller carries it out; kubectl would write the former template itself."""
    annotations = {"annotations": {ROLLBACK: str(values["revision"])}}
    return commands.PatchObject(subject.ref, {"metadata": annotations})


def _image(subject: contract.Subject, values: contract.Values) -> commands.PatchObject:
    container = {"name": values["container"], "image": values["image"]}
    inner: dict[str, Any] = {"spec": {"containers": [container]}}
    patch = inner if subject.kind == "Pod" else {"spec": {"template": inner}}
    return commands.PatchObject(subject.ref, patch, "strategic")


def _containers(subject: contract.Subject) -> contract.Choices:
    return [(name, name) for each in contract.containers(subject) if (name := str(each.get("name")))]


def _first_image(subject: contract.Subject) -> Any:
    return next((each.get("image") for each in contract.containers(subject)), None)


def _delete(subject: contract.Subject, values: contract.Values) -> commands.DeleteObjects:
    propagation: Literal["Background", "Foreground", "Orphan"] = values["propagation_policy"]
    return commands.DeleteObjects((subject.ref,), UNSET, propagation)


def _replicas(subject: contract.Subject) -> Any:
    replicas = subject.part("spec", "replicas")
    return 1 if replicas is None else replicas


SCHEDULER = "Scheduler"  # no object of the API: a process


def _runs(subject: contract.Subject) -> bool:
    return bool(subject.name) and subject.part("status", "stage") != "ended"


def _cut_off(subject: contract.Subject) -> bool:
    return _runs(subject) and bool(subject.part("status", "cutOff"))


def _start(subject: contract.Subject, values: contract.Values) -> commands.StartScheduler:
    name = values["host"] or subject.name
    if not name:
        raise contract.Wrong("host", contract.gettext_noop("Write a name, such as a"))
    try:
        rate = float(values["clock_rate"] or 1)
    except ValueError:
        raise contract.Wrong("clock_rate", contract.gettext_noop("Write a number, such as 0.5")) from None
    elects = {"leaderElection": {"leaderElect": not values["alone"]}}
    configuration = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", **elects}
    sign = -1 if values["behind"] else 1
    return commands.StartScheduler(name, configuration, sign * (values["clock_offset"] or 0), rate)


PLUGIN = "Plugin"  # no object of the API: `manifest` holds the scheduler's configuration
MULTI = "multiPoint"


def _profiles(subject: contract.Subject) -> list[dict[str, Any]]:
    return [dict(each) for each in subject.part("configuration", "profiles") or ()]


def _list_enabled_entries(subject: contract.Subject) -> list[Mapping[str, Any]]:
    sets = [(profile.get("plugins") or {}).get(MULTI) or {} for profile in _profiles(subject)]
    return [each for one in sets for each in one.get("enabled") or () if each.get("name") == subject.name]


def _change_plugins(
    subject: contract.Subject, change: Callable[[list[dict[str, Any]]], list[dict[str, Any]]], disabled: bool
) -> commands.SetConfiguration:
    """Change the list of plugins at all extension points in every profile that has this plugin."""
    profiles = []
    for profile in _profiles(subject):
        plugins = dict(profile.get("plugins") or {})
        multi = dict(plugins.get(MULTI) or {})
        named = [dict(each) for each in multi.get("enabled") or ()]
        if any(each.get("name") == subject.name for each in named):
            multi["enabled"] = change(named)
            if disabled:
                multi["disabled"] = [*(multi.get("disabled") or ()), {"name": subject.name}]
            profile["plugins"] = {**plugins, MULTI: multi}
        profiles.append(profile)
    configuration = {**(subject.part("configuration") or {}), "profiles": profiles}
    return commands.SetConfiguration(configuration, subject.part("metadata", "scheduler"))


def _weigh(subject: contract.Subject, values: contract.Values) -> commands.SetConfiguration:
    def change(named: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [{**each, "weight": values["weight"]} if each.get("name") == subject.name else each for each in named]

    return _change_plugins(subject, change, disabled=False)


def _disable(subject: contract.Subject, values: contract.Values) -> commands.SetConfiguration:
    return _change_plugins(
        subject, lambda named: [each for each in named if each.get("name") != subject.name], disabled=True
    )


CODE = {
    "evict": contract.Code(
        lambda subject, values: commands.EvictPod(subject.key, values["grace_period_seconds"], values["dry_run"])
    ),
    "bind": contract.Code(
        lambda subject, values: commands.BindPod(subject.key, values["node"]),
        choices={"node": lambda subject: [(name, name) for name in subject.nodes[:MOST_NODES]]},
    ),
    "delete-pod": contract.Code(contract.Deletion(_options)),
    "scale": contract.Code(
        lambda subject, values: commands.ScaleObject(subject.ref, values["replicas"]), initial={"replicas": _replicas}
    ),
    "image": contract.Code(_image, initial={"image": _first_image}, choices={"container": _containers}),
    "restart": contract.Code(_restart),
    "undo": contract.Code(_undo),
    "parallelism": contract.Code(
        lambda subject, values: commands.PatchObject(subject.ref, {"spec": {"parallelism": values["parallelism"]}})
    ),
    "delete-workload": contract.Code(_delete),
    "start-scheduler": contract.Code(
        _start, lambda subject: not _runs(subject), initial={"host": lambda subject: subject.name}
    ),
    "end-scheduler": contract.Code(
        lambda subject, values: commands.StopScheduler(subject.name, "SIGTERM"),
        lambda subject: _runs(subject) and subject.part("status", "stage") != "ending",
    ),
    "kill-scheduler": contract.Code(lambda subject, values: commands.StopScheduler(subject.name, "SIGKILL"), _runs),
    "cut-off-scheduler": contract.Code(
        lambda subject, values: commands.PartitionScheduler(subject.name, True),
        lambda subject: _runs(subject) and not _cut_off(subject),
    ),
    "connect-scheduler": contract.Code(
        lambda subject, values: commands.PartitionScheduler(subject.name, False), _cut_off
    ),
    "weight": contract.Code(
        _weigh,
        lambda subject: any("weight" in each for each in _list_enabled_entries(subject)),
        {"weight": lambda subject: next((each.get("weight") for each in _list_enabled_entries(subject)), None) or 1},
    ),
    "disable": contract.Code(_disable, lambda subject: bool(_list_enabled_entries(subject))),
}

"""The shape of a KubeSchedulerConfiguration: its fields and their types. The plugins declare their own arguments.

kube: kube-scheduler/config/v1/types.go @ v1.34.1
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from scheduler_core.apimachinery.objects.errors import InvalidObject
from scheduler_core.apimachinery.objects.strict import ANY, BOOL, INTEGER32, INTEGER64, NUMBER, STRING, ListOf, Shape
from scheduler_core.scheduler.framework.plugin import Point, takes_part
from scheduler_core.scheduler.framework.profile import Profile
from scheduler_core.scheduler.plugins.registry import registry

# The extension points in a configuration, and the points that each plugin implements.
# kube: apis/config/types.go (Plugins), framework/runtime/framework.go getExtensionPoints @ v1.34.1

# JSON name -> point, in the order of kube's Plugins type.
FIELDS: dict[str, Point] = {
    "preEnqueue": Point.PRE_ENQUEUE,
    "queueSort": Point.QUEUE_SORT,
    "preFilter": Point.PRE_FILTER,
    "filter": Point.FILTER,
    "postFilter": Point.POST_FILTER,
    "preScore": Point.PRE_SCORE,
    "score": Point.SCORE,
    "reserve": Point.RESERVE,
    "permit": Point.PERMIT,
    "preBind": Point.PRE_BIND,
    "bind": Point.BIND,
    "postBind": Point.POST_BIND,
}

MULTI_POINT = "multiPoint"


def is_registered(name: str) -> bool:
    """Return whether a plugin of this name exists."""
    return name in registry()


def implements(name: str, point: Point) -> bool:
    """Return whether the plugin exists and implements an extension point."""
    built = registry().get(name)
    return built is not None and takes_part(built, point)


# The scheduler's KubeSchedulerConfiguration: defaulted, validated, with expanded multiPoint sets.

API_VERSION = "kubescheduler.config.k8s.io/v1"
KIND = "KubeSchedulerConfiguration"


class ConfigurationError(InvalidObject):
    """A configuration that kube-scheduler would refuse; `errors` have the paths and the reasons."""


@dataclass(frozen=True, slots=True)
class SchedulerConfiguration:
    """A complete configuration. `percentage_of_nodes_to_score` 0 means adaptive; backoffs are in seconds.

    `manifest` has every default filled in, according to the gates; `given` is the user's manifest (None: kube's default).
    """

    profiles: tuple[Profile, ...]
    percentage_of_nodes_to_score: int
    pod_initial_backoff_seconds: int
    pod_max_backoff_seconds: int
    manifest: Mapping[str, Any]
    given: Mapping[str, Any] | None = field(default=None, compare=False)


PLUGIN: Shape = {"name": STRING, "weight": INTEGER32}
PLUGIN_SET: Shape = {"enabled": ListOf(PLUGIN), "disabled": ListOf(PLUGIN)}

PROFILE: Shape = {
    "schedulerName": STRING,
    "percentageOfNodesToScore": INTEGER32,
    "plugins": dict.fromkeys((*FIELDS, MULTI_POINT), PLUGIN_SET),
    "pluginConfig": ListOf({"name": STRING, "args": ANY}),
}

EXTENDER: Shape = {
    "urlPrefix": STRING,
    "filterVerb": STRING,
    "preemptVerb": STRING,
    "prioritizeVerb": STRING,
    "weight": INTEGER64,
    "bindVerb": STRING,
    "enableHTTPS": BOOL,
    "tlsConfig": ANY,
    "httpTimeout": STRING,
    "nodeCacheCapable": BOOL,
    "managedResources": ListOf({"name": STRING, "ignoredByScheduler": BOOL}),
    "ignorable": BOOL,
}

CONFIGURATION: Shape = {
    "apiVersion": STRING,
    "kind": STRING,
    "metadata": ANY,
    "parallelism": INTEGER32,
    "leaderElection": {
        "leaderElect": BOOL,
        "leaseDuration": STRING,
        "renewDeadline": STRING,
        "retryPeriod": STRING,
        "resourceLock": STRING,
        "resourceName": STRING,
        "resourceNamespace": STRING,
    },
    "clientConnection": {
        "kubeconfig": STRING,
        "acceptContentTypes": STRING,
        "contentType": STRING,
        "qps": NUMBER,
        "burst": INTEGER32,
    },
    "enableProfiling": BOOL,
    "enableContentionProfiling": BOOL,
    "percentageOfNodesToScore": INTEGER32,
    "podInitialBackoffSeconds": INTEGER64,
    "podMaxBackoffSeconds": INTEGER64,
    "profiles": ListOf(PROFILE),
    "extenders": ListOf(EXTENDER),
    "delayCacheUntilActive": BOOL,
}

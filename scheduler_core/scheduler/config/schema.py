"""The shape of a KubeSchedulerConfiguration: which fields there are, and of which type. The plugins' arguments are in their rooms.

kube: kube-scheduler/config/v1/types.go @ v1.34.1
"""

from __future__ import annotations

from scheduler_core.apimachinery.objects.strict import ANY, BOOL, INTEGER32, INTEGER64, NUMBER, STRING, ListOf, Shape
from scheduler_core.scheduler.config.points import FIELDS, MULTI_POINT

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

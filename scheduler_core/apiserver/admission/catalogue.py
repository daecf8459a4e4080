"""The admission plugins, in the order in which the API server calls them.

kube: pkg/kubeapiserver/options/plugins.go (AllOrderedPlugins) @ v1.34.1
"""

from functools import lru_cache
from typing import NamedTuple

from scheduler_core.apiserver.admission.plugin import AdmissionPlugin
from scheduler_core.apiserver.admission.plugins import simple, storage, tolerations
from scheduler_core.apiserver.admission.plugins.admission_policy import ValidatingAdmissionPolicy
from scheduler_core.apiserver.admission.plugins.limit_ranger import LimitRanger
from scheduler_core.apiserver.admission.plugins.node_restriction import NodeRestriction
from scheduler_core.apiserver.admission.plugins.pod_security import PodSecurity
from scheduler_core.apiserver.admission.plugins.resource_quota import ResourceQuota
from scheduler_core.apiserver.admission.plugins.runtime_class import Priority, RuntimeClass
from scheduler_core.apiserver.options import APIServerOptions

PLUGINS: tuple[AdmissionPlugin, ...] = (
    simple.AlwaysAdmit(),
    simple.NamespaceLifecycle(),
    simple.NamespaceExists(),
    simple.LimitPodHardAntiAffinityTopology(),
    LimitRanger(),
    NodeRestriction(),
    tolerations.TaintNodesByCondition(),
    simple.AlwaysPullImages(),
    PodSecurity(),
    simple.PodNodeSelector(),
    Priority(),
    tolerations.DefaultTolerationSeconds(),
    tolerations.PodTolerationRestriction(),
    tolerations.ExtendedResourceToleration(),
    storage.DefaultStorageClass(),
    storage.StorageObjectInUseProtection(),
    storage.PersistentVolumeClaimResize(),
    RuntimeClass(),
    simple.DenyServiceExternalIPs(),
    simple.PodTopologyLabels(),
    ValidatingAdmissionPolicy(),
    ResourceQuota(),
    simple.AlwaysDeny(),
)
LEFT_OUT = {
    "ServiceAccount": "pods run without service accounts and their tokens here",
    "DefaultIngressClass": "Ingresses have no effect here",
    "CertificateApproval": "certificates play no part here",
    "CertificateSigning": "certificates play no part here",
    "CertificateSubjectRestriction": "certificates play no part here",
    "ClusterTrustBundleAttest": "certificates play no part here",
    "MutatingAdmissionWebhook": "there are no webhooks here",
    "ValidatingAdmissionWebhook": "there are no webhooks here",
}
"""Plugins that kube enables by default and this API server lacks, each with the effect."""


class Chain(NamedTuple):
    """The enabled plugins: all, those that look at more of a pod than its spec, and those that write along with the object."""

    all: tuple[AdmissionPlugin, ...]
    others: tuple[AdmissionPlugin, ...]
    writers: tuple[AdmissionPlugin, ...]


def plugins_of(options: APIServerOptions) -> Chain:
    """Return the enabled plugins."""
    return _chosen(options.enable_admission_plugins, options.disable_admission_plugins)


# Worlds can share the result: plugins keep nothing between requests.
@lru_cache(maxsize=64)
def _chosen(enabled: tuple[str, ...], disabled: tuple[str, ...]) -> Chain:
    on = tuple(
        plugin for plugin in PLUGINS if (plugin.on_by_default or plugin.name in enabled) and plugin.name not in disabled
    )
    others = tuple(plugin for plugin in on if not plugin.pods_by_spec)
    return Chain(on, others, tuple(plugin for plugin in on if type(plugin).commit is not AdmissionPlugin.commit))

"""Options of kube-apiserver: the flags that affect the handling of requests, under their own names.

kube: cmd/kube-apiserver/app/options, pkg/kubeapiserver/options/plugins.go,
apiserver/pkg/admission/plugin/resourcequota/apis/resourcequota/types.go @ v1.34.1
"""

from collections.abc import Mapping
from typing import Annotated

import msgspec

from scheduler_core.apimachinery.objects.typed import FieldProblem

Names = tuple[str, ...]
Seconds = Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1, extra={"unit": "seconds"})]
ORDERED_PLUGINS = (
    *("AlwaysAdmit", "NamespaceAutoProvision", "NamespaceLifecycle", "NamespaceExists"),
    *("LimitPodHardAntiAffinityTopology", "LimitRanger", "ServiceAccount", "NodeRestriction"),
    *("TaintNodesByCondition", "AlwaysPullImages", "ImagePolicyWebhook", "PodSecurity", "PodNodeSelector"),
    *("Priority", "DefaultTolerationSeconds", "PodTolerationRestriction", "EventRateLimit"),
    *("ExtendedResourceToleration", "DefaultStorageClass", "StorageObjectInUseProtection"),
    *("OwnerReferencesPermissionEnforcement", "PersistentVolumeClaimResize", "RuntimeClass", "CertificateApproval"),
    *("CertificateSigning", "ClusterTrustBundleAttest", "CertificateSubjectRestriction", "DefaultIngressClass"),
    *("DenyServiceExternalIPs", "PodTopologyLabels", "MutatingAdmissionPolicy", "MutatingAdmissionWebhook"),
    *("ValidatingAdmissionPolicy", "ValidatingAdmissionWebhook", "ResourceQuota", "AlwaysDeny"),
)
NOT_HERE = ("NamespaceAutoProvision", "ImagePolicyWebhook", "EventRateLimit", "OwnerReferencesPermissionEnforcement")
"""Plugins that kube disables by default and this API server lacks, so that they cannot be enabled."""


class MatchScope(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A scope of a quota."""

    scope_name: str = msgspec.field(default="", name="scopeName")
    operator: str = ""
    values: Names = ()


class LimitedResource(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A resource that may be used only if a quota covers it."""

    resource: str
    api_group: str = msgspec.field(default="", name="apiGroup")
    match_contains: Names = msgspec.field(default=(), name="matchContains")
    match_scopes: tuple[MatchScope, ...] = msgspec.field(default=(), name="matchScopes")


class ResourceQuotaConfiguration(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Configuration of the plugin ResourceQuota."""

    api_version: str = msgspec.field(default="apiserver.config.k8s.io/v1", name="apiVersion")
    kind: str = "ResourceQuotaConfiguration"
    limited: tuple[LimitedResource, ...] = msgspec.field(default=(), name="limitedResources")


class APIServerOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Flags of kube-apiserver, and the configurations of its admission plugins."""

    enable_admission_plugins: Names = msgspec.field(default=(), name="enable-admission-plugins")
    disable_admission_plugins: Names = msgspec.field(default=(), name="disable-admission-plugins")
    authorization_mode: Names = msgspec.field(default=("RBAC",), name="authorization-mode")
    not_ready_toleration_seconds: Seconds = msgspec.field(default=300, name="default-not-ready-toleration-seconds")
    unreachable_toleration_seconds: Seconds = msgspec.field(default=300, name="default-unreachable-toleration-seconds")
    pod_node_selector: Mapping[str, str] = msgspec.field(default_factory=dict, name="podNodeSelectorPluginConfig")
    resource_quota: ResourceQuotaConfiguration = msgspec.field(
        default_factory=ResourceQuotaConfiguration, name="ResourceQuotaConfiguration"
    )

    def __post_init__(self) -> None:
        enabled, disabled = self.enable_admission_plugins, self.disable_admission_plugins
        for flag, names in (("enable-admission-plugins", enabled), ("disable-admission-plugins", disabled)):
            for name in names:
                if name not in ORDERED_PLUGINS:
                    raise FieldProblem(flag, name, "names of kube-apiserver's admission plugins")
        for name in enabled:
            if name in disabled:
                expected = "a plugin that disable-admission-plugins does not name"
                raise FieldProblem("enable-admission-plugins", name, expected)
            if name in NOT_HERE:
                raise FieldProblem("enable-admission-plugins", name, "a plugin that this API server has")

"""Options of kube-apiserver: its flags that decide what becomes of a request, under their own names.

kube: cmd/kube-apiserver/app/options, pkg/kubeapiserver/options/plugins.go @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec

Names = tuple[str, ...]
Seconds = Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1, extra={"unit": "seconds"})]


class APIServerOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Flags of kube-apiserver, and the configurations of its admission plugins."""

    enable_admission_plugins: Names = msgspec.field(default=(), name="enable-admission-plugins")
    disable_admission_plugins: Names = msgspec.field(default=(), name="disable-admission-plugins")
    authorization_mode: Names = msgspec.field(default=("RBAC",), name="authorization-mode")
    not_ready_toleration_seconds: Seconds = msgspec.field(
        default=300, name="default-not-ready-toleration-seconds"
    )
    unreachable_toleration_seconds: Seconds = msgspec.field(
        default=300, name="default-unreachable-toleration-seconds"
    )
    pod_node_selector: Mapping[str, Any] = msgspec.field(
        default_factory=dict, name="podNodeSelectorPluginConfig"
    )
    resource_quota: Mapping[str, Any] = msgspec.field(default_factory=dict, name="ResourceQuotaConfiguration")

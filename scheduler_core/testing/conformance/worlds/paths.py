"""Paths into objects as the corpus of worlds writes them: `status.conditions[type=Ready].status`, `labels["a.b/c"]`, `containers[0]`."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

# The flags of a scenario as the product takes them: lists and numbers may be written as on a command line.
#
# Flags that change nothing here are passed over.
#
# Queues have one worker, loops are computed rather than run, and what the other flags are about is not modelled. A setting of the product
# refuses them, so that nobody counts on them.
# kube: cmd/kube-controller-manager/app/options, cmd/kube-apiserver/app/options, apiserver/pkg/server/options @ v1.34.1

_NAMES = """
attach-detach-reconcile-sync-period concurrent-cron-job-syncs concurrent-daemonset-syncs concurrent-deployment-syncs
concurrent-endpoint-syncs concurrent-ephemeralvolume-syncs concurrent-gc-syncs concurrent-horizontal-pod-autoscaler-syncs
concurrent-job-syncs concurrent-namespace-syncs concurrent-rc-syncs concurrent-replicaset-syncs concurrent-resource-quota-syncs
concurrent-service-endpoint-syncs concurrent-service-syncs concurrent-serviceaccount-token-syncs concurrent-statefulset-syncs
concurrent-ttl-after-finished-syncs contention-profiling controller-start-interval disable-attach-detach-reconcile-sync
disable-force-detach-on-timeout endpoint-updates-batch-period endpointslice-updates-batch-period
horizontal-pod-autoscaler-cpu-initialization-period horizontal-pod-autoscaler-downscale-stabilization
horizontal-pod-autoscaler-initial-readiness-delay horizontal-pod-autoscaler-sync-period horizontal-pod-autoscaler-tolerance kube-api-burst
kube-api-qps leader-elect leader-elect-lease-duration leader-elect-renew-deadline leader-elect-resource-lock
leader-elect-resource-name leader-elect-resource-namespace leader-elect-retry-period max-endpoints-per-slice min-resync-period
namespace-sync-period node-cidr-mask-size node-cidr-mask-size-ipv4 node-cidr-mask-size-ipv6 profiling pvclaimbinder-sync-period
resource-quota-sync-period route-reconciliation-period service-cluster-ip-range use-service-account-credentials v
"""
_OF_APISERVER = """
allow-privileged anonymous-auth audit-log-path audit-policy-file default-watch-cache-size delete-collection-workers
enable-aggregator-routing enable-priority-and-fairness event-ttl goaway-chance lease-reuse-duration-seconds max-mutating-requests-inflight
max-requests-inflight min-request-timeout profiling request-timeout runtime-config service-account-issuer service-account-lookup
service-cluster-ip-range service-node-port-range storage-backend storage-media-type v watch-cache watch-cache-sizes
"""
_LISTS = ("enable-admission-plugins", "disable-admission-plugins", "authorization-mode")
_WITHOUT_EFFECT = frozenset(_NAMES.split())
_WITHOUT_EFFECT_AT_APISERVER = frozenset(_OF_APISERVER.split())


def of_apiserver(flags: Mapping[str, Any]) -> dict[str, Any]:
    """Return the flags of kube-apiserver that have an effect."""
    return {
        flag: value.split(",") if flag in _LISTS and isinstance(value, str) else _number(value)
        for flag, value in flags.items()
        if flag not in _WITHOUT_EFFECT_AT_APISERVER
    }


def of_controller_manager(flags: Mapping[str, Any]) -> dict[str, Any]:
    """Return the flags of kube-controller-manager that have an effect."""
    return {flag: _number(value) for flag, value in flags.items() if flag not in _WITHOUT_EFFECT}


def _number(value: Any) -> Any:
    """Return the number in a text, or the value unchanged."""
    if not isinstance(value, str):
        return value
    try:
        number = float(value)
    except ValueError:
        return value
    return int(number) if number.is_integer() else number


MISSING: Any = object()
_STEP = re.compile(
    r'\["(?P<key>[^"]*)"\]|\[(?P<index>\d+)\]|\[(?P<field>[^=\]]+)=(?P<value>[^\]]*)\]|\.?(?P<name>[^.\[\]]+)'
)


@lru_cache(maxsize=1024)
def _steps(path: str) -> tuple[tuple[str, str, str], ...]:
    steps, at = [], 0
    while at < len(path):
        match = _STEP.match(path, at)
        if match is None:
            raise ValueError(f"{path!r} is not a path: at character {at}")
        kind = str(match.lastgroup)
        if kind == "value":
            steps.append(("field", match["field"], match["value"]))
        else:
            steps.append((kind, match[kind], ""))
        at = match.end()
    return tuple(steps)


def look_up(value: Any, path: str) -> Any:
    """Return the value at a path; MISSING if a step leads nowhere."""
    for kind, name, wanted in _steps(path):
        if kind in ("name", "key"):
            value = value.get(name, MISSING) if isinstance(value, Mapping) else MISSING
        elif not isinstance(value, list | tuple):
            return MISSING
        elif kind == "index":
            value = value[int(name)] if int(name) < len(value) else MISSING
        else:
            value = next((e for e in value if isinstance(e, Mapping) and str(e.get(name)) == wanted), MISSING)
        if value is MISSING:
            return MISSING
    return value


def is_absent(value: Any) -> bool:
    """Missing, null, an empty string or an empty list."""
    return value is MISSING or value is None or value in ("", [], ())

"""Flags of kube-controller-manager that a scenario may name and that change nothing here.

Queues have one worker, loops are computed rather than run, and what the other flags are about is not modelled. A setting of the product
refuses them, so that nobody counts on them.

kube: cmd/kube-controller-manager/app/options @ v1.34.1
"""

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
WITHOUT_EFFECT = frozenset(_NAMES.split())

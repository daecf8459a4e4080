"""The configuration of leader election, and its validation.

kube: client-go/tools/leaderelection/leaderelection.go NewLeaderElector, resourcelock/interface.go NewFromKubeconfig @ v0.34.1
"""

from dataclasses import dataclass

from scheduler_core.base.clock.agenda import SECOND


@dataclass(frozen=True, slots=True)
class ElectionConfig:
    """The Lease to acquire, and durations in ns. `name` is the name in metrics."""

    lease_duration: int = 15 * SECOND
    renew_deadline: int = 10 * SECOND
    retry_period: int = 2 * SECOND
    namespace: str = "kube-system"
    resource_name: str = "kube-scheduler"
    release_on_cancel: bool = True
    name: str = "kube-scheduler"

    @property
    def call_timeout(self) -> int:
        """The time that a candidate waits for an answer of the API server (ns)."""
        return max(SECOND, self.renew_deadline // 2)


def elector_error(config: ElectionConfig) -> str:
    """Return the configuration error in client-go's words; "" if the configuration is valid."""
    if config.lease_duration <= config.renew_deadline:
        return "leaseDuration must be greater than renewDeadline"
    if config.renew_deadline <= (config.retry_period * 12 // 10):
        return "renewDeadline must be greater than retryPeriod*JitterFactor"
    durations = {
        "leaseDuration": config.lease_duration,
        "renewDeadline": config.renew_deadline,
        "retryPeriod": config.retry_period,
    }
    return next((f"{name} must be greater than zero" for name, d in durations.items() if d < 1), "")

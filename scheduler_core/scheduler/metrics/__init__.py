"""kube-scheduler's metrics on virtual time: what each one is, and the figures that are counted (docs/metrics.md)."""

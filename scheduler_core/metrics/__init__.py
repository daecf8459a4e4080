"""kube-scheduler's metrics on virtual time: what each one is, the figures, and how they are read (docs/metrics.md)."""

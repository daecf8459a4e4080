"""kube-scheduler's metrics on virtual time: their catalog, and their values (docs/metrics.md)."""

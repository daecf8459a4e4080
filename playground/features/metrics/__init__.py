"""kube-scheduler's metrics as charts and as text."""

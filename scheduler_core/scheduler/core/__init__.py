"""One kube-scheduler: its state (scheduler.py), and its steps."""

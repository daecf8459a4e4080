"""One kube-scheduler: its state (scheduler.py), and the steps that it makes."""

"""The most used plugins outside kube-scheduler's tree, rewritten as examples. They are ours, not kube's.

The ideas are those of kubernetes-sigs/scheduler-plugins. None is in a default profile.
"""

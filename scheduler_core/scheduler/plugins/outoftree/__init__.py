"""Widely used plugins outside of kube-scheduler's tree, reimplemented as examples. The code is ours, not kube's.

The ideas are those of kubernetes-sigs/scheduler-plugins. None is in a default profile.
"""

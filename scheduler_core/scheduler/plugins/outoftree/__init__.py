"""Plugins that are not in kube-scheduler's tree and that people use most, written anew as examples. They are ours, not kube's.

The ideas are those of kubernetes-sigs/scheduler-plugins. None is in a default profile.
"""

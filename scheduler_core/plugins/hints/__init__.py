"""Queueing hints: per plugin, whether an event may make a pod schedulable that the plugin refused.

Each is called as `hint(plugin, waiting pod, object before, object after)`; the plugin that refused the pod is given, so that its
arguments and listers are at hand. Where kube's hint fails with an error the answer is yes, as the queue treats it.
"""

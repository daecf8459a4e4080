"""InterPodAffinity: the room of the plugin that keeps pods near some pods and away from others.

kube: plugins/interpodaffinity @ v1.34.1
"""

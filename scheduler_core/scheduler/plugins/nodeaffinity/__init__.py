"""NodeAffinity: the room of the plugin that reads node selectors.

kube: plugins/nodeaffinity @ v1.34.1
"""

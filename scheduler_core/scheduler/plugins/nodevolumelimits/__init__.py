"""NodeVolumeLimits: the room of the plugin that counts attached volumes.

kube: plugins/nodevolumelimits @ v1.34.1
"""

"""DefaultPreemption: the room of the plugin that evicts pods for a more important one.

kube: plugins/defaultpreemption @ v1.34.1
"""

"""DynamicResources: allocates devices to the resource claims of pods.

kube: plugins/dynamicresources @ v1.34.1
"""

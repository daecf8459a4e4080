"""NodeResourcesFit and NodeResourcesBalancedAllocation: the room of the plugins that look at requests.

kube: plugins/noderesources @ v1.34.1
"""

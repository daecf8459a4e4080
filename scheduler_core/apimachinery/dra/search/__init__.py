"""The search for devices on one node: what claims want, what is asked of devices, what was chosen, and the steps.

kube: dynamic-resource-allocation/structured/internal/experimental @ v1.34.1
"""

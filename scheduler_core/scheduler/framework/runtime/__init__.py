"""The runtime: a profile's plugins, running one of them at one extension point, and the records of what it did.

kube: framework/runtime @ v1.34.1
"""

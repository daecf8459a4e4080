"""The runtime: a profile's plugins, the run of one plugin at one extension point, and the records of runs.

kube: framework/runtime @ v1.34.1
"""

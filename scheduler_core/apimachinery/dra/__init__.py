"""Devices: DRA's objects as the scheduler reads them, and kube's structured allocator.

kube: staging/src/k8s.io/dynamic-resource-allocation @ v1.34.1
"""

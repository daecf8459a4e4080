"""Preemption: candidates, victims, reprieve, choice.

kube: framework/preemption/preemption.go, plugins/defaultpreemption @ v1.34.1
"""

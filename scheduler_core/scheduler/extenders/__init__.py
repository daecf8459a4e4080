"""Scheduler extenders: what kube-scheduler asks them over HTTP, what they answer, and how the answer is read.

kube: pkg/scheduler/extender.go, staging/src/k8s.io/kube-scheduler/extender/v1/types.go @ v1.34.1
"""

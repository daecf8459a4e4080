"""Scheduler extenders: kube-scheduler's HTTP requests, their answers, and the parsing of answers.

kube: pkg/scheduler/extender.go, staging/src/k8s.io/kube-scheduler/extender/v1/types.go @ v1.34.1
"""

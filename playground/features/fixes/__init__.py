"""Fixes for an unschedulable pod, and the reasons why a pod is not on a node."""

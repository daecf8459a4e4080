"""Fixes for a pod that fits nowhere, and why a pod is not on a node."""

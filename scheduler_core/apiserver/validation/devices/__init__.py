"""Validation of resource.k8s.io objects and of their updates."""

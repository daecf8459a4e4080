"""Pods and templates for pods: the API server's validation of them, part by part."""

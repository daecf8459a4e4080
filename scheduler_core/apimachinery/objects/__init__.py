"""Kubernetes objects as the scheduler reads them: immutable, parsed once, shared by all identical ones."""

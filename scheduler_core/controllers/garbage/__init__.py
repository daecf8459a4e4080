"""Garbage collection: dependents of deleted owners, pods, and the content of namespaces."""

"""Renaming: a cluster under other names with the same scheduling decisions, without any trace of the former names."""

from scheduler_core.apiserver.imports.renaming.renaming import rename_manifests

__all__ = ["rename_manifests"]

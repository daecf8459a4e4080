"""Renaming: a cluster under other names that decides the same. Nothing of the former names is in it."""

from scheduler_core.apiserver.imports.renaming.renaming import rename_manifests

__all__ = ["rename_manifests"]

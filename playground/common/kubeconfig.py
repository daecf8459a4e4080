"""Kubeconfigs for sessions."""

from typing import Any

import yaml


def write_kubeconfig(name: str, cluster: dict[str, Any], user: dict[str, Any] | None = None) -> str:
    """Return a kubeconfig with one cluster, user, and context of the same name."""
    context = {"cluster": name, "user": name, "namespace": "default"}
    config: dict[str, Any] = {"apiVersion": "v1", "kind": "Config", "current-context": name}
    config |= {"clusters": [{"name": name, "cluster": cluster}], "contexts": [{"name": name, "context": context}]}
    return str(yaml.safe_dump({**config, "users": [{"name": name, "user": user or {}}]}, sort_keys=False))

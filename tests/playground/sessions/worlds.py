"""Small clusters for the tests of sessions, and what they wait for."""

from __future__ import annotations

from typing import Any

JSON = dict[str, Any]


def node(name: str, cpu: str = "4") -> JSON:
    """A node with some cpu, plenty of memory and room for 110 pods."""
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name},
        "status": {"allocatable": {"cpu": cpu, "memory": "8Gi", "pods": "110"}},
    }


def pod(name: str, cpu: str = "100m") -> JSON:
    """A pending pod with one container."""
    container = {"name": "c", "image": "nginx", "resources": {"requests": {"cpu": cpu}}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"containers": [container]},
    }


def applying(*objects: JSON, create_only: bool = False) -> JSON:
    """The command that creates or replaces these objects."""
    return {"kind": "ApplyObjects", "objects": list(objects), "create_only": create_only}


def cluster(nodes: int, pods: int) -> JSON:
    """The command that makes a cluster with pending pods."""
    return applying(*(node(f"n{i}") for i in range(nodes)), *(pod(f"p{i}") for i in range(pods)))

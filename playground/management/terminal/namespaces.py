"""Namespaces that files refer to and do not hold: a dump of pods seldom has them, and they were there where it was made."""

from __future__ import annotations

import re
from typing import Any

from playground.sessions.protocol.moving import ImportPlan

_NOT_FOUND = re.compile(r'namespaces "(?P<name>[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?)" not found')
SHOWN = 5


def lacking_namespaces(plan: ImportPlan) -> list[str]:
    """Return the missing namespaces for which objects were refused, sorted by name."""
    texts = (str(error.text) for item in plan.items for error in item.errors)
    return sorted({found["name"] for text in texts if (found := _NOT_FOUND.search(text))})


def namespace(name: str) -> dict[str, Any]:
    """A namespace about which nothing else is known."""
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def describe_namespaces(names: list[str]) -> str:
    """Return the line about the namespaces that were assumed."""
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    which = "namespace" if len(names) == 1 else "namespaces"
    return f"not in the files, and taken to be there without labels: {which} {', '.join(names[:SHOWN])}{more}"

"""The cluster as YAML that kubectl takes: what the API server owns is left out, what looks like a number but is text is quoted."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import yaml

# Owner references name uids of this world; in another cluster they would have the garbage collector delete the object.
_OWNED = (
    "resourceVersion",
    "uid",
    "creationTimestamp",
    "generation",
    "managedFields",
    "selfLink",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "ownerReferences",
)
_FIRST = ("Namespace", "PriorityClass", "Node")
_LAST = ("Pod",)
_NUMBERLIKE = re.compile(r"[-+.]?\d.*|[-+]?\.(inf|nan).*", re.IGNORECASE)


class _Dumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]  # libyaml's where it is installed
    """No anchors; kubectl's YAML reads more texts as numbers than Python's does, so these are quoted."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _text(dumper: Any, value: str) -> Any:
    style = '"' if _NUMBERLIKE.fullmatch(value) else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


_Dumper.add_representer(str, _text)


def in_order(kinds: list[str]) -> list[str]:
    """Kinds so that each comes after what it needs."""

    def rank(kind: str) -> tuple[int, int, str]:
        first = _FIRST.index(kind) if kind in _FIRST else len(_FIRST)
        return (kind in _LAST, first, kind)

    return sorted(kinds, key=rank)


def document(manifest: Mapping[str, Any]) -> str:
    """One object as a YAML document."""
    metadata = {name: value for name, value in manifest["metadata"].items() if name not in _OWNED}
    plain = {**manifest, "metadata": metadata}
    spec = plain.get("spec")
    # Admission sets priority from the class, and refuses one that it did not set.
    if manifest.get("kind") == "Pod" and isinstance(spec, Mapping) and spec.get("priorityClassName"):
        plain["spec"] = {name: value for name, value in spec.items() if name != "priority"}
    return "---\n" + yaml.dump(plain, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=1000)

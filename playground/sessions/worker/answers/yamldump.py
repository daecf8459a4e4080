"""Objects as YAML that kubectl takes: what looks like a number but is text is quoted."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import yaml

_NUMBERLIKE = re.compile(r"[-+.]?\d.*|[-+]?\.(inf|nan).*", re.IGNORECASE)


class _Dumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]  # libyaml's where it is installed
    """No anchors; kubectl's YAML reads more texts as numbers than Python's does, so these are quoted."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _text(dumper: Any, value: str) -> Any:
    style = '"' if _NUMBERLIKE.fullmatch(value) else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


_Dumper.add_representer(str, _text)


def document(manifest: Mapping[str, Any]) -> str:
    """One object as a YAML document."""
    return "---\n" + yaml.dump(manifest, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=1000)

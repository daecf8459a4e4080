"""Paths into objects as the corpus of worlds writes them: `status.conditions[type=Ready].status`, `labels["a.b/c"]`, `containers[0]`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

MISSING: Any = object()
_STEP = re.compile(
    r'\["(?P<key>[^"]*)"\]|\[(?P<index>\d+)\]|\[(?P<field>[^=\]]+)=(?P<value>[^\]]*)\]|\.?(?P<name>[^.\[\]]+)'
)


@lru_cache(maxsize=1024)
def _steps(path: str) -> tuple[tuple[str, str, str], ...]:
    steps, at = [], 0
    while at < len(path):
        match = _STEP.match(path, at)
        if match is None:
            raise ValueError(f"{path!r} is not a path: at character {at}")
        kind = str(match.lastgroup)
        if kind == "value":
            steps.append(("field", match["field"], match["value"]))
        else:
            steps.append((kind, match[kind], ""))
        at = match.end()
    return tuple(steps)


def look_up(value: Any, path: str) -> Any:
    """Return the value at a path; MISSING if a step leads nowhere."""
    for kind, name, wanted in _steps(path):
        if kind in ("name", "key"):
            value = value.get(name, MISSING) if isinstance(value, Mapping) else MISSING
        elif not isinstance(value, list | tuple):
            return MISSING
        elif kind == "index":
            value = value[int(name)] if int(name) < len(value) else MISSING
        else:
            value = next((e for e in value if isinstance(e, Mapping) and str(e.get(name)) == wanted), MISSING)
        if value is MISSING:
            return MISSING
    return value


def is_absent(value: Any) -> bool:
    """Missing, null, an empty string or an empty list."""
    return value is MISSING or value is None or value in ("", [], ())

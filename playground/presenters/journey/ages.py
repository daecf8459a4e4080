"""Ages as kubectl prints them: 12s, 2m5s, 14m, 3h20m, 2d4h.

kube: apimachinery/pkg/util/duration/duration.go (HumanDuration) @ v1.34.1
"""

from __future__ import annotations

SECOND = 1_000_000_000
_MINUTE, _HOUR, _DAY, _YEAR = 60, 3600, 86_400, 365 * 86_400

# (below so many seconds, unit, smaller unit beside it); the part is left out where it is 0
_STEPS = (
    (2 * _MINUTE, (1, "s"), None),
    (10 * _MINUTE, (_MINUTE, "m"), (1, "s")),
    (3 * _HOUR, (_MINUTE, "m"), None),
    (8 * _HOUR, (_HOUR, "h"), (_MINUTE, "m")),
    (2 * _DAY, (_HOUR, "h"), None),
    (8 * _DAY, (_DAY, "d"), (_HOUR, "h")),
    (2 * _YEAR, (_DAY, "d"), None),
    (8 * _YEAR, (_YEAR, "y"), (_DAY, "d")),
)


def age(ns: int) -> str:
    """A length of virtual time in kubectl's words."""
    seconds = max(ns, 0) // SECOND
    for below, (unit, name), part in _STEPS:
        if seconds < below:
            whole, rest = divmod(seconds, unit)
            also = rest // part[0] if part else 0
            return f"{whole}{name}" + (f"{also}{part[1]}" if part and also else "")
    return f"{seconds // _YEAR}y"

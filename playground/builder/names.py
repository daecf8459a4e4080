"""Names of many objects from one pattern: `node-{i}`, `{zone}-worker-{i}`."""

from __future__ import annotations

from collections.abc import Sequence

from django.utils.translation import gettext as _


class PatternError(ValueError):
    """A pattern that cannot name the objects asked for."""


def expand(pattern: str, count: int, first: int = 1, zones: Sequence[str] = ()) -> list[str]:
    """`count` names. {i} counts from `first`, {zone} is the object's zone (zones take turns).

    A pattern without {i} gets `-{i}` at its end where more than one object is asked for.
    """
    if "{i}" not in pattern and count > 1:
        pattern = f"{pattern}-{{i}}"
    names = [
        pattern.replace("{i}", str(first + index)).replace(
            "{zone}", zones[index % len(zones)] if zones else ""
        )
        for index in range(count)
    ]
    if left := [name for name in names[:1] if "{" in name or "}" in name]:
        raise PatternError(_("“%(name)s” holds a brace; a pattern knows {i} and {zone}") % {"name": left[0]})
    if len(set(names)) < len(names):
        raise PatternError(_("“%(pattern)s” names two objects alike; put {i} into it") % {"pattern": pattern})
    return names

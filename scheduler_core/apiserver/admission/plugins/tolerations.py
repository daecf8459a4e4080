"""Lists of tolerations, merged and bounded.

kube: pkg/util/tolerations/tolerations.go @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Toleration = Mapping[str, Any]


def merge_tolerations(first: Sequence[Toleration], second: Sequence[Toleration]) -> list[Toleration]:
    """Both lists without those that another one covers."""
    everything = [*first, *second]
    kept: list[Toleration] = []
    for i, each in enumerate(everything):
        if any(covers(other, each) for other in kept):
            continue
        if any(not _same(each, other) and covers(other, each) for other in everything[i + 1 :]):
            continue
        kept.append(each)
    return kept


def within(tolerations: Sequence[Toleration], allowed: Sequence[Toleration]) -> bool:
    """Return whether each toleration is covered by an allowed one; an empty list allows all."""
    return not allowed or all(any(covers(other, each) for other in allowed) for each in tolerations)


def covers(wide: Toleration, narrow: Toleration) -> bool:
    """Return whether the first toleration tolerates at least as much as the second."""
    if _same(wide, narrow):
        return True
    operator, effect = wide.get("operator") or "", wide.get("effect") or ""
    key = wide.get("key") or ""
    if (narrow.get("key") or "") != key and (key or operator != "Exists"):
        return False
    if effect and (narrow.get("effect") or "") != effect:
        return False
    if effect == "NoExecute" and wide.get("tolerationSeconds") is not None:
        seconds = narrow.get("tolerationSeconds")
        if seconds is None or seconds > wide["tolerationSeconds"]:
            return False
    if operator == "Exists":
        return True
    return (
        operator in ("", "Equal")
        and narrow.get("operator") == "Equal"
        and (narrow.get("value") or "") == (wide.get("value") or "")
    )


def _same(one: Toleration, other: Toleration) -> bool:
    return _plain(one) == _plain(other)


def _plain(toleration: Toleration) -> dict[str, Any]:
    return {name: value for name, value in toleration.items() if value not in (None, "")}

"""Names that are spelt almost alike, of which one may have been meant by the other."""

from __future__ import annotations

from difflib import SequenceMatcher

ALIKE = 0.85


def alike(one: str, other: str) -> bool:
    """Misspelt, not numbered: digits tell names apart."""
    if [each for each in one if each.isdigit()] != [each for each in other if each.isdigit()]:
        return False
    return likeness(one, other) >= ALIKE or sorted(one.lower()) == sorted(other.lower())


def likeness(one: str, other: str) -> float:
    return SequenceMatcher(None, one.lower(), other.lower()).ratio()

"""Numbers that may be given as a percentage, and hashes of templates.

kube: apimachinery/pkg/util/intstr/intstr.go, pkg/controller/controller_utils.go (ComputeHash) @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_core.apimachinery.objects.spec import canonical

_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"  # kube's, which spells no words
_OFFSET, _PRIME = 2166136261, 16777619


def resolve_percentage(value: int | str | None, total: int, up: bool) -> int:
    """A number, or that percentage of a total, rounded up or down; 0 for none and for what is neither."""
    if value is None or isinstance(value, int):
        return value or 0
    number = value.removesuffix("%")
    if number == value or not number.isdecimal():
        return 0
    product = int(number) * total
    return -(-product // 100) if up else product // 100


def template_hash(template: Mapping[str, Any], collisions: int | None = None) -> str:
    """The name of a template: FNV-1a, written in letters as kube writes it; `collisions` gives another where it is taken.

    DEVIATION: kube hashes Go's dump of the struct, here it is the canonical JSON. So the letters differ, and their kind does not.
    """
    data = canonical(template).encode()
    if collisions is not None:
        data += collisions.to_bytes(8, "little")
    number = _OFFSET
    for byte in data:
        number = ((number ^ byte) * _PRIME) & 0xFFFFFFFF
    return "".join(_ALPHABET[ord(digit) % len(_ALPHABET)] for digit in str(number))

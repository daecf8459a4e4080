"""Numbers as a manifest can hold them."""

from __future__ import annotations

_LEAST, _MOST = -(2**63), 2**64 - 1


def fitting(number: int) -> int | float:
    """An integer as JSON data keeps it: beyond 64 bits it is a float, as kubectl's reader makes it. ValueError
    where no float is that large.

    kube: sigs.k8s.io/yaml and apimachinery/pkg/util/json @ v1.34.1
    """
    if _LEAST <= number <= _MOST:
        return number
    try:
        return float(number)
    except OverflowError:
        raise ValueError("a number is out of range") from None


def parse_integer(text: str) -> int | float:
    """An integer of a JSON text."""
    return fitting(int(text))

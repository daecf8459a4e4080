"""Quantities: exact numbers with kube's suffixes (500m, 2, 1.5Gi, 1e3).

Inside, a quantity is an integer count of nanos: kube rounds anything finer up to one nano, away from zero.
DEVIATION: kube's 64-bit arithmetic overflows above 2^63-1; here such a quantity saturates, so that no
decision rests on a wrapped number.

kube: apimachinery/pkg/api/resource/{quantity,suffix}.go @ v1.34.1
"""

import re
from fractions import Fraction
from functools import lru_cache

NANO = 1_000_000_000
MAX_INT64 = 2**63 - 1
_MAX_TEXT = 128  # characters; kube has no limit, but nobody writes a longer number by intent
_MAX_EXPONENT = 40  # beyond this every value saturates or rounds up to one nano anyway

SHAPE = re.compile(r"([+-]?)([0-9]*)(?:\.([0-9]*))?([eEinumkKMGTP]*[-+]?[0-9]*)\Z")
_EXPONENT = re.compile(r"[eE]([+-]?[0-9]+)\Z")
DECIMALS = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
BINARIES = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
EXPECTED = "is not a quantity. Write it as 500m or 2"

Quantity = str | int | float | Fraction


class BadQuantity(ValueError):
    """A text that is not a quantity."""


def nanos(quantity: Quantity) -> int:
    """Return the quantity in billionths, exactly. Raise BadQuantity."""
    if isinstance(quantity, str):
        return _parse(quantity)
    if isinstance(quantity, bool):
        raise BadQuantity(f"{quantity!r} {EXPECTED}")
    if isinstance(quantity, int):
        return quantity * NANO
    if isinstance(quantity, Fraction):
        return _away(quantity.numerator * NANO, quantity.denominator)
    return _parse(repr(quantity))


def parse_quantity(quantity: Quantity) -> Fraction:
    """Return the exact value of a quantity in a manifest. Raise BadQuantity."""
    return Fraction(nanos(quantity), NANO)


def value(quantity: Quantity) -> int:
    """Return whole units, rounded up (away from zero) and limited to int64."""
    return _saturate(_away(nanos(quantity), NANO))


def milli_of_nanos(count: int) -> int:
    return _saturate(_away(count, 1_000_000))


def value_of_nanos(count: int) -> int:
    return _saturate(_away(count, NANO))


def format_quantity(quantity: Quantity, binary: bool = False) -> str:
    """Kube's canonical text: the largest suffix that needs no fraction (`binary`: Ki, Mi ... where exact,
    from 1024 on).
    """
    count = nanos(quantity)
    if count == 0:
        return "0"
    if binary and count % NANO == 0 and abs(count) >= 1024 * NANO:
        return _with_suffix(count // NANO, 1024, ("", *BINARIES))
    return _with_suffix(count, 1000, tuple(DECIMALS))


@lru_cache(maxsize=65536)
def _parse(text: str) -> int:
    match = SHAPE.match(text) if text and len(text) <= _MAX_TEXT else None
    if match is None:
        raise BadQuantity(f"{text!r} {EXPECTED}")
    sign, whole, fraction, suffix = match.groups(default="")
    digits, places = int(whole + fraction or "0"), len(fraction)
    if suffix in BINARIES:
        count = _away(digits * NANO << BINARIES[suffix], 10**places)
        count = min(count, MAX_INT64 * NANO)
    else:
        exponent = _exponent(suffix, text) + 9 - places
        count = digits * 10**exponent if exponent >= 0 else _away(digits, 10**-exponent)
    return -count if sign == "-" else count


def _exponent(suffix: str, text: str) -> int:
    known = DECIMALS.get(suffix)
    if known is not None:
        return known
    match = _EXPONENT.match(suffix)
    if match is None:
        raise BadQuantity(f"{text!r} {EXPECTED}")
    return max(-_MAX_EXPONENT - _MAX_TEXT, min(_MAX_EXPONENT, int(match.group(1))))


def _away(numerator: int, denominator: int) -> int:
    """The quotient rounded away from zero."""
    return -(-numerator // denominator) if numerator >= 0 else numerator // denominator


def _saturate(number: int) -> int:
    return max(-MAX_INT64 - 1, min(MAX_INT64, number))


def _with_suffix(count: int, base: int, suffixes: tuple[str, ...]) -> str:
    step = 0
    while step + 1 < len(suffixes) and count % base == 0:
        count //= base
        step += 1
    return f"{count}{suffixes[step]}"

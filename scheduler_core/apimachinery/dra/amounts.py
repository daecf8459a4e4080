"""Amounts: a device's capacities and counters as kube computes with them, and writes them back.

What is computed with is a whole number of nanos. A text comes back as it was written where kube keeps it, else in
its canonical form; so does what tells two Go values apart that stand for the same amount (`==` of a struct).

kube: apimachinery/pkg/api/resource/{quantity,amount,suffix}.go @ v1.34.1
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from scheduler_core.apimachinery.objects.quantity import (
    BINARIES,
    DECIMALS,
    MAX_INT64,
    NANO,
    SHAPE,
    BadQuantity,
    Quantity,
    format_quantity,
    nanos,
    value_of_nanos,
)

BINARY, DECIMAL, EXPONENT = "BinarySI", "DecimalSI", "DecimalExponent"

_MAX_DIGITS = 18  # of an int64 that takes part in kube's quick way


@dataclass(frozen=True, slots=True)
class Amount:
    """An amount of `nanos`. `format` is kube's name of its format; `kept` is the text that kube stores ("": none).

    `scale` is the power of ten of kube's quick representation, or None for arbitrary precision, which Go's `==` never finds equal to
    another.
    """

    nanos: int
    format: str = DECIMAL
    kept: str = ""
    scale: int | None = 0

    @classmethod
    def of(cls, quantity: Quantity | None) -> Amount:
        """Read a quantity from a manifest; an invalid quantity (such objects can't be stored) counts as zero."""
        return _read(str(quantity)) if quantity is not None else ZERO

    @property
    def value(self) -> int:
        """The amount in whole units, rounded up; kube's Value()."""
        return value_of_nanos(self.nanos)

    def same(self, other: Amount) -> bool:
        """Go's `==` of two quantities."""
        return self.scale is not None and self == other

    def text(self) -> str:
        """Return the amount as kube writes it in JSON."""
        if self.kept:
            return self.kept
        if self.format == EXPONENT:
            # Format billionths with an exponent in steps of 3: 1500e3.
            count = self.nanos
            if count == 0:
                return "0"
            exponent = -9
            while count % 1000 == 0:
                count, exponent = count // 1000, exponent + 3
            return f"{count}e{exponent}" if exponent else str(count)
        return format_quantity(f"{self.nanos}n", self.format == BINARY)


def whole(number: int) -> Amount:
    """Return kube's resource.NewQuantity(number, BinarySI)."""
    return Amount(number * NANO, BINARY)


@lru_cache(maxsize=16384)
def _read(text: str) -> Amount:
    text = text.strip()
    try:
        count = nanos(text)
    except BadQuantity:
        return ZERO
    if text == "0":
        return Amount(0, DECIMAL, text)
    sign, num, denom, suffix = _parts(text)
    if suffix in BINARIES:
        return _binary(text, count, num, denom, BINARIES[suffix], sign)
    exponent = DECIMALS.get(suffix)
    form = EXPONENT if exponent is None else DECIMAL
    scale = (int(suffix[1:]) if exponent is None else exponent) - len(denom)
    shifted = num + denom
    if len(shifted) > _MAX_DIGITS or scale < -9:
        return Amount(count, form, "", None)
    kept = scale % 3 == 0 and not shifted.endswith("000") and not shifted.startswith("0")
    return Amount(count, form, text if kept else "", scale)


def _parts(text: str) -> tuple[str, str, str, str]:
    """Sign, digits before the point without leading zeros, digits after it, and the suffix."""
    match = SHAPE.match(text)
    assert match is not None  # it is a quantity
    sign, num, denom, suffix = match.groups(default="")
    return sign, num.lstrip("0") or "0", denom, suffix


def _binary(text: str, count: int, num: str, denom: str, exponent: int, sign: str) -> Amount:
    quick = not denom and 14 - len(num) - int(exponent * 3 / 10) >= 0
    if not quick or int(num) << exponent > MAX_INT64:
        return Amount(count, DECIMAL if 0 < count < NANO else BINARY, "", None)
    return Amount(count, BINARY, text if int(num) & 7 else "")


def format_nanos(count: int) -> str:
    """Format a computed amount, with binary suffixes if it is large."""
    return format_quantity(f"{count}n", True)


ZERO = Amount(0)

"""Arithmetic as Go does it, the same bits on every machine.

kube relies on Go's math package; source of the method: FreeBSD's e_log.c, which Go's math.Log follows.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

_LN2_HIGH = float.fromhex("0x1.62e42fee00000p-1")
_LN2_LOW = float.fromhex("0x1.a39ef35793c76p-33")
_ODD = (6.666666666666735130e-01, 2.857142874366239149e-01, 1.818357216161805012e-01, 1.479819860511658591e-01)
_EVEN = (3.999999999940941908e-01, 2.222219843214978396e-01, 1.531383769920937332e-01)


@lru_cache(maxsize=65536)
def log(x: float) -> float:
    """Natural logarithm of a positive finite number; it may differ from the C library's in the last bit."""
    fraction, exponent = math.frexp(x)
    if fraction < math.sqrt(2) / 2:
        fraction *= 2
        exponent -= 1
    f = fraction - 1
    s = f / (2 + f)
    s2 = s * s
    s4 = s2 * s2
    odd = s2 * (_ODD[0] + s4 * (_ODD[1] + s4 * (_ODD[2] + s4 * _ODD[3])))
    even = s4 * (_EVEN[0] + s4 * (_EVEN[1] + s4 * _EVEN[2]))
    half = 0.5 * f * f
    return exponent * _LN2_HIGH - ((half - (s * (half + (odd + even)) + exponent * _LN2_LOW)) - f)


def round_half_up(x: NDArray[np.float64]) -> NDArray[np.int64]:
    """Elementwise math.Round of numbers that are not negative: halves go up."""
    whole = np.floor(x)
    return (whole + (x - whole >= 0.5)).astype(np.int64)


def round_half_away(x: NDArray[np.float64]) -> NDArray[np.int64]:
    """Go's math.Round: to the nearest integer, halves away from zero."""
    whole = np.trunc(x)
    return (whole + np.copysign(np.abs(x - whole) >= 0.5, x)).astype(np.int64)


def divide(a: NDArray[np.int64], b: NDArray[np.int64] | int) -> NDArray[np.int64]:
    """Elementwise a / b as Go divides int64: truncated toward zero. `b` is positive."""
    quotient = a // b
    if a.size and a.min() < 0:
        quotient = quotient + ((quotient < 0) & (quotient * b != a))
    return quotient

"""Values that no field, no address and no message expects."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle, islice

Value = str | bytes

LONG = "x" * 70_000
SCRIPT = "<script>alert(1)</script>"
TEXTS: tuple[Value, ...] = (
    "x",
    "a: x",
    "a: 1",
    "[1]",
    '"x"',
    "1",
    "- a",
    "",
    "-1",
    "\0",
    b"\xed\xa0\x80",
    b"\xff\xfe",
    "9" * 400,
    "9223372036854775808",
    "1e309",
    "NaN",
    "٣",
    "²",
    "null",
    "{}",
    "a: {b: [1, {c: x}]}",
    "a: &a [*a]",
    "!!python/object/apply:os.system [x]",
    "[" * 5_000,
    "x\r\nSet-Cookie: stolen=1",
    SCRIPT,
    "javascript:alert(1)",
    "../../../../../../etc/passwd",
    "//evil.example/",
    "/",
    "a/b/c",
    "{{ 7*7 }}{% debug %}",
    "%s%n%(x)s{0.__class__}",
    "' OR 1=1 --",
    "=cmd|' /C calc'!A0",
    "2026-13-45",
    "1Ei",
    "1e999",
    "\u202e\u200b\ufeff",
    "é" * 300,
    "\U0001f600",
    LONG,
)
# Parts of an address: shorter, and a slash is another address.
PARTS: tuple[str, ...] = (
    "x",
    "0",
    "-1",
    "9" * 400,
    "9223372036854775808",
    "%00",
    "%ED%A0%80",
    "%FF",
    "%2F",
    "%2e%2e%2f%2e%2e%2fetc%2fpasswd",
    "%0D%0ASet-Cookie:%20stolen=1",
    "%3Cscript%3Ealert(1)%3C/script%3E",
    "%25s%7B0%7D",
    "%D9%A3",
    "...",
    "a" * 3_000,
    "%F0%9F%98%80",
    "%E2%80%AE",
    "{{7*7}}",
    "%27",
)


def some(values: tuple[Value, ...], count: int, turn: int) -> Iterator[Value]:
    """So many of the values, others at each turn: a short walk tries all of them, though not at each place."""
    start = turn * count % len(values)
    return islice(cycle(values), start, start + min(count, len(values)))

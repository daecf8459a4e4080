"""Regular expressions, with RE2's syntax and its time that is linear in the text.

kube: vendor/github.com/google/cel-go/common/types/string.go, apiserver/pkg/cel/library/regex.go @ v1.34.1
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

import re2

from scheduler_core.apimachinery.cel.operators import lacking
from scheduler_core.apimachinery.cel.values import NO_OVERLOAD, Failure

_OPTIONS = re2.Options()
_OPTIONS.log_errors = False


_ANY_BYTE = re.compile(r"(?:[^\\]|\\[^C])*\\C", re.DOTALL)  # RE2 has it, Go does not


class BadPattern(ValueError):
    """A pattern that does not compile."""


@lru_cache(maxsize=256)
def compile_pattern(pattern: str) -> object:
    """BadPattern where RE2 does not take it."""
    if _ANY_BYTE.match(pattern):
        raise BadPattern("error parsing regexp: invalid escape sequence: `\\C`")
    try:
        return re2.compile(pattern, _OPTIONS)
    except re2.error as error:
        raise BadPattern(f"error parsing regexp: {_go_words(error)}") from None


# What RE2 says, and what Go's regexp says of the same.
_WORDS = {
    "missing )": "missing closing )",
    "missing ]": "missing closing ]",
    "no argument for repetition operator": "missing argument to repetition operator",
    "invalid repetition size": "invalid repeat count",
    "bad repetition operator": "invalid nested repetition operator",
    "invalid perl operator": "invalid or unsupported Perl syntax",
    "invalid named capture group": "invalid named capture",
    "trailing \\": "trailing backslash at end of expression",
}


def _go_words(error: Exception) -> str:
    text = error.args[0] if error.args else ""
    shown = text.decode(errors="replace") if isinstance(text, bytes) else str(text)
    what, _, where = shown.partition(": ")
    return f"{_WORDS.get(what, what)}: `{where}`"


def _matches(text: object, pattern: object) -> object:
    if not isinstance(text, str):
        return lacking(text, "matches")
    if not isinstance(pattern, str):
        return NO_OVERLOAD
    try:
        return compile_pattern(pattern).search(text) is not None  # type: ignore[attr-defined]
    except BadPattern as error:
        return Failure(str(error))


def _find(text: str, pattern: str) -> object:
    try:
        match = compile_pattern(pattern).search(text)  # type: ignore[attr-defined]
    except BadPattern as error:
        return Failure(f"Illegal regex: {error}")
    return "" if match is None else match.group(0)


def _find_all(text: str, pattern: str, limit: int = -1) -> object:
    try:
        found = compile_pattern(pattern).finditer(text)  # type: ignore[attr-defined]
    except BadPattern as error:
        return Failure(f"Illegal regex: {error}")
    words: list[object] = []
    before = None
    for match in found:
        if 0 <= limit <= len(words):
            break
        if match.span() != before:  # the binding tells an empty match at the end twice
            words.append(match.group(0))
        before = match.span()
    return words


PATTERNS: dict[str, Callable[..., object]] = {
    "matches": _matches,
    "string_find_string": _find,
    "string_find_all_string": _find_all,
    "string_find_all_string_int": _find_all,
}

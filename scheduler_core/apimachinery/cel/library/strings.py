"""Members of strings.

kube: vendor/github.com/google/cel-go/common/types/string.go, ext/strings.go @ v1.34.1 (cel-go v0.26.0)
"""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache

import re2

from scheduler_core.apimachinery.cel.library.formatting import format_text
from scheduler_core.apimachinery.cel.limits import MOST_CHARACTERS, check_length
from scheduler_core.apimachinery.cel.operators import lacking
from scheduler_core.apimachinery.cel.texts import ESCAPES, go_value
from scheduler_core.apimachinery.cel.values import NO_OVERLOAD, Failure

# Regular expressions, with RE2's syntax and its time that is linear in the text.
# kube: vendor/github.com/google/cel-go/common/types/string.go, apiserver/pkg/cel/library/regex.go @ v1.34.1

_OPTIONS = re2.Options()
_OPTIONS.log_errors = False


_ANY_BYTE = re.compile(r"(?:[^\\]|\\[^C])*\\C", re.DOTALL)  # RE2 has it, Go does not


class BadPattern(ValueError):
    """A pattern that does not compile."""


@lru_cache(maxsize=256)
def compile_pattern(pattern: str) -> object:
    """Compile an RE2 pattern. Raise BadPattern in Go's words if RE2 rejects the pattern."""
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


def matches(text: object, pattern: object) -> object:
    """Return whether an RE2 pattern matches part of a text, or a Failure."""
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
    "matches": matches,
    "string_find_string": _find,
    "string_find_all_string": _find_all,
    "string_find_all_string_int": _find_all,
}

# What Go's unicode.IsSpace takes for one.
_BLANK = "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
_UPPER = re.compile("[A-Z]+")
_LOWER = re.compile("[a-z]+")


def _out_of_range(index: int) -> Failure:
    return Failure(f"index out of range: {index}")


def _both_strings(test: Callable[[str, str], bool]) -> Callable[..., object]:
    def checked(text: object, part: object) -> object:
        return test(text, part) if isinstance(text, str) and isinstance(part, str) else NO_OVERLOAD

    return checked


def _index_of(text: str, part: str, offset: int = 0) -> object:
    if not part:
        return offset
    return _out_of_range(offset) if offset < 0 else text.find(part, offset)


def _last_index_from(text: str, part: str, offset: int) -> object:
    """The last place at or before an offset."""
    if not part:
        return offset
    if offset < 0:
        return _out_of_range(offset)
    return -1 if offset >= len(text) else text.rfind(part, 0, offset + len(part))


def _replace(text: str, old: str, new: str, count: int = -1) -> object:
    places = text.count(old) if count < 0 else min(count, text.count(old))
    check_length(len(text) + places * len(new), MOST_CHARACTERS)
    return text.replace(old, new, count)


def _split(text: str, separator: str, count: int = -1) -> object:
    if count == 0:
        return []
    if separator:
        return text.split(separator, count - 1 if count > 0 else -1)
    if 0 < count < len(text):
        return [*text[: count - 1], text[count - 1 :]]
    return [*text]


def _substring_range(text: str, start: int, end: int) -> object:
    if start > end:
        return Failure(f"invalid substring range. start: {start}, end: {end}")
    for index in (start, end):
        if not 0 <= index <= len(text):
            return _out_of_range(index)
    return text[start:end]


def _join(parts: Sequence[object], separator: str = "") -> object:
    for part in parts:
        if not isinstance(part, str):
            return Failure(f"join: invalid input: {go_value(part)}")
    words = [str(part) for part in parts]
    check_length(sum(map(len, words)) + len(separator) * len(words), MOST_CHARACTERS)
    return separator.join(words)


def _quote(text: str) -> str:
    return f'"{"".join(ESCAPES.get(character, character) for character in text)}"'


STRINGS: dict[str, Callable[..., object]] = {
    "contains_string": _both_strings(lambda text, part: part in text),
    "ends_with_string": _both_strings(str.endswith),
    "starts_with_string": _both_strings(str.startswith),
    "string_char_at_int": lambda text, at: text[at : at + 1] if 0 <= at <= len(text) else _out_of_range(at),
    "string_format": format_text,
    "string_index_of_string": _index_of,
    "string_index_of_string_int": _index_of,
    "list_join": _join,
    "list_join_string": _join,
    "string_last_index_of_string": lambda text, part: text.rfind(part) if part else len(text),
    "string_last_index_of_string_int": _last_index_from,
    "string_lower_ascii": lambda text: _UPPER.sub(lambda match: match[0].lower(), text),
    "string_replace_string_string": _replace,
    "string_replace_string_string_int": _replace,
    "string_split_string": _split,
    "string_split_string_int": _split,
    "strings_quote": _quote,
    "string_substring_int": lambda text, start: text[start:] if 0 <= start <= len(text) else _out_of_range(start),
    "string_substring_int_int": _substring_range,
    "string_trim": lambda text: text.strip(_BLANK),
    "string_upper_ascii": lambda text: _LOWER.sub(lambda match: match[0].upper(), text),
}

"""Names as kube checks them; each function returns what is wrong, in kube's words (empty: nothing).

kube: apimachinery/pkg/util/validation/validation.go @ v1.34.1
"""

from __future__ import annotations

import re
from functools import lru_cache

_QNAME = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"{_LABEL}(\.{_LABEL})*"
_VALUE = f"({_QNAME})?"
_LABEL1035 = "[a-z]([-a-z0-9]*[a-z0-9])?"

_is_qname = re.compile(_QNAME + r"\Z").match
_is_label = re.compile(_LABEL + r"\Z").match
_is_subdomain = re.compile(_SUBDOMAIN + r"\Z").match
_is_value = re.compile(_VALUE + r"\Z").match
_is_label1035 = re.compile(_LABEL1035 + r"\Z").match

_NOT_A_SEGMENT = (".", "..")
_NOT_IN_A_SEGMENT = ("/", "%")
_QNAME_WORDS = (
    "must consist of alphanumeric characters, '-', '_' or '.', "
    "and must start and end with an alphanumeric character"
)


def _max_length(limit: int) -> str:
    return f"must be no more than {limit} characters"


def _regex(words: str, shape: str, *examples: str) -> str:
    shown = " or ".join(f"'{example}', " for example in examples)
    return f"{words} (e.g. {shown}regex used for validation is '{shape}')"


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())


def qualified_name_errors(name: str) -> tuple[str, ...]:
    """A label, annotation or resource name: an optional DNS prefix, '/', a name of at most 63 characters."""
    return _cached_name(name) if len(name) <= _CACHED else _qualified_name(name)


def label_value_errors(value: str) -> tuple[str, ...]:
    return _cached_value(value) if len(value) <= _CACHED else _label_value(value)


def _qualified_name(name: str) -> tuple[str, ...]:
    words = _regex(_QNAME_WORDS, _QNAME, "MyName", "my.name", "123-abc")
    parts = name.split("/")
    if len(parts) > 2:
        return (
            f"a qualified name {words} with an optional DNS subdomain prefix and '/' "
            "(e.g. 'example.com/MyName')",
        )
    problems: list[str] = []
    if len(parts) == 2:
        prefix = parts[0]
        if prefix:
            problems += [f"prefix part {problem}" for problem in subdomain_errors(prefix)]
        else:
            problems.append("prefix part must be non-empty")
    last = parts[-1]
    if not last:
        problems.append("name part must be non-empty")
    elif _size(last) > 63:
        problems.append("name part " + _max_length(63))
    if not _is_qname(last):
        problems.append("name part " + words)
    return tuple(problems)


def _label_value(value: str) -> tuple[str, ...]:
    problems = []
    if _size(value) > 63:
        problems.append(_max_length(63))
    if not _is_value(value):
        words = (
            "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
            "and must start and end with an alphanumeric character"
        )
        problems.append(_regex(words, _VALUE, "MyValue", "my_value", "12345"))
    return tuple(problems)


_CACHED = 320  # characters: a valid name has no more, and what is longer is not worth remembering
_cached_name = lru_cache(maxsize=8192)(_qualified_name)
_cached_value = lru_cache(maxsize=32768)(_label_value)


def subdomain_errors(name: str) -> tuple[str, ...]:
    """RFC 1123 subdomain: names of most objects."""
    problems = []
    if _size(name) > 253:
        problems.append(_max_length(253))
    if not _is_subdomain(name):
        words = (
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', "
            "and must start and end with an alphanumeric character"
        )
        problems.append(_regex(words, _SUBDOMAIN, "example.com"))
    return tuple(problems)


def label_errors(name: str) -> tuple[str, ...]:
    """RFC 1123 label: names of namespaces and containers."""
    problems = []
    if _size(name) > 63:
        problems.append(_max_length(63))
    if not _is_label(name):
        if _is_subdomain(name):
            problems.append("must not contain dots")
        else:
            words = (
                "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', "
                "and must start and end with an alphanumeric character"
            )
            problems.append(_regex(words, _LABEL, "my-name", "123-abc"))
    return tuple(problems)


def path_segment_errors(name: str) -> tuple[str, ...]:
    """A part of an address: names of roles and their bindings.

    kube: apimachinery/pkg/api/validation/path/name.go @ v1.34.1
    """
    if name in _NOT_A_SEGMENT:
        return (f"may not be '{name}'",)
    return tuple(f"may not contain '{part}'" for part in _NOT_IN_A_SEGMENT if part in name)


def label1035_errors(name: str) -> tuple[str, ...]:
    """RFC 1035 label: names of services."""
    problems = []
    if _size(name) > 63:
        problems.append(_max_length(63))
    if not _is_label1035(name):
        words = (
            "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
            "alphabetic character, and end with an alphanumeric character"
        )
        problems.append(_regex(words, _LABEL1035, "my-name", "abc-123"))
    return tuple(problems)

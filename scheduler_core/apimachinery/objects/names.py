"""Names as kube checks them; each function returns what is wrong, in kube's words (empty: nothing).

kube: apimachinery/pkg/util/validation/validation.go @ v1.34.1
"""

import re
from collections.abc import Callable
from functools import lru_cache

_QNAME = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"{_LABEL}(\.{_LABEL})*"

_is_qname = re.compile(_QNAME + r"\Z").match
_is_subdomain = re.compile(_SUBDOMAIN + r"\Z").match
_UNDERSCORED = r"_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
_HEADER = "[-A-Za-z0-9]+"
_is_header = re.compile(_HEADER + r"\Z").match
_is_port_name = re.compile(r"[-a-z0-9]+\Z").match
_is_variable = re.compile(r"[ -<>-~]*\Z").match

_NOT_A_SEGMENT = (".", "..")
_NOT_IN_A_SEGMENT = ("/", "%")
_QNAME_WORDS = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"
)


def _max_length(limit: int) -> str:
    return f"must be no more than {limit} characters"


def _regex(words: str, shape: str, *examples: str) -> str:
    shown = " or ".join(f"'{example}', " for example in examples)
    return f"{words} (e.g. {shown}regex used for validation is '{shape}')"


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())


def _shaped(most: int, shape: str, words: str, *examples: str) -> Callable[[str], tuple[str, ...]]:
    """A name of at most so many bytes, and of the shape that a regular expression describes."""
    matches = re.compile(shape + r"\Z").match
    long, wrong = (_max_length(most),), _regex(words, shape, *examples)

    def check(name: str) -> tuple[str, ...]:
        problems = long if _size(name) > most else ()
        return problems if matches(name) else (*problems, wrong)

    return check


def list_qualified_name_errors(name: str) -> tuple[str, ...]:
    """A label, annotation or resource name: an optional DNS prefix, '/', a name of at most 63 characters."""
    return _cached_name(name) if len(name) <= _CACHED else _check_qualified_name(name)


def label_value_errors(value: str) -> tuple[str, ...]:
    return _cached_value(value) if len(value) <= _CACHED else _label_value(value)


def _check_qualified_name(name: str) -> tuple[str, ...]:
    words = _regex(_QNAME_WORDS, _QNAME, "MyName", "my.name", "123-abc")
    parts = name.split("/")
    if len(parts) > 2:
        return (f"a qualified name {words} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')",)
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


_label_value = _shaped(
    63,
    f"({_QNAME})?",
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
    "and must start and end with an alphanumeric character",
    *("MyValue", "my_value", "12345"),
)
_CACHED = 320  # characters: a valid name has no more, and what is longer is not worth remembering
_cached_name = lru_cache(maxsize=8192)(_check_qualified_name)
_cached_value = lru_cache(maxsize=32768)(_label_value)


subdomain_errors = _shaped(
    253,
    _SUBDOMAIN,
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', "
    "and must start and end with an alphanumeric character",
    "example.com",
)
"""RFC 1123 subdomain: names of most objects."""
_label = _shaped(
    63,
    _LABEL,
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', "
    "and must start and end with an alphanumeric character",
    *("my-name", "123-abc"),
)


def label_errors(name: str) -> tuple[str, ...]:
    """RFC 1123 label: names of namespaces and containers."""
    problems = _label(name)
    dotted = "." in name and _is_subdomain(name)
    return (*problems[:-1], "must not contain dots") if dotted else problems


def path_segment_errors(name: str) -> tuple[str, ...]:
    """A part of an address: names of roles and their bindings.

    kube: apimachinery/pkg/api/validation/path/name.go @ v1.34.1
    """
    if name in _NOT_A_SEGMENT:
        return (f"may not be '{name}'",)
    return tuple(f"may not contain '{part}'" for part in _NOT_IN_A_SEGMENT if part in name)


label1035_errors = _shaped(
    63,
    "[a-z]([-a-z0-9]*[a-z0-9])?",
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
    "alphabetic character, and end with an alphanumeric character",
    *("my-name", "abc-123"),
)
"""RFC 1035 label: names of services."""
list_underscored_subdomain_errors = _shaped(
    253,
    rf"{_UNDERSCORED}(\.{_UNDERSCORED})*",
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', "
    "and must start and end with an alphanumeric character",
    "example.com",
)
"""A subdomain that may have underscores: search paths of DNS."""
wildcard_errors = _shaped(
    253,
    rf"\*\.{_SUBDOMAIN}",
    "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of "
    "lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character",
    "*.example.com",
)
"""A subdomain that begins with `*.`: hosts of an Ingress."""
_key = _shaped(
    253,
    "[-._a-zA-Z0-9]+",
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
    *("key.name", "KEY_NAME", "key-name"),
)


def config_key_errors(key: str) -> tuple[str, ...]:
    """A key of a ConfigMap or Secret."""
    problems = _key(key)
    if key in _NOT_A_SEGMENT:
        return (*problems, f"must not be '{key}'")
    return (*problems, "must not start with '..'") if key.startswith("..") else problems


def variable_errors(name: str) -> tuple[str, ...]:
    """A name of an environment variable."""
    words = "a valid environment variable name must consist only of printable ASCII characters other than '='"
    return () if _is_variable(name) else (words,)


def header_errors(name: str) -> tuple[str, ...]:
    """A name of an HTTP header."""
    words = "a valid HTTP header must consist of alphanumeric characters or '-'"
    return () if _is_header(name) else (_regex(words, _HEADER, "X-Header-Name"),)


def port_name_errors(name: str) -> tuple[str, ...]:
    """A name of a container's port."""
    problems = []
    if _size(name) > 15:
        problems.append(_max_length(15))
    if not _is_port_name(name):
        problems.append("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)")
    if not any("a" <= letter <= "z" for letter in name):
        problems.append("must contain at least one letter (a-z)")
    if "--" in name:
        problems.append("must not contain consecutive hyphens")
    if name.startswith("-") or name.endswith("-"):
        problems.append("must not begin or end with a hyphen")
    return tuple(problems)


def prefix_errors(errors_of: Callable[[str], tuple[str, ...]], base: str) -> tuple[str, ...]:
    """A generateName, which a name of a kind begins with: a hyphen at its end passes."""
    return errors_of(f"{base[:-2]}a" if len(base) > 1 and base.endswith("-") else base)


def read_words(text: str) -> tuple[str, ...]:
    """Return the words of a text: a long table of names on few lines."""
    return tuple(text.split())

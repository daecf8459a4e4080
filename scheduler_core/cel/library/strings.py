"""Members of strings.

kube: vendor/github.com/google/cel-go/common/types/string.go, ext/strings.go @ v1.34.1 (cel-go v0.26.0)
"""

from __future__ import annotations

from collections.abc import Callable

from scheduler_core.cel.values import NO_OVERLOAD


def _both_strings(text: object, other: object) -> bool:
    return isinstance(text, str) and isinstance(other, str)


def _contains(text: object, part: object) -> object:
    return part in text if _both_strings(text, part) else NO_OVERLOAD  # type: ignore[operator]


def _ends_with(text: object, part: object) -> object:
    return text.endswith(part) if _both_strings(text, part) else NO_OVERLOAD  # type: ignore[attr-defined]


def _starts_with(text: object, part: object) -> object:
    return text.startswith(part) if _both_strings(text, part) else NO_OVERLOAD  # type: ignore[attr-defined]


STRINGS: dict[str, Callable[..., object]] = {
    "contains_string": _contains,
    "ends_with_string": _ends_with,
    "starts_with_string": _starts_with,
}

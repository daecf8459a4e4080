"""Checks of arguments that several plugins make.

kube: apis/config/validation/validation_pluginargs.go @ v1.34.1
"""

from __future__ import annotations

from scheduler_core.apimachinery.objects.errors import FieldError, invalid
from scheduler_core.apimachinery.objects.names import list_qualified_name_errors


def range_errors(number: int, path: str, low: int, high: int) -> list[FieldError]:
    return [] if low <= number <= high else [invalid(path, number, f"not in valid range [{low}, {high}]")]


def name_errors(name: str, path: str) -> list[FieldError]:
    """Return the errors of a qualified name, such as a resource name or a label key."""
    return [invalid(path, name, problem) for problem in list_qualified_name_errors(name)]

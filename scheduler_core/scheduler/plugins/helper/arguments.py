"""Validation of arguments that several plugins have.

kube: apis/config/validation/validation_pluginargs.go @ v1.34.1
"""

from difflib import SequenceMatcher

from scheduler_core.apimachinery.objects.errors import FieldError, invalid
from scheduler_core.apimachinery.objects.names import list_qualified_name_errors

# Similar names, of which one may be a typo of the other.

ALIKE = 0.85


def alike(one: str, other: str) -> bool:
    """Return whether two names differ by a typo. Names that differ in digits are distinct, not misspelled."""
    if [each for each in one if each.isdigit()] != [each for each in other if each.isdigit()]:
        return False
    return likeness(one, other) >= ALIKE or sorted(one.lower()) == sorted(other.lower())


def likeness(one: str, other: str) -> float:
    return SequenceMatcher(None, one.lower(), other.lower()).ratio()


def range_errors(number: int, path: str, low: int, high: int) -> list[FieldError]:
    return [] if low <= number <= high else [invalid(path, number, f"not in valid range [{low}, {high}]")]


def name_errors(name: str, path: str) -> list[FieldError]:
    """Return the errors of a qualified name, such as a resource name or a label key."""
    return [invalid(path, name, problem) for problem in list_qualified_name_errors(name)]

"""Rules: tables of conditions on the fields of one type. A type is a tuple of rules, in kube's order of errors.

A rule is a function (object, path, errors) that adds errors. An absent field has its default, so most rules accept it.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from scheduler_core.apimachinery.objects.errors import Errors, build_required_error, child, invalid
from scheduler_core.apiserver.validation.checks import NOT_NEGATIVE, NameCheck

Object = Mapping[str, Any]
Rule = Callable[[Object, str, Errors], None]
Rules = tuple[Rule, ...]
MAX_INT32 = 2**31 - 1


def obey(rules: Iterable[Rule], value: Object, path: str, errors: Errors) -> None:
    """Add the errors in an object of a type."""
    for rule in rules:
        rule(value, path, errors)


def need(*fields: str, detail: str = "") -> Rule:
    """Return a rule that fields must not be empty."""

    def check(value: Object, path: str, errors: Errors) -> None:
        errors += [build_required_error(child(path, field), detail) for field in fields if not value.get(field)]

    return check


def one(field: str, *supported: str, empty: bool = False) -> Rule:
    """Return a rule that a field has a supported value (in kube's order). `empty`: refuse "" (the field is a pointer in kube)."""

    def check(value: Object, path: str, errors: Errors) -> None:
        given = value.get(field)
        if given not in supported and given is not None and (given or empty):
            errors.not_supported(child(path, field), given, supported)

    return check


def validate_name(field: str, problems: NameCheck, needed: bool = False, at: str = "") -> Rule:
    """Return a rule for a name. `needed`: the name must not be empty; `at`: the field in errors."""

    def check(value: Object, path: str, errors: Errors) -> None:
        name = value.get(field) or ""
        if name:
            errors.problems(child(path, at or field), name, problems(name))
        elif needed:
            errors.required(child(path, field))

    return check


def within(field: str, low: int, high: int, detail: str = "") -> Rule:
    """Return a rule that a number is in a range if it is present."""
    said = detail or f"must be between {low} and {high}, inclusive"

    def check(value: Object, path: str, errors: Errors) -> None:
        number = value.get(field)
        if number is not None and not low <= number <= high:
            errors.invalid(child(path, field), number, said)

    return check


def not_negative(*fields: str) -> Rule:
    """Return a rule that numbers are not negative; an absent number is 0."""

    def check(value: Object, path: str, errors: Errors) -> None:
        errors += [
            invalid(child(path, field), value[field], NOT_NEGATIVE) for field in fields if (value.get(field) or 0) < 0
        ]

    return check


def inner(field: str, *rules: Rule, at: str = "") -> Rule:
    """Return a rule that checks an object in a field if it is present."""

    def check(value: Object, path: str, errors: Errors) -> None:
        if value.get(field) is not None:
            obey(rules, value[field], child(path, at or field), errors)

    return check


def each(field: str, *rules: Rule) -> Rule:
    """Return a rule that checks the objects of a list."""

    def check(value: Object, path: str, errors: Errors) -> None:
        for i, entry in enumerate(value.get(field) or ()):
            obey(rules, entry, f"{child(path, field)}[{i}]", errors)

    return check


def text(field: str, *problems: Callable[[str], Iterable[str]]) -> Rule:
    """Return a rule that checks a text if it is present, even if it is empty."""

    def check(value: Object, path: str, errors: Errors) -> None:
        given = value.get(field)
        if isinstance(given, str):
            found = [problem for find in problems for problem in find(given)]
            errors.problems(child(path, field), given, found)

    return check


def only_one(
    kinds: Mapping[str, Rules], detail: str, spelled: Mapping[str, str] | None = None, also: tuple[str, ...] = ()
) -> Rule:
    """Return a rule that allows only one of several fields and applies its rules.

    `spelled`: the field names in errors about a second one; `also`: fields that may be a second one.
    """

    def check(value: Object, path: str, errors: Errors) -> None:
        found = False
        for field, rules in kinds.items():
            if value.get(field) is None:
                continue
            if found and field not in also:
                errors.forbidden(child(path, (spelled or {}).get(field, field)), detail)
            else:
                obey(rules, value[field], child(path, field), errors)
            found = True

    return check


# paths of files


def steps_back(path: str) -> list[str]:
    return ["must not contain '..'"] if ".." in path.split("/") else []


def not_below(path: str) -> list[str]:
    """Return the errors in a path that must lead down from where it is used."""
    return [*(["must be a relative path"] if path.startswith("/") else []), *steps_back(path)]


def list_volume_path_errors(path: str) -> list[str]:
    """Return the errors in a file's path in a volume."""
    hidden = path.startswith("..") and not path.startswith("../")
    return [*not_below(path), *(["must not start with '..'"] if hidden else [])]

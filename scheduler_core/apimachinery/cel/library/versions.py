"""Semantic versions: kubernetes.Semver.

kube: apiserver/pkg/cel/library/semverlib.go @ v1.34.1; github.com/blang/semver/v4 v4.0.0
"""

from __future__ import annotations

import re
from collections.abc import Callable

from scheduler_core.apimachinery.cel.comparison import compare_versions
from scheduler_core.apimachinery.cel.texts import quote_go
from scheduler_core.apimachinery.cel.values import MAX_UINT, Failure, SemverValue

_LETTERS = re.compile(r"[0-9A-Za-z-]*\Z")
_DIGITS = re.compile(r"[0-9]*\Z")


class BadVersion(ValueError):
    """A text that is no version, in the words of kube's parser."""


def parse_version(text: str) -> SemverValue:
    if not text:
        raise BadVersion("Version string empty")
    parts = text.split(".", 2)
    if len(parts) != 3:
        raise BadVersion("No Major.Minor.Patch elements found")
    major, minor = _number(parts[0], "major"), _number(parts[1], "minor")
    rest, _, build = parts[2].partition("+")
    patch, _, pre = rest.partition("-")
    number = _number(patch, "patch")
    parsed = tuple(map(_pre_release, pre.split("."))) if "-" in rest else ()
    builds = tuple(map(_build, build.split("."))) if "+" in parts[2] else ()
    return SemverValue(major, minor, number, parsed, builds)


def _number(text: str, which: str) -> int:
    if not _DIGITS.match(text):
        raise BadVersion(f"Invalid character(s) found in {which} number {quote_go(text)}")
    if len(text) > 1 and text[0] == "0":
        raise BadVersion(f"{which.capitalize()} number must not contain leading zeroes {quote_go(text)}")
    return _parse_unsigned(text)


def _parse_unsigned(text: str) -> int:
    if not text:
        raise BadVersion('strconv.ParseUint: parsing "": invalid syntax')
    if len(text) > 20 or int(text) > MAX_UINT:
        raise BadVersion(f"strconv.ParseUint: parsing {quote_go(text)}: value out of range")
    return int(text)


def _pre_release(text: str) -> int | str:
    if not text:
        raise BadVersion("Prerelease is empty")
    if _DIGITS.match(text):
        if len(text) > 1 and text[0] == "0":
            raise BadVersion(f"Numeric PreRelease version must not contain leading zeroes {quote_go(text)}")
        return _parse_unsigned(text)
    if not _LETTERS.match(text):
        raise BadVersion(f"Invalid character(s) found in prerelease {quote_go(text)}")
    return text


def _build(text: str) -> str:
    if not text:
        raise BadVersion("Build meta data is empty")
    if not _LETTERS.match(text):
        raise BadVersion(f"Invalid character(s) found in build meta data {quote_go(text)}")
    return text


def normalize_version(text: str) -> str:
    """Without a v in front, with three numbers, without zeros in front of them."""
    parts = text.removeprefix("v").split(".", 2)
    parts = [_without_zeros(part) for part in parts]
    if len(parts) < 3:
        if any(sign in parts[-1] for sign in "+-"):
            raise BadVersion("short version cannot contain PreRelease/Build meta data")
        parts += ["0"] * (3 - len(parts))
    return ".".join(parts)


def _without_zeros(part: str) -> str:
    if len(part) <= 1:
        return part
    rest = part.lstrip("0")
    return rest if rest and rest[0] in "0123456789" else f"0{rest}"


def _semver(text: str, normalize: bool = False) -> object:
    try:
        return parse_version(normalize_version(text) if normalize else text)
    except BadVersion as error:
        return Failure(str(error))


def _is_semver(text: str, normalize: bool = False) -> bool:
    return not isinstance(_semver(text, normalize), Failure)


VERSIONS: dict[str, Callable[..., object]] = {
    "string_to_semver": _semver,
    "string_bool_to_semver": _semver,
    "is_semver_string": _is_semver,
    "is_semver_string_bool": _is_semver,
    "semver_major": lambda version: version.major,
    "semver_minor": lambda version: version.minor,
    "semver_patch": lambda version: version.patch,
    "semver_compare_to": compare_versions,
    "semver_is_greater_than": lambda one, other: compare_versions(one, other) > 0,
    "semver_is_less_than": lambda one, other: compare_versions(one, other) < 0,
}

"""Quantities: kubernetes.Quantity.

kube: apiserver/pkg/cel/library/quantity.go, apimachinery/pkg/api/resource/{quantity,amount}.go @ v1.34.1
"""

import base64
import binascii
import re
from collections.abc import Callable

from scheduler_core.apimachinery.cel.library.times import parse_timestamp
from scheduler_core.apimachinery.cel.library.urls import BadUrl, parse_url
from scheduler_core.apimachinery.cel.operators import compare_versions
from scheduler_core.apimachinery.cel.texts import quote_go
from scheduler_core.apimachinery.cel.values import (
    MAX_INT,
    MAX_UINT,
    MIN_INT,
    NONE,
    Failure,
    FormatValue,
    Optional,
    QuantityValue,
    SemverValue,
)
from scheduler_core.apimachinery.objects import NANO, BadQuantity, names, nanos

_BAD = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
_PARTS = re.compile(r"[+-]?([0-9]*)(?:\.([0-9]*))?(.*)")
_BINARY = ("Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_SHAPE = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)[eEinumkKMGTP]*[-+]?[0-9]*\Z")


def quantity_value(text: str | int) -> QuantityValue:
    """BadQuantity where the text is none."""
    if isinstance(text, int):
        return QuantityValue(text * NANO)
    return QuantityValue(nanos(text), _scale(text))


def _scale(text: str) -> int | None:
    """Return the power of ten to which kube scales a quantity, or None if kube parses it as an infinite-precision decimal."""
    match = _PARTS.match(text)
    assert match is not None
    whole, fraction, suffix = match.groups(default="")
    digits = (whole.lstrip("0") or "0") + fraction
    if suffix.endswith("i"):
        power = 10 * (_BINARY.index(suffix) + 1)
        fast = not fraction and 14 - len(digits) - power * 3 // 10 >= 0 and int(digits) << power <= MAX_INT
        return 0 if fast else None
    exponent = _DECIMAL[suffix] if suffix in _DECIMAL else int(suffix[1:])
    scale = exponent - len(fraction)
    return scale if len(digits) <= 18 and scale >= -9 else None


def _quantity(text: str) -> object:
    try:
        return quantity_value(text)
    except BadQuantity:
        return Failure("unable to parse quantity's suffix" if _SHAPE.match(text) else _BAD)


def _is_quantity(text: str) -> bool:
    return not isinstance(_quantity(text), Failure)


def _order(one: QuantityValue, other: QuantityValue) -> int:
    return (one.nanos > other.nanos) - (one.nanos < other.nanos)


def _integer(quantity: QuantityValue) -> object:
    whole = quantity.nanos // NANO
    if quantity.scale is None or quantity.scale < 0 or not MIN_INT <= whole <= MAX_INT:
        return Failure("cannot convert value to integer")
    return whole


def _float(quantity: QuantityValue) -> float:
    scale = -9 if quantity.scale is None else quantity.scale
    base = float(quantity.nanos // 10 ** (9 + scale))
    return base * float(f"1e{scale}") if scale else base


def _sum(one: QuantityValue, other: QuantityValue, sign: int = 1) -> QuantityValue:
    count = one.nanos + sign * other.nanos
    return QuantityValue(count, _scale_of_sum(one, other, count), computed=True)


def _scale_of_sum(one: QuantityValue, other: QuantityValue, count: int) -> int | None:
    if one.scale is None or other.scale is None:
        return None
    if not other.nanos:
        return one.scale
    if not one.nanos:
        return other.scale
    scale = min(one.scale, other.scale)
    parts = (one.nanos, other.nanos, count)
    fits = all(MIN_INT <= part // 10 ** (9 + scale) <= MAX_INT for part in parts)
    return scale if fits else None


def _whole(count: int) -> QuantityValue:
    return QuantityValue(count * NANO)


QUANTITIES: dict[str, Callable[..., object]] = {
    "string_to_quantity": _quantity,
    "is_quantity_string": _is_quantity,
    "quantity_sign": lambda quantity: (quantity.nanos > 0) - (quantity.nanos < 0),
    "quantity_is_greater_than": lambda one, other: _order(one, other) > 0,
    "quantity_is_less_than": lambda one, other: _order(one, other) < 0,
    "quantity_compare_to": _order,
    "quantity_get_float": _float,
    "quantity_get_int": _integer,
    "quantity_is_integer": lambda quantity: not isinstance(_integer(quantity), Failure),
    "quantity_add": _sum,
    "quantity_add_int": lambda quantity, count: _sum(quantity, _whole(count)),
    "quantity_sub": lambda one, other: _sum(one, other, -1),
    "quantity_sub_int": lambda quantity, count: _sum(quantity, _whole(count), -1),
}

# Semantic versions: kubernetes.Semver.
# kube: apiserver/pkg/cel/library/semverlib.go @ v1.34.1; github.com/blang/semver/v4 v4.0.0

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

# Named formats of texts: kubernetes.NamedFormat.
# kube: apiserver/pkg/cel/library/format.go @ v1.34.1; k8s.io/kube-openapi/pkg/validation/strfmt

Check = Callable[[str], tuple[str, ...]]
_UUID = re.compile(r"(?i)[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}\Z")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}\Z")


def _prefix(check: Check) -> Check:
    """Return a check of a name prefix: like `check`, but a trailing dash is allowed."""
    return lambda text: names.prefix_errors(check, text)


def _uri(text: str) -> tuple[str, ...]:
    try:
        parse_url(text)
    except BadUrl as error:
        return (str(error),)
    return ()


def _byte(text: str) -> tuple[str, ...]:
    try:
        base64.b64decode(text.replace("\r", "").replace("\n", ""), validate=True)
    except (binascii.Error, ValueError):
        return ("invalid base64",)
    return ()


def _date(text: str) -> tuple[str, ...]:
    valid = _DATE.match(text) is not None and parse_timestamp(f"{text}T00:00:00Z") is not None
    return () if valid else ("invalid date",)


_FORMATS: dict[str, tuple[str, Check]] = {
    "dns1123Label": ("DNS1123Label", names.label_errors),
    "dns1123Subdomain": ("DNS1123Subdomain", names.subdomain_errors),
    "dns1035Label": ("DNS1035Label", names.label1035_errors),
    "qualifiedName": ("QualifiedName", names.list_qualified_name_errors),
    "dns1123LabelPrefix": ("DNS1123LabelPrefix", _prefix(names.label_errors)),
    "dns1123SubdomainPrefix": ("DNS1123SubdomainPrefix", _prefix(names.subdomain_errors)),
    "dns1035LabelPrefix": ("DNS1035LabelPrefix", _prefix(names.label1035_errors)),
    "labelValue": ("LabelValue", names.label_value_errors),
    "uri": ("URI", _uri),
    "uuid": ("uuid", lambda text: () if _UUID.match(text) else ("does not match the UUID format",)),
    "byte": ("byte", _byte),
    "date": ("date", _date),
    "datetime": ("datetime", lambda text: ("invalid datetime",) if parse_timestamp(text) is None else ()),
}
_CHECKS = dict(_FORMATS.values())
_VALUES = {word: FormatValue(name) for word, (name, _) in _FORMATS.items()}


def _validate(a_format: FormatValue, text: str) -> Optional:
    problems = _CHECKS[a_format.name](text)
    return Optional(list(problems)) if problems else NONE


def _constant(value: FormatValue) -> Callable[..., object]:
    return lambda: value


FORMATS: dict[str, Callable[..., object]] = {
    **{f"format.{word}": _constant(value) for word, value in _VALUES.items()},
    "format-named": lambda word: Optional(_VALUES[word]) if word in _VALUES else NONE,
    "format-validate": _validate,
}

"""Named formats of texts: kubernetes.NamedFormat.

kube: apiserver/pkg/cel/library/format.go @ v1.34.1; k8s.io/kube-openapi/pkg/validation/strfmt
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Sequence

from scheduler_core.apimachinery.cel.library.times import parse_timestamp
from scheduler_core.apimachinery.cel.library.urls import BadUrl, parse_url
from scheduler_core.apimachinery.cel.values import NONE, FormatValue, Optional
from scheduler_core.apimachinery.objects.names import (
    label1035_errors,
    label_errors,
    label_value_errors,
    list_qualified_name_errors,
    subdomain_errors,
)

Check = Callable[[str], Sequence[str]]
_UUID = re.compile(r"(?i)[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}\Z")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}\Z")


def _prefix(check: Check) -> Check:
    """Return a check of a name prefix: the same as `check`, but a dash at the end does not count."""
    return lambda text: check(f"{text[:-2]}a" if len(text) > 1 and text.endswith("-") else text)


def _uri(text: str) -> Sequence[str]:
    try:
        parse_url(text)
    except BadUrl as error:
        return (str(error),)
    return ()


def _uuid(text: str) -> Sequence[str]:
    return () if _UUID.match(text) else ("does not match the UUID format",)


def _byte(text: str) -> Sequence[str]:
    try:
        base64.b64decode(text.replace("\r", "").replace("\n", ""), validate=True)
    except (binascii.Error, ValueError):
        return ("invalid base64",)
    return ()


def _date(text: str) -> Sequence[str]:
    valid = _DATE.match(text) is not None and parse_timestamp(f"{text}T00:00:00Z") is not None
    return () if valid else ("invalid date",)


def _datetime(text: str) -> Sequence[str]:
    return () if parse_timestamp(text) is not None else ("invalid datetime",)


_FORMATS: dict[str, tuple[str, Check]] = {
    "dns1123Label": ("DNS1123Label", label_errors),
    "dns1123Subdomain": ("DNS1123Subdomain", subdomain_errors),
    "dns1035Label": ("DNS1035Label", label1035_errors),
    "qualifiedName": ("QualifiedName", list_qualified_name_errors),
    "dns1123LabelPrefix": ("DNS1123LabelPrefix", _prefix(label_errors)),
    "dns1123SubdomainPrefix": ("DNS1123SubdomainPrefix", _prefix(subdomain_errors)),
    "dns1035LabelPrefix": ("DNS1035LabelPrefix", _prefix(label1035_errors)),
    "labelValue": ("LabelValue", label_value_errors),
    "uri": ("URI", _uri),
    "uuid": ("uuid", _uuid),
    "byte": ("byte", _byte),
    "date": ("date", _date),
    "datetime": ("datetime", _datetime),
}
_CHECKS = dict(_FORMATS.values())
_VALUES = {word: FormatValue(name) for word, (name, _) in _FORMATS.items()}


def _validate(a_format: FormatValue, text: str) -> Optional:
    problems = _CHECKS[a_format.name](text)
    return Optional(list(problems)) if problems else NONE


def _constant(value: FormatValue) -> Callable[..., object]:
    return lambda: value


def _find_format(word: str) -> Optional:
    return Optional(_VALUES[word]) if word in _VALUES else NONE


FORMATS: dict[str, Callable[..., object]] = {
    **{f"format.{word}": _constant(value) for word, value in _VALUES.items()},
    "format-named": _find_format,
    "format-validate": _validate,
}

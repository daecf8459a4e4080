"""Flags of a component as text, one on each line, and as the settings that they are."""

from collections.abc import Mapping
from typing import Any, NamedTuple, get_origin

import msgspec
from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from msgspec import UNSET, structs

from playground.workbench.forms.fields import PLAIN

MOST_TEXT = 20_000


class Flag(NamedTuple):
    """One flag with its default, as it is written."""

    name: str
    default: str


class FlagsField(forms.CharField):
    """`--flag=value` on each line; its clean value maps flags to what the class of options takes. Lines with # are comments.

    Options with capitals in their names are no flags: they are what a flag's file would hold.
    """

    def __init__(self, options: type[msgspec.Struct], **kwargs: Any) -> None:
        widget = forms.Textarea({**PLAIN, "rows": 6, "wrap": "off", "placeholder": "--flag=value"})
        super().__init__(required=False, widget=widget, max_length=MOST_TEXT, strip=False, **kwargs)
        self._fields = {field.encode_name: field for field in structs.fields(options) if field.encode_name.islower()}

    def flags(self) -> list[Flag]:
        """All that there are."""
        return [Flag(name, format_flag_value(_default(field))) for name, field in self._fields.items()]

    def text(self, values: Mapping[str, Any]) -> str:
        """The flags that differ from their defaults."""
        return "\n".join(
            f"--{name}={format_flag_value(values[name])}"
            for name, field in self._fields.items()
            if name in values and _same(values[name]) != _same(_default(field))
        )

    def clean(self, value: Any) -> dict[str, Any]:
        text: str = super().clean(value) or ""
        flags: dict[str, Any] = {}
        errors = []
        for number, line in enumerate(text.splitlines(), 1):
            try:
                if line.strip() and not line.strip().startswith("#"):
                    name, read = self._read(line.strip())
                    flags[name] = read
            except ValueError as error:
                errors.append(at_line(number, str(error)))
        if errors:
            raise ValidationError(errors)
        return flags

    def _read(self, line: str) -> tuple[str, Any]:
        name, equals, value = line.removeprefix("--").partition("=")
        field = self._fields.get(name)
        if field is None:
            raise ValueError(_("unknown flag: --%(name)s") % {"name": name})
        if not line.startswith("--") or not equals:
            raise ValueError(_("write it as --%(name)s=value") % {"name": name})
        given = [part for part in value.split(",") if part] if get_origin(field.type) is tuple else value
        try:
            return name, msgspec.to_builtins(msgspec.convert(given, field.type, strict=False))
        except msgspec.ValidationError:
            said = _("“%(value)s” is not a value of --%(name)s, whose default is %(default)s")
            default = format_flag_value(_default(field)) or "“”"
            raise ValueError(said % {"value": value, "name": name, "default": default}) from None


def line_of(text: str, flag: str) -> int | None:
    """Return the line number of a flag, the last one if there are several; None if there is none."""
    lines = [number for number, line in enumerate(text.splitlines(), 1) if line.strip().startswith(f"--{flag}=")]
    return lines[-1] if lines else None


def at_line(number: int | None, text: str) -> str:
    """An error with where it is."""
    return text if number is None else _("line %(line)s: %(text)s") % {"line": number, "text": text}


def format_flag_value(value: Any) -> str:
    """A value as a command line has it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return ",".join(value) if isinstance(value, list | tuple) else str(value)


def _same(value: Any) -> Any:
    return list(value) if isinstance(value, list | tuple) else value


def _default(field: structs.FieldInfo) -> Any:
    if field.default is not msgspec.NODEFAULT:
        return field.default
    return None if field.default_factory in (UNSET, msgspec.NODEFAULT) else field.default_factory()

"""Form fields for what Kubernetes is written in: quantities, names, and kubectl's little languages."""

import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, get_origin

import msgspec
from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from msgspec import UNSET, structs

from playground.common.catalogs import read_yaml
from playground.workbench.builder.grammar import GrammarError
from scheduler_core.scheduler.config import MAX_DURATION
from scheduler_core.world.readonly import BadQuantity, parse_quantity

WORDS = Path(__file__).with_name("words.yaml")
PLAIN = {"spellcheck": "false", "autocomplete": "off", "autocapitalize": "off"}


class PlainForm(forms.Form):
    """A form whose fields the server checks, not the browser: what is left out is told in the page's words."""

    use_required_attribute = False


class GrammarField(forms.CharField):
    """A text in one of the languages of builder/grammar.py; its clean value is what the parser returns."""

    def __init__(self, parse: Callable[[str], Any], *, example: str = "", rows: int = 1, **kwargs: Any) -> None:
        attrs = {**PLAIN, "placeholder": example}
        widget = forms.Textarea({**attrs, "rows": rows}) if rows > 1 else forms.TextInput(attrs)
        super().__init__(required=False, widget=widget, max_length=4000, strip=False, **kwargs)
        self.parse = parse

    def clean(self, value: Any) -> Any:
        try:
            return self.parse(super().clean(value))
        except GrammarError as error:
            raise ValidationError(str(error), code="grammar") from error


class QuantityField(forms.CharField):
    """A quantity such as 500m or 2Gi, kept as it was written; "" where it is left empty."""

    def __init__(self, *, example: str = "", required: bool = False, **kwargs: Any) -> None:
        widget = forms.TextInput({**PLAIN, "placeholder": example})
        super().__init__(max_length=40, widget=widget, required=required, **kwargs)

    def clean(self, value: Any) -> str:
        text: str = super().clean(value)
        try:
            negative = bool(text) and parse_quantity(text) < 0
        except BadQuantity as error:
            said = _("“%(received)s” is not a quantity. Write it as 500m or 2")
            raise ValidationError(said % {"received": text}, code="quantity") from error
        if negative:
            raise ValidationError(_("“%(received)s” is negative") % {"received": text}, code="quantity")
        return text


class TextField(forms.CharField):
    """One line of plain text such as a name."""

    def __init__(self, *, example: str = "", required: bool = False, **kwargs: Any) -> None:
        widget = forms.TextInput({**PLAIN, "placeholder": example})
        kwargs.setdefault("max_length", 253)
        super().__init__(widget=widget, required=required, **kwargs)


_UNITS = {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": 1_000_000_000, "m": 60_000_000_000, "h": 3_600_000_000_000}
_DURATION = re.compile(r"(\d{1,12}(?:\.\d{1,9})?)\s*(ns|us|ms|s|m|h)", re.ASCII)


class DurationField(forms.CharField):
    """A duration such as 5ms or 1.5s; its clean value is whole nanoseconds, None where it may be empty and is."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(max_length=30, widget=forms.TextInput({**PLAIN, "placeholder": "5ms"}), **kwargs)
        if not self.required:
            self.empty_value = None

    def prepare_value(self, value: Any) -> Any:
        return duration_text(value) if isinstance(value, int) else value

    def clean(self, value: Any) -> int | None:
        text: str | None = super().clean(value)
        if text is None or text == "0":
            return None if text is None else 0
        match = _DURATION.fullmatch(text)
        if match is None:
            said = _("“%(received)s” is not a duration. Write it as 5ms, 1.5s or 2m")
            raise ValidationError(said % {"received": text}, code="duration")
        nanoseconds = int(Decimal(match[1]) * _UNITS[match[2]])
        if nanoseconds > MAX_DURATION:
            said = _("“%(received)s” is too long. The limit is %(most)s")
            most = duration_text(MAX_DURATION)
            raise ValidationError(said % {"received": text, "most": most}, code="duration")
        return nanoseconds


def duration_text(nanoseconds: int) -> str:
    """Nanoseconds in the largest unit that needs no fraction."""
    if nanoseconds == 0:
        return "0s"
    unit, size = next((u, n) for u, n in reversed(_UNITS.items()) if nanoseconds % n == 0)
    return f"{nanoseconds // size}{unit}"


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


F = TypeVar("F", bound=forms.Form)


def add_words(form: type[F]) -> type[F]:
    """Give the fields of a form their labels, help texts, and choices (values with their texts) from words.yaml."""
    for name, words in read_yaml(WORDS)[form.__name__].items():
        for part, text in words.items():
            if part == "choices":
                text = [(value, gettext_lazy(said)) for value, said in text.items()]
            setattr(form.base_fields[name], part, text if part == "choices" else gettext_lazy(text))
    return form

"""The form of an action on an object, made of the fields that playground/workbench/actions declares."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from playground.workbench.actions import Action, Field, Subject, Wrong
from playground.workbench.builder import grammar
from playground.workbench.forms.fields import DurationField, GrammarField, PlainForm, QuantityField, TextField
from scheduler_core.world.commands import Command

SUGGESTING = ("text", "labels")
_PARTS = re.compile(r"\[([^\]]*)\]|([^.\[]+)")  # of a field's path
_CALLED = {"name": "copy"}  # fields that have another name than what they fill in


class ActionForm(PlainForm):
    """The form for an action on an object; `command` is the resulting command."""

    def __init__(
        self,
        action: Action,
        subject: Subject,
        data: Mapping[str, Any] | None = None,
        given: Mapping[str, Any] | None = None,
        everyone: Sequence[Subject] = (),
    ) -> None:
        """Build the form. `data` is the submitted input; `given` are initial values that override the object's.

        `everyone`: the objects of an action on several; `subject` then represents them.
        """
        initial = {field.name: field.initial(subject) for field in action.fields}
        super().__init__(data, initial={name: (given or {}).get(name, it) for name, it in initial.items()})
        self.action, self.subject, self.everyone = action, subject, everyone
        self.command: Command | None = None
        for field in action.fields:
            help_text = gettext_lazy(field.help) if field.help else ""
            self.fields[field.name] = _MAKERS[field.type](
                field, subject, {"label": gettext_lazy(field.label), "help_text": help_text}
            )

    def suggestions(self) -> dict[str, list[str]]:
        """Return the suggestions of the text fields, by the id of their lists."""
        return {
            f"{field.name}-suggestions": [value for value, _ in field.choices(self.subject)]
            for field in self.action.fields
            if field.type in SUGGESTING and field.choices(self.subject)
        }

    def ticked(self) -> dict[str, str]:
        """Return the enabled flags, so that a repeated form keeps them."""
        flags = (field.name for field in self.action.fields if field.type == "flag")
        return {name: "1" for name in flags if self.cleaned_data.get(name)}

    def take(self, problems: Iterable[tuple[str, str]]) -> bool:
        """Show the API server's errors at the form's fields for their paths. Return whether every error has a field."""
        placed = [(self._field_of(path), text) for path, text in problems]
        for field, text in dict.fromkeys(placed):
            if field and text:
                self.add_error(field, text)
        return bool(placed) and all(field and text for field, text in placed)

    def _field_of(self, path: str) -> str:
        """Return the field that matches the last such part of a path, or ""."""
        parts = [bracket or name for bracket, name in reversed(_PARTS.findall(path))]
        return next((_CALLED.get(part, part) for part in parts if _CALLED.get(part, part) in self.fields), "")

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if self.errors:
            return data
        try:
            together = self.action.together if self.everyone else None
            self.command = together(self.everyone, data) if together else self.action.make(self.subject, data)
        except Wrong as wrong:
            self.add_error(wrong.field or None, _(wrong.text))
        return data


def _text(field: Field, subject: Subject, common: dict[str, Any]) -> forms.Field:
    made = TextField(required=field.required, max_length=1000, **common)
    if field.choices(subject):
        made.widget.attrs["list"] = f"{field.name}-suggestions"
    return made


def _number(field: Field, subject: Subject, common: dict[str, Any]) -> forms.Field:
    return forms.IntegerField(required=field.required, min_value=field.least, max_value=field.most, **common)


def _seconds(field: Field, subject: Subject, common: dict[str, Any]) -> forms.Field:
    made = DurationField(required=field.required, **common)
    made.widget.attrs["placeholder"] = "30s"
    return made


def _choice(field: Field, subject: Subject, common: dict[str, Any]) -> forms.Field:
    choices = [(value, gettext_lazy(title)) for value, title in field.choices(subject)]
    return forms.ChoiceField(choices=choices, required=field.required, **common)


def labels(text: str) -> dict[str, str | None]:
    """Parse `disk=ssd, old-` in the syntax of kubectl label. Removed labels are None."""
    gone = [part for part in grammar.split(text) if part.endswith("-") and "=" not in part]
    pairs = grammar.parse_pairs("\n".join(part for part in grammar.split(text) if part not in gone))
    return {**pairs, **{part[:-1]: None for part in gone}}


def _labels(field: Field, subject: Subject, common: dict[str, Any]) -> forms.Field:
    made = GrammarField(labels, example="disk=ssd, rack-", **common)
    if field.choices(subject):
        made.widget.attrs["list"] = f"{field.name}-suggestions"
    return made


def _grammar(parse: Callable[[str], Any], example: str) -> Any:
    return lambda field, subject, common: GrammarField(parse, example=example, **common)


_MAKERS: Mapping[str, Callable[[Field, Subject, dict[str, Any]], forms.Field]] = {
    "text": _text,
    "number": _number,
    "flag": lambda field, subject, common: forms.BooleanField(required=False, **common),
    "choice": _choice,
    "quantity": lambda field, subject, common: QuantityField(**common),
    "seconds": _seconds,
    "pairs": _grammar(grammar.parse_pairs, "app=web"),
    "labels": _labels,
    "sizes": _grammar(grammar.parse_resources, "cache=500Mi"),
}

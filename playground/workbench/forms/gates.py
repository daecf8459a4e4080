"""kube's feature gates as a form: those that can be set, and in words why the others can't."""

from pathlib import Path
from typing import Any, NamedTuple

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from playground.common.catalogs import read_yaml
from playground.workbench.forms.fields import PLAIN
from scheduler_core.scheduler.config import (
    MAX_GATES_TEXT,
    OLDEST,
    Gate,
    GateError,
    Release,
    Wanted,
    asked_gates,
    read_gates,
)

ABOUT = {name: _(text) for name, text in read_yaml(Path(__file__).with_suffix(".yaml")).items()}


class GateField(forms.BooleanField):
    """A gate that can be set; its row on the page says the rest."""

    def __init__(self) -> None:
        super().__init__(required=False)


class Row(NamedTuple):
    """One gate on the page; `field` is None where nobody can set it."""

    gate: Gate
    about: Any
    field: forms.BoundField | None
    differs: bool


def gate_rows(form: forms.Form, release: Release) -> list[Row]:
    """Every gate that kube-scheduler asks for in a release."""
    rows = []
    for gate in asked_gates(release):
        field = form[gate.setting] if gate.setting and not gate.locked else None
        differs = field is not None and bool(field.value()) != gate.default
        rows.append(Row(gate, ABOUT[gate.name], field, differs))
    return rows


class GatesForm(forms.Form):
    """The same as kube-scheduler's flag; what it does not name has its default."""

    use_required_attribute = False
    gates = forms.CharField(
        label=_("As kube-scheduler's flag"),
        required=False,
        max_length=MAX_GATES_TEXT,
        widget=forms.TextInput({**PLAIN, "placeholder": "--feature-gates=PodLevelResources=false,AllAlpha=true"}),
        help_text=_("all gates; gates not named here get their default"),
    )

    def __init__(self, *args: Any, release: Release = OLDEST, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.release = release

    def clean_gates(self) -> Wanted:
        try:
            return read_gates(self.cleaned_data["gates"], self.release)
        except GateError as wrong:
            raise ValidationError(wrong.problems) from wrong

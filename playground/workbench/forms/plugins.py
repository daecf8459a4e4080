"""The form in which people write a plugin of their own: an expression in CEL for each extension point."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from playground.workbench.forms.fields import PLAIN, TextField
from scheduler_core.scheduler.config import EXPRESSIONS, NAME_PATTERN, NORMALIZE, Definition

LONGEST = 4_096
NORMALIZE_WORDS = {
    "none": _("none: the numbers are the scores, 0 to 100"),
    "default": _("default: the highest becomes 100"),
    "reversed": _("reversed: the highest becomes 0"),
    "min-max": _("min-max: the lowest becomes 0, the highest 100"),
}


class ExpressionField(forms.CharField):
    """An expression; the worker compiles it."""

    def __init__(self, example: str, **kwargs: Any) -> None:
        attrs = {**PLAIN, "rows": 3, "placeholder": example, "class": "expression"}
        super().__init__(required=False, widget=forms.Textarea(attrs), max_length=LONGEST, strip=False, **kwargs)


class PluginForm(forms.Form):
    """A Definition with its name; fields are named as there."""

    use_required_attribute = False
    plugin = forms.RegexField(
        NAME_PATTERN,
        label=_("Name"),
        max_length=100,
        widget=forms.TextInput({**PLAIN, "placeholder": "MyPlugin"}),
        help_text=_("the name in configurations; it must be unique"),
        error_messages={
            "invalid": _("A name starts with a letter, followed by letters, digits, dots, dashes, and slashes.")
        },
    )
    description = TextField(label=_("Purpose"), max_length=500)
    filter = ExpressionField(
        "node.metadata.labels.disk == 'ssd' ? '' : 'node(s) had no SSD'",
        label=_("Filter"),
        help_text=_("true or an empty text: the node is feasible; false or a text: the reason to refuse it"),
    )
    unresolvable = forms.BooleanField(
        label=_("Preemption cannot resolve its refusals (UnschedulableAndUnresolvable)"), required=False
    )
    score = ExpressionField(
        "(allocatable.cpu - requested.cpu) * 100 / allocatable.cpu",
        label=_("Score"),
        help_text=_("a number; true is 100 and false 0"),
    )
    normalize = forms.ChoiceField(
        label=_("NormalizeScore"), choices=[(name, NORMALIZE_WORDS[name]) for name in NORMALIZE]
    )
    weight = forms.IntegerField(
        label=_("Weight"), min_value=1, max_value=100, help_text=_("if you add the plugin to a profile on this page")
    )
    pre_enqueue = ExpressionField(
        "has(pod.metadata.labels) && 'team' in pod.metadata.labels ? '' : 'say whose it is'",
        label=_("PreEnqueue"),
        help_text=_("true or an empty text: the pod enters the queue; false or a text: the reason to hold it back"),
    )
    permit = ExpressionField(
        "waiting.size() < 2 ? 30 : 0",
        label=_("Permit"),
        help_text=_(
            "true or 0: allow the pod; false, a negative number, or a text: reject it; a positive number: wait "
            "that many seconds"
        ),
    )
    post_filter = ExpressionField(
        "!has(victim.metadata.labels) || !('precious' in victim.metadata.labels)",
        label=_("PostFilter: possible victims"),
        help_text=_("kube's preemption, limited to victims for which this is true; replaces DefaultPreemption"),
    )

    @classmethod
    def of(cls, name: str, definition: dict[str, Any]) -> "PluginForm":
        """Filled in with a definition as it stands in the settings."""
        fields = {field: getattr(Definition(), field) for field in Definition.__struct_fields__}
        return cls(initial={"plugin": name, **fields, **definition})

    @property
    def definition(self) -> dict[str, Any]:
        """The plugin's definition from the form's values."""
        texts = {field: self.cleaned_data[field].replace("\r\n", "\n").strip() for field in EXPRESSIONS}
        others = ("description", "unresolvable", "normalize", "weight")
        return {**texts, **{name: self.cleaned_data[name] for name in others}}

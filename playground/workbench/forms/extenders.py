"""Forms of scheduler extenders, and of plugins of one's own in CEL."""

import json
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from playground.workbench.forms.fields import PLAIN, DurationField, PlainForm, TextField, add_words
from scheduler_core.scheduler.config import EXPRESSIONS, NAME_PATTERN, Definition

MAX_EXPRESSION = 4096
MAX_RULES = 64 << 10
VERBS = ("filter", "prioritize", "preempt", "bind")
VERB_FIELDS = VERBS
DEFAULT_LATENCY = 5_000_000
DEFAULT_URL = "http://extender.example/scheduler"


def _expression(label: str, example: str, help_text: Any) -> forms.CharField:
    widget = forms.Textarea({**PLAIN, "rows": 3, "placeholder": example, "class": "code"})
    return forms.CharField(
        label=label, required=False, widget=widget, max_length=MAX_EXPRESSION, strip=False, help_text=help_text
    )


@add_words
class NewExtenderForm(PlainForm):
    """One more extender of a configuration."""

    url_prefix = TextField(required=True, initial=DEFAULT_URL, max_length=2048)
    verbs = forms.MultipleChoiceField(
        choices=tuple((verb, verb) for verb in VERBS), widget=forms.CheckboxSelectMultiple, initial=["filter"]
    )
    weight = forms.IntegerField(min_value=1, initial=1)
    node_cache_capable = forms.BooleanField(required=False, initial=True)
    ignorable = forms.BooleanField(required=False)

    def to_configuration(self) -> dict[str, Any]:
        """An entry of `extenders`."""
        data = self.cleaned_data
        out: dict[str, Any] = {"urlPrefix": data["url_prefix"]}
        out |= {f"{verb}Verb": verb for verb in data["verbs"]}
        if "prioritize" in data["verbs"]:
            out["weight"] = data["weight"]
        out |= {"nodeCacheCapable": True} if data["node_cache_capable"] else {}
        return out | ({"ignorable": True} if data["ignorable"] else {})


@add_words
class BehaviourForm(PlainForm):
    """The behavior of an extender's server."""

    kind = forms.ChoiceField(initial="cel")
    latency = DurationField(initial=DEFAULT_LATENCY)
    filter = _expression(
        "filter",
        "has(node.metadata.labels) && 'gpu' in node.metadata.labels ? '' : 'no GPU'",
        _("pod, node → true or '': keep the node; false or a text: the reason to refuse it"),
    )
    unresolvable = forms.BooleanField(required=False)
    prioritize = _expression(
        "prioritize", "node.metadata.name == 'node-1' ? 10 : 0", _("pod, node → a whole number, 0 to 10")
    )
    preempt = _expression(
        "preempt", "size(victims) < 2", _("pod, node (its name), victims, violations → true: keep the node")
    )
    bind = _expression("bind", "true", _("pod, node (its name) → true or '': bound; false or a text: the error"))
    rules = forms.CharField(
        required=False,
        max_length=MAX_RULES,
        widget=forms.Textarea({**PLAIN, "rows": 4, "placeholder": '[{"verb": "filter", "refuse": {"node-1": "no"}}]'}),
    )

    @classmethod
    def of(cls, behaviour: dict[str, Any] | None) -> "BehaviourForm":
        """Create the form with the present behavior."""
        if behaviour is None:
            return cls(initial={"kind": "nobody"})
        initial = {name: value for name, value in behaviour.items() if name not in ("type", "rules")}
        rules = json.dumps(behaviour["rules"], indent=2, ensure_ascii=False) if behaviour.get("rules") else ""
        return cls(initial={**initial, "kind": behaviour["type"], "rules": rules})

    def clean_rules(self) -> list[dict[str, Any]]:
        text = self.cleaned_data["rules"]
        try:
            rules = json.loads(text) if text.strip() else []
        except ValueError as error:
            raise ValidationError(f"{error}", code="json") from error
        if not isinstance(rules, list) or not all(isinstance(rule, dict) for rule in rules):
            raise ValidationError(_("expected a list of objects"), code="json")
        return rules

    def to_behaviour(self) -> dict[str, Any]:
        """Return the behavior for the command SetExtender."""
        data = self.cleaned_data
        if data["kind"] == "cel":
            expressions = {name: data[name].replace("\r\n", "\n").strip() for name in VERB_FIELDS}
            more = {"unresolvable": data["unresolvable"], "latency": data["latency"]}
            return {"type": "cel", **expressions, **more}
        if data["kind"] == "recorded":
            return {"type": "recorded", "rules": data["rules"], "latency": data["latency"]}
        return {"type": data["kind"]}


LONGEST = 4_096


class ExpressionField(forms.CharField):
    """An expression; the worker compiles it."""

    def __init__(self, example: str, **kwargs: Any) -> None:
        attrs = {**PLAIN, "rows": 3, "placeholder": example, "class": "expression"}
        super().__init__(required=False, widget=forms.Textarea(attrs), max_length=LONGEST, strip=False, **kwargs)


@add_words
class PluginForm(PlainForm):
    """A Definition with its name; fields are named as there."""

    plugin = forms.RegexField(
        NAME_PATTERN,
        max_length=100,
        widget=forms.TextInput({**PLAIN, "placeholder": "MyPlugin"}),
        error_messages={
            "invalid": _("A name starts with a letter, followed by letters, digits, dots, dashes, and slashes.")
        },
    )
    description = TextField(max_length=500)
    filter = ExpressionField("node.metadata.labels.disk == 'ssd' ? '' : 'node(s) had no SSD'")
    unresolvable = forms.BooleanField(required=False)
    score = ExpressionField("(allocatable.cpu - requested.cpu) * 100 / allocatable.cpu")
    normalize = forms.ChoiceField()
    weight = forms.IntegerField(min_value=1, max_value=100)
    pre_enqueue = ExpressionField("has(pod.metadata.labels) && 'team' in pod.metadata.labels ? '' : 'say whose it is'")
    permit = ExpressionField("waiting.size() < 2 ? 30 : 0")
    post_filter = ExpressionField("!has(victim.metadata.labels) || !('precious' in victim.metadata.labels)")

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

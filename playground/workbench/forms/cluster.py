"""The form for the components around the schedulers: kube's flags and configurations, the controllers that run, and their speed."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
from django import forms

from playground.workbench.builder import grammar, to_yaml
from playground.workbench.forms.fields import PLAIN, DurationField, FlagsField, GrammarField, PlainForm, add_words
from scheduler_core.scheduler.config import APIServerOptions, ControllerManagerOptions
from scheduler_core.world.readonly import CONTROLLER_NAMES

ADMISSION = ("podNodeSelectorPluginConfig", "ResourceQuotaConfiguration")
DEFAULTS = msgspec.to_builtins(APIServerOptions())
OBJECTS = ("provisioning_errors", "kubelet", "kubelets")
YAML = ("admission", *OBJECTS)
PLAIN_SETTINGS = ("run_kubelets", "stand_in", "reconcile_latency", "api_latency", "image_pull_rate")
MOST_TEXT = 64 << 10
FEWEST_ROWS, MOST_ROWS = 4, 30


KUBELET_DEFAULTS = Path(__file__).with_name("kubelet.txt").read_text(encoding="utf-8")


class YamlField(forms.CharField):
    """An object as YAML; the worker reads it."""

    def __init__(self, example: str, **kwargs: Any) -> None:
        widget = forms.Textarea({**PLAIN, "rows": FEWEST_ROWS, "wrap": "off", "placeholder": example})
        super().__init__(required=False, widget=widget, max_length=MOST_TEXT, strip=False, **kwargs)


@add_words
class ClusterForm(PlainForm):
    """ClusterSettings, as people write them."""

    apiserver = FlagsField(APIServerOptions)
    admission = YamlField("podNodeSelectorPluginConfig:\n  clusterDefaultNodeSelector: disk=ssd")
    controller_manager = FlagsField(ControllerManagerOptions)
    controllers = forms.MultipleChoiceField(
        required=False, choices=[(name, name) for name in CONTROLLER_NAMES], widget=forms.CheckboxSelectMultiple
    )
    provisioners = GrammarField(grammar.split, example="ebs.csi.aws.com")
    provisioning_errors = YamlField("fast: rpc error: code = ResourceExhausted desc = no space left")
    run_kubelets = forms.BooleanField(required=False)
    stand_in = forms.ChoiceField(required=False)
    kubelet = YamlField("evictionHard:\n  memory.available: 100Mi")
    kubelets = YamlField("node-1:\n  maxPods: 20")
    reconcile_latency = DurationField()
    api_latency = DurationField()

    image_pull_rate = forms.IntegerField(min_value=0, max_value=10**12)

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> "ClusterForm":
        """The form filled in with a ClusterSettings as plain data."""
        fields = cls.base_fields
        apiserver = settings["apiserver"]
        chosen = settings["controllers"]
        flags = {name: field.text(settings[name]) for name, field in fields.items() if isinstance(field, FlagsField)}
        initial = {
            **flags,
            "admission": yaml_text({name: apiserver[name] for name in ADMISSION if apiserver[name] != DEFAULTS[name]}),
            **{name: settings[name] for name in PLAIN_SETTINGS},
            **{name: yaml_text(settings[name]) for name in OBJECTS},
            "controllers": list(CONTROLLER_NAMES if chosen is None else chosen),
            "provisioners": ", ".join(settings["provisioners"] or ()),
        }
        return cls(initial=initial)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in ("apiserver", "controller_manager", *YAML):
            lines = str(self[name].value() or "").count("\n")
            self.fields[name].widget.attrs["rows"] = min(max(lines + 2, FEWEST_ROWS), MOST_ROWS)

    def settings(self, read: Mapping[str, Any]) -> dict[str, Any]:
        """Return a valid form's settings, as ClusterSettings takes them; `read` are the objects of its YAML, by field."""
        data = self.cleaned_data
        chosen = data["controllers"]
        return {
            "apiserver": {**data["apiserver"], **read["admission"]},
            "controller_manager": data["controller_manager"],
            **{name: data[name] for name in PLAIN_SETTINGS},
            **{name: read[name] for name in OBJECTS},
            "controllers": None if len(chosen) == len(CONTROLLER_NAMES) else chosen,
            "provisioners": data["provisioners"] or None,
        }

    def field_at(self, path: str) -> tuple[str, str]:
        """Return the field that a path of a refused setting is about, and the rest of the path."""
        name, rest = _below(path.removeprefix("settings.").removeprefix("cluster."))
        if name == "apiserver" and _below(rest)[0] not in self.cleaned_data["apiserver"]:
            return "admission", rest
        return (name, rest) if name in self.fields else ("", path)


def _below(path: str) -> tuple[str, str]:
    """The first field of a path, and the path below it."""
    name = re.split(r"[.[]", path, maxsplit=1)[0]
    return name, path[len(name) :].removeprefix(".")


def yaml_text(data: Mapping[str, Any]) -> str:
    """Return an object as YAML, or "" if it is empty."""
    return to_yaml([dict(data)]) if data else ""

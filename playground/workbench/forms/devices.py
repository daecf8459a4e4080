"""Forms that add devices to nodes, and that create claims."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from playground.workbench.builder import PRESETS, claim_manifests, device_manifests, grammar
from playground.workbench.forms.build import MOST_PODS, BuilderForm, Manifests
from playground.workbench.forms.fields import GrammarField, QuantityField, TextField, add_words

ALL_NODES = "*"
SHARED, EACH = "shared", "each"


@add_words
class DevicesForm(BuilderForm):
    """Devices of one kind for some nodes. `nodes` are the names of existing nodes."""

    groups = ((_("Devices"), ("preset", "count", "nodes", "gates")),)
    preset = forms.ChoiceField(choices=[(preset.slug, preset.title) for preset in PRESETS.values()], initial="gpu")
    count = forms.IntegerField(min_value=1, required=False)
    nodes = GrammarField(grammar.split, initial=ALL_NODES, example="node-1, node-2")
    gates = forms.BooleanField(required=False, initial=True)

    def __init__(self, *args: Any, nodes: tuple[str, ...] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.there = nodes

    def clean_nodes(self) -> list[str]:
        wanted = list(dict.fromkeys(self.cleaned_data["nodes"]))
        if ALL_NODES in wanted:
            wanted = list(self.there)
        if missing := [name for name in wanted if name not in self.there]:
            raise ValidationError(_("“%(name)s” is not the name of a node") % {"name": missing[0]})
        if not wanted:
            raise ValidationError(_("The cluster has no nodes. Add nodes first."))
        return wanted

    def clean(self) -> dict[str, Any]:
        preset, count = PRESETS.get(self.cleaned_data.get("preset") or ""), self.cleaned_data.get("count")
        if preset is not None and count is not None and count > preset.most:
            self.add_error("count", _("at most %(most)s of these per node") % {"most": preset.most})
        return super().clean()

    def make(self) -> Manifests:
        data = self.cleaned_data
        preset = PRESETS[data["preset"]]
        return device_manifests(preset, data["nodes"], data["count"] or preset.count)

    @property
    def settings(self) -> dict[str, bool]:
        """The gates to be turned on, by setting."""
        data = self.cleaned_data
        return dict(PRESETS[data["preset"]].settings) if data["gates"] else {}


@add_words
class ClaimsForm(BuilderForm):
    """A claim that pods share, or a template and pods that each get their own claim."""

    open_groups = 2
    groups = (
        (_("Claim"), ("name", "namespace", "sharing", "device_class", "count")),
        (_("Pods that use the claim"), ("pods", "pod_name", "first", "cpu", "memory")),
        (_("Devices"), ("selectors", "match_attribute", "capacity", "tolerations", "admin")),
    )
    name = TextField(required=True, initial="one-gpu")
    namespace = TextField(required=True, initial="default", max_length=63)
    sharing = forms.ChoiceField(initial=EACH)
    device_class = TextField(required=True, initial="gpu.example.com")
    count = forms.IntegerField(required=False, min_value=1, max_value=32, initial=1)
    pods = forms.IntegerField(min_value=0, max_value=MOST_PODS, initial=1)
    pod_name = TextField(initial="train-{i}")
    first = forms.IntegerField(required=False, min_value=0, max_value=1_000_000, initial=1)
    cpu = QuantityField(initial="500m", example="500m")
    memory = QuantityField(initial="512Mi", example="512Mi")
    selectors = GrammarField(
        lambda text: grammar.lines(text, str),
        rows=3,
        example="device.attributes['gpu.example.com'].model == 'Example G80'",
    )
    match_attribute = TextField(example="gpu.example.com/nvlinkDomain")
    capacity = GrammarField(grammar.parse_resources, example="bandwidth=20G")
    tolerations = GrammarField(grammar.parse_tolerations, example="example.com/broken:NoExecute for 60s", rows=2)
    admin = forms.BooleanField(required=False)

    def make(self) -> Manifests:
        data = dict(self.cleaned_data)
        shared, first = data.pop("sharing") == SHARED, data.pop("first")
        requests = {key: amount for key in ("cpu", "memory") if (amount := data.pop(key))}
        return claim_manifests(**data, shared=shared, first=1 if first is None else first, requests=requests)

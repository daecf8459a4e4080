"""The builder's forms: input, checked field by field, and the resulting manifests."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from playground.workbench.builder import grammar, node_manifests, pod_manifests
from playground.workbench.forms.fields import GrammarField, PlainForm, QuantityField, TextField, add_words
from scheduler_core.world.readonly import label_errors, subdomain_errors

MOST_NODES = 2000
MOST_PODS = 5000
Manifests = list[dict[str, Any]]


class BuilderForm(PlainForm):
    """A form that creates objects. `groups`: titles and field names, in the order of the page."""

    groups: Sequence[tuple[Any, Sequence[str]]] = ()
    open_groups = 1

    def fieldsets(self) -> list[dict[str, Any]]:
        """Return the fieldsets for the template; a group whose fields have values or errors is open."""
        return [self._fieldset(index, title, names) for index, (title, names) in enumerate(self.groups)]

    def _fieldset(self, index: int, title: Any, names: Sequence[str]) -> dict[str, Any]:
        fields = [self[name] for name in names]
        filled = any(field.errors or field.value() not in (None, "", False, field.field.initial) for field in fields)
        return {"title": title, "fields": fields, "open": index < self.open_groups or filled}

    def clean_namespace(self) -> str:
        """Check the namespace of forms that have this field (called by Django)."""
        name: str = self.cleaned_data["namespace"]
        if wrong := first_wrong_name([name], label_errors):
            raise ValidationError(wrong)
        return name

    def make(self) -> Manifests:
        """The manifests of valid values; a PatternError becomes the name's error."""
        raise NotImplementedError

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        self.manifests: Manifests = []
        if self.errors:
            return data
        try:
            manifests = self.make()
        except grammar.PatternError as error:
            raise ValidationError({"name": str(error)}) from error
        if wrong := first_wrong_name(each["metadata"]["name"] for each in manifests):
            raise ValidationError({"name": wrong})
        self.manifests = manifests
        return data


def first_wrong_name(
    names: Iterable[str], errors: Callable[[str], tuple[str, ...] | list[str]] = subdomain_errors
) -> str:
    """Return the first name that the API server would reject, with the reason; "" if all are valid."""
    for name in names:
        if wrong := errors(name):
            return f"“{name}”: {wrong[0]}"
    return ""


def zone_list(text: str) -> list[str]:
    """Return the distinct zones between commas or blanks."""
    return list(dict.fromkeys(text.replace(",", " ").split()))


@add_words
class NodesForm(BuilderForm):
    """Nodes alike but for name and zone."""

    groups = (
        (_("Nodes"), ("count", "name", "cpu", "memory", "resources", "zones", "taints")),
        (_("Labels, limit of pods, numbers"), ("labels", "pods", "first", "unschedulable")),
    )
    count = forms.IntegerField(min_value=1, max_value=MOST_NODES, initial=3)
    name = TextField(required=True, initial="node-{i}")
    first = forms.IntegerField(min_value=0, max_value=1_000_000, initial=1)
    zones = GrammarField(zone_list, example="zone-a, zone-b")
    cpu = QuantityField(required=True, initial="4", example="4")
    memory = QuantityField(required=True, initial="16Gi", example="16Gi")
    pods = forms.IntegerField(min_value=0, max_value=100_000, initial=110)
    resources = GrammarField(grammar.parse_resources, example="nvidia.com/gpu=4")
    labels = GrammarField(grammar.parse_pairs, example="disk=ssd, rack=r1", rows=2)
    taints = GrammarField(grammar.parse_taints, example="dedicated=infra:NoSchedule")
    unschedulable = forms.BooleanField(required=False)

    def make(self) -> Manifests:
        return node_manifests(**self.cleaned_data)


def _build_weighted_parser(parse: Callable[[str], Any]) -> Callable[[str], tuple[int, Any]]:
    """Return a parser of a weight followed by the input of `parse`."""

    def both(text: str) -> tuple[int, Any]:
        weight, rest = grammar.parse_weighted(text)
        return weight, parse(rest)

    return both


def _lines(parse: Callable[[str], Any], example: str) -> GrammarField:
    """A field of which `parse` reads each line."""
    return GrammarField(lambda text: grammar.lines(text, parse), rows=2, example=example)


# Values of pods that are fields of the form, and those whose field has a shorter name.
_AS_FILLED_IN = (
    *("replicas", "name", "first", "namespace", "labels", "annotations", "image", "host_ports", "scheduler_name"),
    *("priority_class", "priority", "node_selector", "node_required", "node_preferred", "tolerations"),
    *("gates", "node_name"),
)
_BY_OTHER_NAMES = {
    "pod_required": "near",
    "pod_preferred": "near_preferred",
    "pod_anti_required": "away",
    "pod_anti_preferred": "away_preferred",
}
SPREAD_WHEN = (("DoNotSchedule", "DoNotSchedule"), ("ScheduleAnyway", "ScheduleAnyway"))


@add_words
class PodsForm(BuilderForm):
    """Pods alike but for the name."""

    groups = (
        (_("Pods"), ("replicas", "name", "first", "namespace", "cpu", "memory", "labels")),
        (_("More resources"), ("resources", "cpu_limit", "memory_limit", "limits", "host_ports", "image")),
        (_("Priority and profile"), ("priority", "priority_class", "scheduler_name", "gates")),
        (_("Node selection"), ("node_selector", "tolerations", "node_required", "node_preferred", "node_name")),
        (_("Pod affinity and anti-affinity"), ("near", "near_preferred", "away", "away_preferred")),
        (_("Topology spread"), ("spread_skew", "spread_key", "spread_when", "spread_selector")),
        (_("Annotations"), ("annotations",)),
    )
    replicas = forms.IntegerField(min_value=1, max_value=MOST_PODS, initial=3)
    name = TextField(required=True, initial="web-{i}")
    first = forms.IntegerField(min_value=0, max_value=1_000_000, initial=1)
    namespace = TextField(required=True, initial="default", max_length=63)
    labels = GrammarField(grammar.parse_pairs, example="app=web", rows=2)
    annotations = GrammarField(grammar.parse_pairs, example="example.com/note=hello", rows=2)
    cpu = QuantityField(initial="500m", example="500m")
    memory = QuantityField(initial="512Mi", example="512Mi")
    resources = GrammarField(grammar.parse_resources, example="nvidia.com/gpu=1")
    cpu_limit = QuantityField(example="1")
    memory_limit = QuantityField(example="1Gi")
    limits = GrammarField(grammar.parse_resources, example="nvidia.com/gpu=1")
    host_ports = GrammarField(grammar.parse_ports, example="8080, 53/UDP")
    image = TextField(example="nginx:1.27")
    priority = forms.IntegerField(required=False, min_value=-2_147_483_648, max_value=1_000_000_000)
    priority_class = TextField(example="high")
    scheduler_name = TextField(example="default-scheduler")
    gates = GrammarField(grammar.split, example="example.com/quota")
    node_selector = GrammarField(grammar.parse_pairs, example="disk=ssd")
    tolerations = GrammarField(grammar.parse_tolerations, example="dedicated=infra:NoSchedule", rows=2)
    node_required = _lines(grammar.parse_requirements, "topology.kubernetes.io/zone in (zone-a, zone-b), !gpu")
    node_preferred = _lines(_build_weighted_parser(grammar.parse_requirements), "50 disk=ssd")
    node_name = TextField()
    near = _lines(grammar.parse_pod_term, "app=cache @ topology.kubernetes.io/zone")
    near_preferred = _lines(_build_weighted_parser(grammar.parse_pod_term), "100 app=cache @ kubernetes.io/hostname")
    away = _lines(grammar.parse_pod_term, "app=web @ kubernetes.io/hostname")
    away_preferred = _lines(_build_weighted_parser(grammar.parse_pod_term), "100 app=web @ topology.kubernetes.io/zone")
    spread_skew = forms.IntegerField(required=False, min_value=1, max_value=10_000)
    spread_key = TextField(example="topology.kubernetes.io/zone")
    spread_when = forms.ChoiceField(choices=SPREAD_WHEN, required=False)
    spread_selector = GrammarField(grammar.parse_label_selector, example="app=web")

    def make(self) -> Manifests:
        data = self.cleaned_data
        return pod_manifests(
            **{name: data[name] for name in _AS_FILLED_IN},
            **{name: data[field] for name, field in _BY_OTHER_NAMES.items()},
            requests=_resources(data["cpu"], data["memory"], data["resources"]),
            limits=_resources(data["cpu_limit"], data["memory_limit"], data["limits"]),
            spread=self._build_spread(),
        )

    def _build_spread(self) -> dict[str, Any] | None:
        data = self.cleaned_data
        if not data["spread_key"]:
            return None
        return {
            "maxSkew": data["spread_skew"] or 1,
            "topologyKey": data["spread_key"],
            "whenUnsatisfiable": data["spread_when"] or "DoNotSchedule",
            "labelSelector": data["spread_selector"] or {"matchLabels": dict(data["labels"])},
        }


def _resources(cpu: str, memory: str, others: dict[str, str]) -> dict[str, str]:
    """Return a resource list of the nonempty inputs."""
    return {key: value for key, value in {"cpu": cpu, "memory": memory, **others}.items() if value}


GPU = "nvidia.com/gpu"
GPU_TAINT = f"{GPU}=present:NoSchedule"
ZONE = "topology.kubernetes.io/zone"
INSTANCES = Path(__file__).parents[1] / "builder/instances.json"


class Preset(NamedTuple):
    """A button above the form. `note`: its main values, in a few characters."""

    name: str
    title: Any
    note: Any
    fields: Mapping[str, Any]


PRESETS: dict[type[BuilderForm], tuple[Preset, ...]] = {
    NodesForm: (
        Preset("small", _("Small"), "2 cpu, 8Gi", {"cpu": "2", "memory": "8Gi"}),
        Preset("large", _("Large"), "16 cpu, 64Gi", {"cpu": "16", "memory": "64Gi"}),
        Preset(
            "gpu",
            "GPU",
            "8 cpu, 32Gi, 1 GPU",
            {"name": "gpu-{i}", "cpu": "8", "memory": "32Gi", "resources": f"{GPU}=1", "taints": GPU_TAINT},
        ),
        Preset(
            "zone",
            _("One per zone"),
            _("zone-a, -b, -c"),
            {"count": 3, "zones": "zone-a, zone-b, zone-c", "cpu": "4", "memory": "16Gi"},
        ),
    ),
    PodsForm: (
        Preset("small", _("Small"), "100m, 128Mi", {"cpu": "100m", "memory": "128Mi"}),
        Preset("large", _("Large"), "4 cpu, 8Gi", {"replicas": 1, "name": "large-{i}", "cpu": "4", "memory": "8Gi"}),
        Preset(
            "gpu",
            "GPU",
            _("1 GPU, tolerates its taint"),
            {
                "replicas": 1,
                "name": "trainer-{i}",
                "cpu": "2",
                "resources": f"{GPU}=1",
                "limits": f"{GPU}=1",
                "tolerations": GPU_TAINT,
            },
        ),
        Preset(
            "zone",
            _("Spread over zones"),
            _("maxSkew 1"),
            {"labels": "app=web", "spread_skew": 1, "spread_key": ZONE, "spread_selector": "app=web"},
        ),
    ),
}


@cache
def list_instances() -> dict[str, dict[str, Preset]]:
    """Return instance types by cloud and name. Their amounts are those that pods can request."""
    clouds: dict[str, dict[str, Preset]] = {}
    for each in json.loads(INSTANCES.read_text()):
        fields = {name: each[name] for name in ("cpu", "memory", "pods")}
        fields |= {"labels": f"node.kubernetes.io/instance-type={each['type']}", "name": "node-{i}"}
        note = f"{each['cpu']}, {each['memory']}"
        if gpus := each.get("gpu"):
            fields |= {"name": "gpu-{i}", "resources": f"{GPU}={gpus}", "taints": GPU_TAINT}
            note += f", {gpus} GPU"
        clouds.setdefault(each["cloud"], {})[each["type"]] = Preset(each["type"], each["type"], note, fields)
    return clouds


def find_preset(form: type[BuilderForm], name: str) -> Preset | None:
    """Return a form's preset, or an instance type for nodes."""
    types = list_instances().values() if form is NodesForm else ()
    known = [*PRESETS.get(form, ()), *(preset for each in types for preset in each.values())]
    return next((preset for preset in known if preset.name == name), None)

"""Presets of the builder's forms: fields filled in for common nodes and pods, and a catalog of cloud instance types."""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from django.utils.translation import gettext_lazy as _

from playground.workbench.forms.build import BuilderForm, NodesForm, PodsForm

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
    """Instance types by cloud and name; what a node of the type has is what its pods can request."""
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

"""The figures' ways to the YAML: each value leads to a field that its object has, and that says it."""

from __future__ import annotations

import html
import re
from typing import Any

from scheduler_core.world.simulation import Simulation
from tests.playground.presenters.test_figures import figures
from tests.playground.presenters.test_figures import html as page_of
from tests.playground.presenters.worlds import ZONE, decided, node, pod, shown, until, world
from tests.scheduler_core.scheduler.plugins.dynamicresources.worlds import device_world
from tests.support import devices
from tests.support.storage import make_claim, make_class, make_csi_node, make_volume

LINK = re.compile(r'data-(node|pod|claim|controller)="([^"]*)" data-tab="yaml" data-field="([^"]*)">([^<]*)</a>')

HERE = {"path": "/data"}


def marked(sim: Simulation, on: str, plugin: str) -> dict[str, list[str]]:
    """Value -> the lines of YAML that its links mark."""
    found: dict[str, list[str]] = {}
    for about, key, field, text in LINK.findall(page_of(figures(sim, on)[plugin])):
        look = {about: html.unescape(key), "field": html.unescape(field)}
        body = shown("inspector", sim, about=about, tab="yaml", **look)["context"]["body"]
        found.setdefault(text, []).append(" ".join(body["mark"].split()))
    return found


def with_port(name: str, port: int, **spec: Any) -> dict[str, Any]:
    """A pod whose sidecar wants a host port; the port of a container that only initialises counts for nothing."""
    once = {"name": "once", "image": "i", "ports": [{"containerPort": 9, "hostPort": 9}]}
    sidecar = {"name": "s", "image": "i", "restartPolicy": "Always", "ports": [{"containerPort": 1, "hostPort": port}]}
    return pod(name, initContainers=[once, sidecar], **spec)


def claiming(name: str, **spec: Any) -> dict[str, Any]:
    return pod(name, volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}], **spec)


def test_a_host_port_leads_to_where_both_pods_ask_for_it() -> None:
    sim = until(world(node("a"), with_port("old", 80, nodeName="a"), with_port("new", 80)), decided())
    assert marked(sim, "a", "NodePorts") == {"0.0.0.0:80/TCP": ["hostPort: 80", "hostPort: 80"]}


def test_a_volumes_zone_leads_to_its_label_and_to_the_nodes() -> None:
    bound = make_claim("c", volume="v"), make_volume("v", claim="c", labels={ZONE: "z1"}, hostPath=HERE)
    sim = until(world(node("a", labels={ZONE: "z2"}), make_class(), *bound, claiming("p")), decided())
    assert marked(sim, "a", "VolumeZone") == {"z1": [f"{ZONE}: z1"], "z2": [f"{ZONE}: z2"]}


def test_a_claim_leads_to_its_volume_and_a_volume_to_the_nodes_that_reach_it() -> None:
    bound = make_claim("c", volume="v"), make_volume("v", claim="c", hosts=["b"], hostPath=HERE)
    sim = until(world(node("a"), node("b"), make_class(), *bound, claiming("p")), decided())
    found = marked(sim, "a", "VolumeBinding")
    assert found["c"] == ["volumeName: v"]
    assert found["v"][0].startswith("nodeAffinity: required:")


def test_a_drivers_limit_leads_to_the_csi_node() -> None:
    volume = make_volume("v", claim="c", csi={"driver": "csi.x", "volumeHandle": "h"})
    made = make_class(), make_csi_node("a", {"csi.y": 7, "csi.x": 0}), make_claim("c", volume="v"), volume
    sim = until(world(node("a"), *made, claiming("p")), decided())
    assert marked(sim, "a", "NodeVolumeLimits") == {"7": ["count: 7"], "0": ["count: 0"]}


def test_devices_lead_to_their_slices_and_claims_to_what_they_ask_for() -> None:
    asked = devices.claim("c", count=2)
    uses = devices.claiming(pod("p"), "c")
    sim = until(device_world(node("a"), asked, uses, devices.gpus("a", 2)), decided())
    found = marked(sim, "a", "DynamicResources")
    assert found["c"][0].startswith("requests: - name: r")
    assert "name: gpu-1" in found["r=gpu.example.com/a/gpu-1"][0]
    sim = until(device_world(node("a"), asked, uses, devices.gpus("a", 1)), decided())
    assert "name: gpu-0" in marked(sim, "a", "DynamicResources")["gpu.example.com/a/gpu-0"][0]

from typing import Any

import pytest

from scheduler_core.apimachinery.objects.storage.csi_migration import (
    handle_of,
    in_tree_plugin,
    is_counted_on,
    is_migrated_on,
    translate_affinity,
)
from tests.support.storage import make_csi_node, make_volume

ZONE, OLD_ZONE = "topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"
GKE_ZONE = "topology.gke.io/zone"


@pytest.mark.parametrize(
    ("source", "labels", "handle"),
    [
        ({"gcePersistentDisk": {"pdName": "d"}}, {}, "projects/UNSPECIFIED/zones/UNSPECIFIED/disks/d"),
        ({"gcePersistentDisk": {"pdName": "d"}}, {ZONE: "z"}, "projects/UNSPECIFIED/zones/z/disks/d"),
        ({"awsElasticBlockStore": {"volumeID": "vol-1"}}, {}, "vol-1"),
        ({"awsElasticBlockStore": {"volumeID": "aws://us-east-1a/vol-1"}}, {}, "vol-1"),
        ({"azureDisk": {"diskName": "d", "diskURI": "u", "kind": "Managed"}}, {}, "u"),
        ({"cinder": {"volumeID": "x"}}, {}, "x"),
    ],
)
def test_an_in_tree_source_has_the_handle_its_driver_gives_it(
    source: dict[str, Any], labels: dict[str, str], handle: str
) -> None:
    plugin = in_tree_plugin(source)
    assert plugin is not None
    assert handle_of(plugin, source[plugin.source], labels) == handle


@pytest.mark.parametrize(
    "source", [{"awsElasticBlockStore": {"volumeID": "aws://z/disk"}}, {"azureDisk": {"kind": "Shared"}}]
)
def test_a_source_that_can_not_be_translated_is_an_error(source: dict[str, Any]) -> None:
    plugin = in_tree_plugin(source)
    assert plugin is not None
    with pytest.raises(ValueError, match=r"Invalid format|not supported"):
        handle_of(plugin, source[plugin.source], {})


def test_limits_count_most_plugins_wherever_there_is_a_csi_node() -> None:
    gce, portworx = in_tree_plugin({"gcePersistentDisk": {}}), in_tree_plugin({"portworxVolume": {}})
    assert gce is not None
    assert portworx is not None
    bare, listed = make_csi_node("a", {}), make_csi_node("a", {}, migrated="kubernetes.io/portworx-volume")
    assert [is_counted_on(node, gce) for node in (None, bare)] == [False, True]
    assert [is_counted_on(node, portworx) for node in (bare, listed)] == [False, True]
    assert [is_migrated_on(node, gce) for node in (bare, listed)] == [False, False]


def affinity(volume: dict[str, Any]) -> list[tuple[str, list[str]]]:
    plugin = in_tree_plugin(volume["spec"])
    assert plugin is not None
    spec = translate_affinity(plugin, volume)["spec"]
    terms = ((spec.get("nodeAffinity") or {}).get("required") or {}).get("nodeSelectorTerms") or []
    return [(e["key"], e["values"]) for term in terms for e in term["matchExpressions"]]


def zonal(key: str) -> dict[str, Any]:
    expression = {"key": key, "operator": "In", "values": ["z"]}
    return {"required": {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}}


@pytest.mark.parametrize(
    ("fields", "labels", "expected"),
    [
        ({}, {}, []),
        ({}, {ZONE: "z2__z1"}, [(GKE_ZONE, ["z1", "z2"])]),
        ({}, {OLD_ZONE: "z1"}, [(GKE_ZONE, ["z1"])]),
        ({"nodeAffinity": zonal(ZONE)}, {ZONE: "other"}, [(GKE_ZONE, ["z"])]),
        ({"nodeAffinity": zonal(OLD_ZONE)}, {}, [(GKE_ZONE, ["z"])]),
        ({"nodeAffinity": zonal("rack")}, {ZONE: "z1"}, [("rack", ["z"]), (GKE_ZONE, ["z1"])]),
    ],
)
def test_zones_become_the_drivers_own_label(
    fields: dict[str, Any], labels: dict[str, str], expected: list[tuple[str, list[str]]]
) -> None:
    assert affinity(make_volume("v", labels=labels, gcePersistentDisk={"pdName": "d"}, **fields)) == expected

"""VolumeBinding: what it refuses, what it reserves, and how it waits."""

from typing import Any

import pytest

from scheduler_core.scheduler.framework.cycle_state import CycleState
from scheduler_core.scheduler.framework.status import SKIP, Code, Status, error, unresolvable
from scheduler_core.scheduler.plugins.volumebinding.plugin import VolumeBinding
from scheduler_core.testing.builders import PodBuilder, make_node, make_pod, make_table
from tests.support.drive import all_rows, filter_nodes
from tests.support.explained import rows
from tests.support.storage import Objects, make_claim, make_class, make_csi_node, make_volume

SECOND = 10**9
CONFLICT = unresolvable("node(s) didn't match PersistentVolume's node affinity")
NO_MATCH = unresolvable("node(s) didn't find available persistent volumes to bind")
NO_SPACE = unresolvable("node(s) did not have enough free storage")
NO_VOLUME = unresolvable("node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)")

NODES = [make_node(name).zone(f"z{name}") for name in "abc"]
TABLE = make_table(NODES)
POD = make_pod("p").claims("c").pod()


def plugin_with(*objects: dict[str, Any], timeout: int = 600) -> tuple[VolumeBinding, Objects]:
    nodes = [node.manifest() for node in NODES]
    handle = Objects([*objects, *nodes, {"kind": "Pod", "metadata": {"namespace": "default", "name": "p"}}])
    return VolumeBinding({"bindTimeoutSeconds": timeout}, handle), handle


def refusals(*objects: dict[str, Any], pod: PodBuilder | None = None) -> dict[str, Status | None]:
    plugin, _ = plugin_with(*objects)
    return filter_nodes(plugin, POD if pod is None else pod.pod(), TABLE)


def pre_filter(*objects: dict[str, Any], pod: PodBuilder | None = None) -> Status:
    plugin, _ = plugin_with(*objects)
    return plugin.pre_filter(CycleState(), POD if pod is None else pod.pod(), TABLE).status


def reserved(plugin: VolumeBinding, node: str, pod: Any = POD) -> CycleState:
    """The state of a cycle that has come to Reserve on a node."""
    state = CycleState()
    assert plugin.pre_filter(state, pod, TABLE).status.ok
    plugin.filter(state, pod, TABLE, all_rows(TABLE))
    assert plugin.reserve(state, pod, node).ok
    return state


# PreFilter


def test_a_pod_without_claims_is_skipped() -> None:
    pod = make_pod("p").volumes({"name": "tmp", "emptyDir": {}})
    assert pre_filter(pod=pod) == SKIP


@pytest.mark.parametrize(
    ("claim", "refusal"),
    [
        (None, 'persistentvolumeclaim "c" not found'),
        (
            {**make_claim("c", volume="v"), "status": {"phase": "Lost"}},
            'persistentvolumeclaim "c" bound to non-existent persistentvolume "v"',
        ),
        (make_claim("c", "now"), "pod has unbound immediate PersistentVolumeClaims"),
        (make_claim("c", "unknown"), "pod has unbound immediate PersistentVolumeClaims"),
        (make_claim("c", volumeName="v"), "pod has unbound immediate PersistentVolumeClaims"),
    ],
)
def test_a_claim_that_can_not_be_used_refuses_every_node(claim: dict[str, Any] | None, refusal: str) -> None:
    classes = [make_class(), make_class("now", mode="Immediate")]
    assert pre_filter(*classes, *([] if claim is None else [claim])) == unresolvable(refusal)


def test_a_claim_that_is_being_deleted_refuses_every_node() -> None:
    claim = make_claim("c", volume="v")
    claim["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    assert pre_filter(claim) == unresolvable('persistentvolumeclaim "c" is being deleted')


EPHEMERAL = make_pod("p").volumes({"name": "scratch", "ephemeral": {}})


def test_an_ephemeral_volume_waits_for_its_claim() -> None:
    text = 'waiting for ephemeral volume controller to create the persistentvolumeclaim "p-scratch"'
    assert pre_filter(pod=EPHEMERAL) == unresolvable(text)


def test_a_claim_of_the_same_name_that_is_not_the_pods_own_is_refused() -> None:
    text = "PVC default/p-scratch was not created for pod default/p (pod is not owner)"
    assert pre_filter(make_claim("p-scratch"), pod=EPHEMERAL) == unresolvable(text)


def test_a_class_without_a_binding_mode_is_an_error() -> None:
    storage_class = make_class()
    del storage_class["volumeBindingMode"]
    text = 'VolumeBindingMode not set for StorageClass "local"'
    assert pre_filter(storage_class, make_claim("c")) == error(text)


# Filter: bound claims


def test_a_bound_claim_leaves_the_nodes_its_volume_can_be_reached_from() -> None:
    found = refusals(make_claim("c", volume="v"), make_volume("v", hosts=["a", "c"], claim="c"))
    assert found == {"a": None, "b": CONFLICT, "c": None}


def test_a_bound_claim_without_its_volume_leaves_no_node() -> None:
    assert set(refusals(make_claim("c", volume="gone")).values()) == {NO_VOLUME}


def test_of_two_bound_claims_the_first_that_fails_gives_the_reason() -> None:
    pod = make_pod("p").claims("c", "d")
    claims = make_claim("c", volume="v"), make_claim("d", volume="gone")
    found = refusals(*claims, make_volume("v", hosts=["a"], claim="c"), pod=pod)
    assert found == {"a": NO_VOLUME, "b": CONFLICT, "c": CONFLICT}


def test_the_name_of_a_node_is_no_field_of_a_volumes_affinity() -> None:
    field = {"key": "metadata.name", "operator": "In", "values": ["a"]}
    affinity = {"required": {"nodeSelectorTerms": [{"matchFields": [field]}]}}
    found = refusals(make_claim("c", volume="v"), make_volume("v", claim="c", nodeAffinity=affinity))
    assert set(found.values()) == {CONFLICT}


def test_terms_of_a_volumes_affinity_are_alternatives_and_their_expressions_are_not() -> None:
    host = {"key": "kubernetes.io/hostname", "operator": "In", "values": ["a", "b"]}
    zone = {"key": "topology.kubernetes.io/zone", "operator": "NotIn", "values": ["za"]}
    other = {"key": "kubernetes.io/hostname", "operator": "In", "values": ["c"]}
    terms = [{"matchExpressions": [host, zone]}, {"matchExpressions": [other]}]
    affinity = {"required": {"nodeSelectorTerms": terms}}
    found = refusals(make_claim("c", volume="v"), make_volume("v", claim="c", nodeAffinity=affinity))
    assert found == {"a": CONFLICT, "b": None, "c": None}


def test_a_migrated_volume_asks_for_the_zone_label_of_its_driver() -> None:
    zone = {"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["za", "zb"]}
    affinity = {"required": {"nodeSelectorTerms": [{"matchExpressions": [zone]}]}}
    volume = make_volume("v", claim="c", nodeAffinity=affinity, gcePersistentDisk={"pdName": "d"})
    csi_node = make_csi_node("b", {}, migrated="kubernetes.io/gce-pd")
    assert refusals(make_claim("c", volume="v"), volume, csi_node) == {"a": None, "b": CONFLICT, "c": CONFLICT}


# Filter: claims that wait for the pod


def test_a_waiting_claim_needs_a_volume_on_the_node() -> None:
    found = refusals(make_class(), make_claim("c"), make_volume("v", hosts=["b"]))
    assert found == {"a": NO_MATCH, "b": None, "c": NO_MATCH}


@pytest.mark.parametrize(
    "volume",
    [
        make_volume("v", size="500Mi"),
        make_volume("v", storage_class="other"),
        make_volume("v", accessModes=["ReadOnlyMany"]),
        make_volume("v", volumeMode="Block"),
        make_volume("v", claim="another"),
        make_volume("v", volumeAttributesClassName="gold"),
        {**make_volume("v"), "status": {"phase": "Released"}},
    ],
)
def test_a_volume_that_does_not_suit_is_not_taken(volume: dict[str, Any]) -> None:
    assert set(refusals(make_class(), make_claim("c"), volume).values()) == {NO_MATCH}


def test_a_claims_selector_chooses_among_volumes() -> None:
    claim = make_claim("c", selector={"matchLabels": {"disk": "ssd"}})
    volumes = make_volume("v", hosts=["a"], labels={"disk": "ssd"}), make_volume("w", hosts=["b"])
    assert refusals(make_class(), claim, *volumes) == {"a": None, "b": NO_MATCH, "c": NO_MATCH}


def test_a_volume_meant_for_the_claim_is_the_only_one_it_gets() -> None:
    volumes = make_volume("mine", claim="c", hosts=["a"]), make_volume("free", size="2Gi")
    plugin, _ = plugin_with(make_class(), make_claim("c"), *volumes)
    assert filter_nodes(plugin, POD, TABLE) == {"a": None, "b": NO_MATCH, "c": NO_MATCH}


def test_two_claims_of_a_pod_get_two_volumes() -> None:
    pod = make_pod("p").claims("c", "d")
    volumes = [make_volume("v", hosts=["a", "b"]), make_volume("w", hosts=["b", "c"])]
    found = refusals(make_class(), make_claim("c"), make_claim("d"), *volumes, pod=pod)
    assert found == {"a": NO_MATCH, "b": None, "c": NO_MATCH}


def test_reasons_of_bound_and_waiting_claims_are_told_together() -> None:
    pod = make_pod("p").claims("c", "d")
    bound = make_claim("c", volume="v"), make_volume("v", hosts=["a"], claim="c")
    found = refusals(make_class(), make_claim("d"), *bound, pod=pod)
    assert found["b"] == unresolvable(*CONFLICT.reasons, *NO_MATCH.reasons)


def test_allowed_topologies_limit_where_a_volume_can_be_made() -> None:
    expression = {"key": "topology.kubernetes.io/zone", "values": ["za", "zc"]}
    allowed = [{"matchLabelExpressions": [expression]}]
    storage_class = make_class(provisioner="csi.x", allowedTopologies=allowed)
    assert refusals(storage_class, make_claim("c")) == {"a": None, "b": NO_MATCH, "c": None}


def test_a_claim_that_has_chosen_a_node_fits_that_node_only() -> None:
    claim = make_claim("c")
    claim["metadata"]["annotations"] = {"volume.kubernetes.io/selected-node": "b"}
    found = refusals(make_class(provisioner="csi.x"), claim, make_volume("v", hosts=["a"]))
    assert found == {"a": NO_MATCH, "b": None, "c": NO_MATCH}


def capacity(name: str, zone: str, **sizes: str) -> dict[str, Any]:
    topology = {"matchLabels": {"topology.kubernetes.io/zone": zone}}
    meta = {"name": name, "namespace": "default"}
    fields = {"storageClassName": "local", "nodeTopology": topology}
    return {"kind": "CSIStorageCapacity", "metadata": meta, **fields, **sizes}


@pytest.mark.parametrize(("tracked", "refusal"), [(True, NO_SPACE), (False, None)])
def test_capacity_counts_where_the_driver_keeps_track_of_it(tracked: bool, refusal: Status | None) -> None:
    driver = {"kind": "CSIDriver", "metadata": {"name": "csi.x"}, "spec": {"storageCapacity": tracked}}
    room = [capacity("one", "za", capacity="1Gi"), capacity("two", "zb", capacity="9Gi", maximumVolumeSize="1023Mi")]
    found = refusals(make_class(provisioner="csi.x"), make_claim("c"), driver, *room)
    assert found == {"a": None, "b": refusal, "c": refusal}


def test_a_class_that_has_gone_since_is_an_error_where_a_volume_would_be_made() -> None:
    plugin, handle = plugin_with(make_class(), make_claim("c"), make_volume("v", hosts=["a"]))
    state = CycleState()
    plugin.pre_filter(state, POD, TABLE)
    handle.drop("StorageClass", "", "local")
    verdicts = plugin.filter(state, POD, TABLE, all_rows(TABLE))
    assert verdicts is not None
    statuses = [verdicts.statuses[i] if i >= 0 else None for i in verdicts.reason]
    assert statuses == [None, *[error('failed to find storage class "local"')] * 2]


# Reserve, Unreserve, PreBind


def test_the_smallest_volume_that_is_large_enough_is_reserved() -> None:
    volumes = make_volume("big", size="9Gi"), make_volume("fits", size="2Gi"), make_volume("tiny", size="1Mi")
    plugin, handle = plugin_with(make_class(), make_claim("c"), *volumes)
    reserved(plugin, "a")
    assert list(handle.assumed) == [("PersistentVolume", "", "fits")]


def test_the_smaller_claim_chooses_first() -> None:
    pod = make_pod("p").claims("large", "small").pod()
    claims = make_claim("large", size="3Gi"), make_claim("small", size="1Gi")
    volumes = make_volume("v2", size="2Gi"), make_volume("v4", size="4Gi")
    plugin, handle = plugin_with(make_class(), *claims, *volumes)
    reserved(plugin, "a", pod)
    taken = {key[2]: volume["spec"]["claimRef"]["name"] for key, volume in handle.assumed.items()}
    assert taken == {"v2": "small", "v4": "large"}


def test_a_reserved_volume_is_taken_for_the_next_pod() -> None:
    plugin, _ = plugin_with(make_class(), make_claim("c"), make_claim("d"), make_volume("v"))
    reserved(plugin, "a")
    assert set(filter_nodes(plugin, make_pod("q").claims("d").pod(), TABLE).values()) == {NO_MATCH}


def test_what_was_reserved_is_free_after_unreserve() -> None:
    plugin, handle = plugin_with(make_class(), make_claim("c"), make_claim("d"), make_volume("v"))
    plugin.unreserve(reserved(plugin, "a"), POD, "a")
    assert handle.assumed == {}
    assert set(filter_nodes(plugin, make_pod("q").claims("d").pod(), TABLE).values()) == {None}


def test_an_assumption_gives_way_to_a_newer_version() -> None:
    plugin, handle = plugin_with(make_class(), make_claim("c"), make_claim("d"), make_volume("v"))
    reserved(plugin, "a")
    handle.patch("PersistentVolume", "", "v", {"metadata": {"labels": {"x": "y"}}}, POD)
    assert set(filter_nodes(plugin, make_pod("q").claims("d").pod(), TABLE).values()) == {None}


def test_pre_bind_does_nothing_for_bound_claims() -> None:
    plugin, handle = plugin_with(make_claim("c", volume="v"), make_volume("v", claim="c"))
    assert plugin.pre_bind(reserved(plugin, "a"), POD, "a").status.ok
    assert handle.assumed == {}


def test_pre_bind_binds_the_volume_and_waits_for_the_claim() -> None:
    plugin, handle = plugin_with(make_class(), make_claim("c"), make_volume("v"))
    state = reserved(plugin, "a")
    first = plugin.pre_bind(state, POD, "a")
    assert (first.status.code, first.latency) == (Code.WAIT, SECOND)
    assert (handle.get("PersistentVolume", "", "v") or {})["spec"]["claimRef"]["uid"] == "uid-c"
    assert plugin.pre_bind(state, POD, "a").status.code is Code.WAIT
    handle.put(make_claim("c", volume="v"))
    assert plugin.pre_bind(state, POD, "a").status.ok


def test_pre_bind_selects_the_node_for_a_volume_to_be_made() -> None:
    plugin, handle = plugin_with(make_class(provisioner="csi.x"), make_claim("c"))
    state = reserved(plugin, "b")
    assert plugin.pre_bind(state, POD, "b").status.code is Code.WAIT
    annotations = (handle.get("PersistentVolumeClaim", "default", "c") or {})["metadata"]["annotations"]
    assert annotations["volume.kubernetes.io/selected-node"] == "b"


def test_pre_bind_times_out() -> None:
    plugin, _ = plugin_with(make_class(), make_claim("c"), make_volume("v"), timeout=3)
    state = reserved(plugin, "a")
    answers = [plugin.pre_bind(state, POD, "a").status for _ in range(4)]
    assert [answer.code for answer in answers[:3]] == [Code.WAIT] * 3
    assert answers[3] == error("binding volumes: context deadline exceeded")


def test_a_volume_that_somebody_changed_since_can_not_be_written() -> None:
    plugin, handle = plugin_with(make_class(), make_claim("c"), make_volume("v"))
    state = reserved(plugin, "a")
    handle.patch("PersistentVolume", "", "v", {"metadata": {"labels": {"x": "y"}}}, POD)
    answer = plugin.pre_bind(state, POD, "a").status
    assert answer == error(
        'Operation cannot be fulfilled on persistentvolumes "v": the object has been modified; '
        "please apply your changes to the latest version and try again"
    )
    assert handle.assumed == {}


def later(change: str) -> Status:
    """PreBind's second answer after something went wrong in between."""
    plugin, handle = plugin_with(make_class(provisioner="csi.x"), make_claim("c"))
    state = reserved(plugin, "a")
    plugin.pre_bind(state, POD, "a")
    if change == "choice taken back":
        patch = {"metadata": {"annotations": {"volume.kubernetes.io/selected-node": "", "x": "y"}}}
        handle.patch("PersistentVolumeClaim", "default", "c", patch, POD)
    elif change == "bound elsewhere":
        handle.put(make_volume("v", hosts=["b"], claim="c"))
        handle.patch("PersistentVolumeClaim", "default", "c", {"spec": {"volumeName": "v"}}, POD)
    else:
        kind, namespace, name = {
            "claim gone": ("PersistentVolumeClaim", "default", "c"),
            "node gone": ("Node", "", "a"),
            "pod gone": ("Pod", "default", "p"),
        }[change]
        handle.drop(kind, namespace, name)
    return plugin.pre_bind(state, POD, "a").status


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ("choice taken back", 'provisioning failed for PVC "c"'),
        ("bound elsewhere", 'pv "v" node affinity doesn\'t match node "a": no matching NodeSelectorTerms'),
        ("claim gone", 'failed to check provisioning pvc: could not find v1.PersistentVolumeClaim "default/c"'),
        ("node gone", 'failed to get node "a": node "a" not found'),
        ("pod gone", 'pod does not exist any more: pod "p" not found'),
    ],
)
def test_waiting_ends_with_an_error_when_it_has_become_useless(change: str, text: str) -> None:
    assert later(change) == error(f"binding volumes: {text}")


def test_without_pre_filter_it_fails() -> None:
    plugin, _ = plugin_with()
    assert plugin.reserve(CycleState(), POD, "a") == error("not found")
    assert plugin.pre_bind(CycleState(), POD, "a").status == error("not found")


def test_it_explains_what_each_claim_has_or_would_get() -> None:
    pod = make_pod("p").claims("b", "c").pod()
    bound = make_claim("b", volume="w"), make_volume("w", hosts=["a"], claim="b")
    plugin, _ = plugin_with(make_class(), make_claim("c"), make_volume("v", hosts=["a"]), *bound)
    state = CycleState()
    plugin.pre_filter(state, pod, TABLE)
    plugin.filter(state, pod, TABLE, all_rows(TABLE))
    assert rows(plugin.explain(state, pod, TABLE, 0)) == [
        ("default/b", "bound to w"),
        ("default/c [local]", "would get v [v w]"),
    ]
    there, offered = rows(plugin.explain(state, pod, TABLE, 1))
    assert there == ("default/b", "bound to w: not accessible from this node", "bad")
    assert offered[1].endswith("[v (not accessible) w (not accessible)]")

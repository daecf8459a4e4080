"""VolumeBinding over all rows against a plain reading of kube's FindPodVolumes, one node at a time, on generated clusters."""

from __future__ import annotations

from collections.abc import Mapping

from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler_core.apimachinery.objects.manifest import MutableManifest
from scheduler_core.apimachinery.objects.quantity import value
from scheduler_core.scheduler.framework.cycle_state import CycleState
from scheduler_core.scheduler.plugins.volumebinding.plugin import PLAN, VolumeBinding
from scheduler_core.testing.builders import make_node, make_pod, make_table
from tests.support.drive import all_rows
from tests.support.storage import Objects, make_claim, make_class, make_volume

HOSTS, ZONES = ("n0", "n1", "n2", "n3"), ("za", "zb")
HOST, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
SIZES = ("1Gi", "2Gi", "1536Mi", "3Gi")
CLASSES = ("static", "made", "zonal")
SELECTED = "volume.kubernetes.io/selected-node"

STORAGE_CLASSES = [
    make_class("static"),
    make_class("made", "csi.x"),
    make_class("zonal", "csi.y", allowedTopologies=[{"matchLabelExpressions": [{"key": ZONE, "values": ["zb"]}]}]),
]

expressions = st.sampled_from(
    [
        {"key": HOST, "operator": "In", "values": ["n0", "n2"]},
        {"key": HOST, "operator": "In", "values": ["n1"]},
        {"key": HOST, "operator": "NotIn", "values": ["n1"]},
        {"key": ZONE, "operator": "In", "values": ["za"]},
        {"key": ZONE, "operator": "Exists"},
        {"key": "gone", "operator": "DoesNotExist"},
    ]
)
terms = st.lists(st.lists(expressions, max_size=2), max_size=2)
volume_shapes = st.tuples(
    st.sampled_from(CLASSES), st.sampled_from(SIZES), st.none() | terms, st.sampled_from(("", "", "c0", "other"))
)
claim_shapes = st.tuples(
    st.sampled_from(CLASSES), st.sampled_from(SIZES), st.sampled_from((None, None, None, "n0", "n1"))
)
bound_shapes = st.lists(st.sampled_from(("b0", "gone")), max_size=1)


def volume_of(i: int, shape: tuple[str, str, list[list[MutableManifest]] | None, str]) -> MutableManifest:
    storage_class, size, alternatives, claim = shape
    fields: MutableManifest = {}
    if alternatives is not None:
        selector = {"nodeSelectorTerms": [{"matchExpressions": term} for term in alternatives]}
        fields["nodeAffinity"] = {"required": selector}
    found = make_volume(f"v{i}", storage_class, size, claim=claim, **fields)
    return {**found, "status": {"phase": "Available"}}


def claim_of(i: int, shape: tuple[str, str, str | None]) -> MutableManifest:
    found = make_claim(f"c{i}", shape[0], shape[1])
    if shape[2] is not None:
        found["metadata"]["annotations"] = {SELECTED: shape[2]}
    return found


# kube's rules, node by node


def accepts(expression: MutableManifest, labels: Mapping[str, str]) -> bool:
    found = labels.get(expression["key"])
    match expression["operator"]:
        case "In":
            return found in expression["values"]
        case "NotIn":
            return found not in expression["values"]
        case "Exists":
            return found is not None
    return found is None


def reaches(volume: MutableManifest, labels: Mapping[str, str]) -> bool:
    if "nodeAffinity" not in volume["spec"]:
        return True
    alternatives = volume["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"]
    return any(
        term["matchExpressions"] and all(accepts(e, labels) for e in term["matchExpressions"]) for term in alternatives
    )


def size_of(amounts: MutableManifest) -> int:
    return value(amounts["storage"])


def best(
    claim: MutableManifest, offered: list[MutableManifest], taken: list[str], labels: Mapping[str, str]
) -> MutableManifest | None:
    smallest: MutableManifest | None = None
    for volume in offered:
        ref, spec = volume["spec"].get("claimRef"), volume["spec"]
        if volume["metadata"]["name"] in taken or (ref and ref["name"] != claim["metadata"]["name"]):
            continue
        if size_of(spec["capacity"]) < size_of(claim["spec"]["resources"]["requests"]):
            continue
        if ref:
            return volume if reaches(volume, labels) else None
        if not reaches(volume, labels):
            continue
        if smallest is None or size_of(spec["capacity"]) < size_of(smallest["spec"]["capacity"]):
            smallest = volume
    return smallest


def on_node(
    name: str,
    labels: Mapping[str, str],
    claims: list[MutableManifest],
    volumes: list[MutableManifest],
    bound: MutableManifest | None,
) -> tuple[list[str], dict[str, str], list[str]]:
    """Reasons, claim -> volume, and the claims that get a new volume."""
    reasons, static, made = [], {}, []
    if bound is not None and not reaches(bound, labels):
        reasons.append("node(s) didn't match PersistentVolume's node affinity")
    no_match = ["node(s) didn't find available persistent volumes to bind"]
    selected = {c["metadata"]["name"]: c["metadata"]["annotations"].get(SELECTED) for c in claims}
    if any(node is not None and node != name for node in selected.values()):
        return reasons + no_match, {}, []
    to_make = [c for c in claims if selected[c["metadata"]["name"]] is not None]
    to_match = [c for c in claims if selected[c["metadata"]["name"]] is None]
    for claim in sorted(to_match, key=lambda c: size_of(c["spec"]["resources"]["requests"])):
        offered = [v for v in volumes if v["spec"]["storageClassName"] == claim["spec"]["storageClassName"]]
        found = best(claim, offered, list(static.values()), labels)
        if found is None:
            to_make.append(claim)
        else:
            static[claim["metadata"]["name"]] = found["metadata"]["name"]
    for claim in to_make:
        storage_class = claim["spec"]["storageClassName"]
        if storage_class == "static" or (storage_class == "zonal" and labels.get(ZONE) != "zb"):
            return reasons + no_match, static, []
        made.append(claim["metadata"]["name"])
    return reasons, static, made


@settings(max_examples=300)
@given(
    st.lists(st.none() | st.sampled_from(ZONES), min_size=1, max_size=4),
    st.lists(claim_shapes, max_size=3),
    st.lists(volume_shapes, max_size=6),
    st.none() | terms,
)
def test_every_row_finds_what_kube_would_find_on_that_node(
    zones: list[str | None],
    claim_list: list[tuple[str, str, str | None]],
    volume_list: list[tuple[str, str, list[list[MutableManifest]] | None, str]],
    bound_terms: list[list[MutableManifest]] | None,
) -> None:
    nodes = [make_node(HOSTS[i]) if zone is None else make_node(HOSTS[i]).zone(zone) for i, zone in enumerate(zones)]
    table = make_table(nodes)
    claims = [claim_of(i, shape) for i, shape in enumerate(claim_list)]
    volumes = [volume_of(i, shape) for i, shape in enumerate(volume_list)]
    bound = volume_of(9, ("static", "1Gi", bound_terms, "b0"))
    pod = make_pod("p").claims("b0", *(f"c{i}" for i in range(len(claims)))).pod()
    objects = [*STORAGE_CLASSES, *claims, *volumes, bound, make_claim("b0", volume="v9")]
    expected = {
        name: on_node(name, table.nodes[row].labels, claims, volumes, bound) for row, name in enumerate(table.names)
    }
    for row, name in enumerate(table.names):
        plugin, state = VolumeBinding({"bindTimeoutSeconds": 600}, Objects(objects)), CycleState()
        assert plugin.pre_filter(state, pod, table).status.ok
        verdicts = plugin.filter(state, pod, table, all_rows(table))
        reason = -1 if verdicts is None else int(verdicts.reason[row])
        reasons, static, made = expected[name]
        assert list(verdicts.statuses[reason].reasons if verdicts and reason >= 0 else ()) == reasons
        if reasons:
            continue
        assert plugin.reserve(state, pod, name).ok
        plan = state.read(PLAN)
        assert {c["metadata"]["name"]: v["metadata"]["name"] for v, c in plan.static} == static
        assert [c["metadata"]["name"] for c in plan.dynamic] == made

"""The allocator as kube's own tables describe it: which devices claims get, and why not.

kube: dynamic-resource-allocation/structured/internal/allocatortesting/allocator_testing.go @ v1.34.1
"""

import json
import math
from dataclasses import replace
from typing import Any

import pytest

from scheduler_core.apimachinery.dra.features import (
    DEFAULT_DEVICE_FEATURES,
    AllocationError,
    AllocationTimeout,
    DeviceFeatures,
)
from scheduler_core.apimachinery.dra.results import AllocatedState
from scheduler_core.apimachinery.dra.watch import SearchTree, SeenEnough
from tests.scheduler_core.apimachinery.dra.build import (
    NameSelectors,
    allocate,
    ask,
    claim,
    classes,
    device,
    device_id,
    first_available,
    node,
    request,
    slice_of,
    texts,
)

OFF = DeviceFeatures(False, False, False)
INCUBATING = replace(DEFAULT_DEVICE_FEATURES, device_status=False)


@pytest.mark.parametrize(
    ("gates", "allocator"),
    [
        ({}, "experimental"),
        ({"device_status": False}, "incubating"),
        ({"device_status": False, "prioritized_list": False, "admin_access": False}, "stable"),
        ({"device_status": False, "consumable": True}, "experimental"),
        ({"device_status": False, "taints": True}, "incubating"),
    ],
)
def test_the_gates_pick_one_of_kubes_allocators(gates: dict[str, bool], allocator: str) -> None:
    assert replace(DEFAULT_DEVICE_FEATURES, **gates).allocator == allocator


def test_the_first_free_device_is_taken() -> None:
    assert texts(allocate([slice_of(["d0", "d1"])], [claim()], taken=["d0"])) == [["r=d1"]]


def test_without_a_free_device_nothing_is_allocated() -> None:
    assert allocate([slice_of(["d0"])], [claim()], taken=["d0"]).results is None


def test_slices_are_searched_by_name_and_of_a_pool_the_newest_generation_alone() -> None:
    old = slice_of(["old"], name="a1", generation=1)
    new = slice_of(["new"], name="a3", generation=2)
    other = slice_of(["x"], name="a2", pool="other")
    result = allocate([old, new, other], [claim()]).results
    assert result and result[0].devices[0].device == device_id("new")


def test_pools_with_binding_conditions_come_last() -> None:
    features = replace(DEFAULT_DEVICE_FEATURES, binding=True)
    first = slice_of([device("b", bindingConditions=["ready"])], name="a1")
    last = slice_of(["d"], name="a2", pool="z")
    (result,) = allocate([first, last], [claim(request(count=2))], features=features).results or ()
    assert [each.device.device for each in result.devices] == ["d", "b"]
    assert result.devices[1].binding_conditions == ("ready",)


def test_devices_with_binding_conditions_need_their_gate() -> None:
    first = slice_of([device("b", bindingConditions=["ready"]), "d"])
    assert texts(allocate([first], [claim()])) == [["r=d"]]


def test_selectors_of_the_class_come_first_and_those_in_use_are_not_asked() -> None:
    selectors = NameSelectors()
    known = classes(gpu=["type=big"])
    slices = [slice_of([device(f"d{i}", attributes={"type": kind}) for i, kind in enumerate(["small", "big"])])]
    wanted = claim(request(select=["d1"]))
    assert texts(allocate(slices, [wanted], known=known, selectors=selectors)) == [["r=d1"]]
    assert selectors.asked == [("type=big", "d0"), ("type=big", "d1"), ("d1", "d1")]
    selectors.asked.clear()
    assert allocate(slices, [wanted], known=known, taken=["d1"], selectors=selectors).results is None
    assert selectors.asked == [("type=big", "d0")]


def test_the_search_goes_back_where_a_choice_leads_nowhere() -> None:
    slices = [slice_of(["d0", "d1"])]
    wanted = claim(request("any"), request("first", select=["d0"]))
    assert texts(allocate(slices, [wanted])) == [["any=d1", "first=d0"]]


def test_claims_are_served_in_their_order_and_share_no_device() -> None:
    slices = [slice_of(["d0", "d1"])]
    both = [claim(name="one"), claim(name="two")]
    assert texts(allocate(slices, both)) == [["r=d0"], ["r=d1"]]
    assert allocate(slices, [*both, claim(name="three")]).results is None


def test_all_devices_are_taken_or_none() -> None:
    slices = [slice_of(["d0", "d1"])]
    wanted = claim(request(count=0))
    assert texts(allocate(slices, [wanted])) == [["r=d0", "r=d1"]]
    assert allocate(slices, [wanted], taken=["d1"]).results is None
    assert allocate([slice_of([])], [wanted]).results is None


def test_a_claim_without_requests_is_allocated_at_once() -> None:
    empty = replace(claim(), requests=())
    (result,) = allocate([], [empty]).results or ()
    assert result.manifest(str) == {"devices": {}}


@pytest.mark.parametrize(
    ("values", "devices"),
    [
        (("x", "y", "y"), [["r=d1", "r=d2"]]),
        ((1, 2, 2), [["r=d1", "r=d2"]]),
        ((True, False, True), [["r=d0", "r=d2"]]),
        (("1", 1, True), None),
    ],
)
def test_match_attribute_compares_type_and_value(values: tuple[Any, ...], devices: Any) -> None:
    slices = [slice_of([device(f"d{i}", attributes={"n": value}) for i, value in enumerate(values)])]
    assert texts(allocate(slices, [claim(request(count=2), match="gpu.example.com/n")])) == devices


def test_a_missing_attribute_excludes_a_device() -> None:
    slices = [slice_of(["d0", device("d1", attributes={"other.com/n": 1})])]
    assert texts(allocate(slices, [claim(match="other.com/n")])) == [["r=d1"]]
    assert allocate(slices, [claim(match="third.com/n")]).results is None


def test_distinct_attribute_accepts_equal_values_of_different_devices() -> None:
    slices = [slice_of([device("d0", attributes={"n": 1}), device("d1", attributes={"n": 1})])]
    wanted = claim(request(count=2), distinct="gpu.example.com/n")
    assert texts(allocate(slices, [wanted])) == [["r=d0", "r=d1"]]
    text = r"claim default/c, constraint #0: empty constraint \(unsupported constraint type\?\)"
    with pytest.raises(AllocationError, match=text):
        allocate(slices, [wanted], features=INCUBATING)


def test_the_first_subrequest_that_can_be_served_is_picked() -> None:
    slices = [slice_of(["d0", "d1"])]
    wanted = claim(first_available("r", big=ask(count=3), small=ask(count=2)))
    assert texts(allocate(slices, [wanted])) == [["r/small=d0", "r/small=d1"]]


def test_an_alternative_for_all_devices_goes_on_with_the_first_alternative_after_its_first_device() -> None:
    slices = [slice_of(["d0", "d1", "d2"])]
    high, low = ask(count=1, select=["none"]), ask(count=0)
    wanted = claim(first_available("r", high=high, low=low))
    assert texts(allocate(slices, [wanted])) == [["r/low=d0"]]


def test_the_second_alternative_for_all_devices_finds_the_matches_of_the_first() -> None:
    slices = [slice_of(["d0", "d1"])]
    none, every = ask(count=0, select=["none"]), ask(count=0)
    assert allocate(slices, [claim(first_available("r", x=none, y=every))]).results is None
    wanted = claim(first_available("r", x=none, y=every, z=every))
    assert texts(allocate(slices, [wanted])) is None


def test_admin_access_takes_devices_in_use_and_does_not_take_them_away() -> None:
    slices = [slice_of(["d0", "d1"])]
    admin = claim(request(adminAccess=True))
    assert texts(allocate(slices, [admin], taken=["d0"])) == [["r=d0 admin=true"]]
    assert texts(allocate(slices, [admin, claim(name="other")])) == [["r=d0 admin=true"], ["r=d1"]]
    used = claim(taken=[{"driver": "gpu.example.com", "pool": "a", "device": "d0", "adminAccess": True}])
    assert AllocatedState.of([used]).devices == set()


PARTITIONS = replace(DEFAULT_DEVICE_FEATURES, partitionable=True)


def partitioned(*names: str, each: str = "20Gi", total: str = "40Gi") -> Any:
    consumes = [{"counterSet": "g", "counters": {"memory": {"value": each}}}]
    shared = [{"name": "g", "counters": {"memory": {"value": total}}}]
    return slice_of([device(name, consumesCounters=consumes) for name in names], sharedCounters=shared)


def test_partitions_are_allocated_while_their_counters_last() -> None:
    slices = [partitioned("p0", "p1", "p2")]
    assert texts(allocate(slices, [claim(request(count=2))], features=PARTITIONS)) == [["r=p0", "r=p1"]]
    assert allocate(slices, [claim(request(count=3))], features=PARTITIONS).results is None
    assert allocate(slices, [claim(request(count=2))], features=PARTITIONS, taken=["p2"]).results is None
    assert allocate(slices, [claim()]).results is None  # not without the gate


def test_counters_of_a_device_that_a_constraint_refuses_are_not_given_back() -> None:
    slices = [partitioned("p0", "p1", "p2")]
    for_first = claim(request(select=["p0"]), match="gpu.example.com/n")
    wanted = claim(first_available("r", x=ask(select=["p0"]), y=ask(count=2, select=[])), name="d")
    assert allocate(slices, [for_first], features=PARTITIONS).results is None
    result = allocate(slices, [wanted], features=PARTITIONS)
    assert texts(result) == [["r/x=p0"]]


TAINTS = replace(DEFAULT_DEVICE_FEATURES, taints=True)


@pytest.mark.parametrize(
    ("toleration", "tolerated"),
    [
        ({"operator": "Exists"}, True),
        ({"key": "k", "operator": "Equal", "value": "v"}, True),
        ({"key": "k", "value": "v"}, True),
        ({"key": "k", "operator": "Equal", "value": "w"}, False),
        ({"key": "k", "operator": "Exists", "effect": "NoExecute"}, False),
        ({"key": "x", "operator": "Exists"}, False),
        ({"key": "k", "operator": "Other"}, False),
    ],
)
def test_taints_have_to_be_tolerated(toleration: dict[str, str], tolerated: bool) -> None:
    slices = [slice_of([device("d0", taints=[{"key": "k", "value": "v", "effect": "NoSchedule"}])])]
    wanted = claim(request(tolerations=[toleration]))
    assert (allocate(slices, [wanted], features=TAINTS).results is not None) is tolerated
    assert allocate(slices, [claim()]).results is not None  # without the gate


SHARES = replace(DEFAULT_DEVICE_FEATURES, consumable=True)


def test_shares_of_a_device_consume_its_capacity() -> None:
    nic = device("n0", capacity={"bw": {"value": "10Gi"}}, allowMultipleAllocations=True)
    wanted = claim(request(capacity={"requests": {"bw": "4Gi"}}))
    share = {"driver": "gpu.example.com", "pool": "a", "device": "n0", "shareID": "1"}
    taken = claim(taken=[{**share, "consumedCapacity": {"bw": "6Gi"}}])
    state = AllocatedState.of([taken], consumable=True)
    result = allocate([slice_of([nic])], [wanted], state=state, features=SHARES)
    assert texts(result) == [["r=n0 consumes=bw:4Gi shared"]]
    more = claim(request(capacity={"requests": {"bw": "5Gi"}}))
    assert allocate([slice_of([nic])], [more], state=state, features=SHARES).results is None


@pytest.mark.parametrize(
    ("fields", "selector"),
    [
        ({"node_name": "a"}, {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["a"]}]}),
        ({"node_name": None, "allNodes": True}, None),
        (
            {
                "node_name": None,
                "nodeSelector": {
                    "nodeSelectorTerms": [{"matchExpressions": [{"key": "zone", "operator": "In", "values": ["z"]}]}]
                },
            },
            {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["z"]}]},
        ),
    ],
)
def test_an_allocation_says_which_nodes_can_use_it(fields: dict[str, Any], selector: Any) -> None:
    (result,) = allocate([slice_of(["d0"], **fields)], [claim()], on=node("a", zone="z")).results or ()
    assert result.node_selector == (selector and {"nodeSelectorTerms": [selector]})


def test_configs_come_from_the_class_and_from_the_claim() -> None:
    opaque = {"opaque": {"driver": "gpu.example.com", "parameters": {}}}
    known = classes()
    known["gpu"] = replace(known["gpu"], configs=(opaque,))
    mine = {"requests": ["r/x"], **opaque}
    wanted = claim(first_available("r", x=ask()), request("s"), config=[mine, {"requests": ["q"], **opaque}])
    (result,) = allocate([slice_of(["d0", "d1"])], [wanted], known=known).results or ()
    from_class = {"source": "FromClass", **opaque}
    assert list(result.configs) == [from_class, from_class, {"source": "FromClaim", **mine}]


@pytest.mark.parametrize(
    ("requests", "features", "text"),
    [
        (
            [request(count=33)],
            DEFAULT_DEVICE_FEATURES,
            "claim default/c: number of requested devices 33 exceeds the claim limit of 32",
        ),
        (
            [request(adminAccess=False)],
            OFF,
            "claim default/c, request r: admin access is requested, but the feature is disabled",
        ),
        (
            [first_available("r", x=ask())],
            OFF,
            "claim default/c, request r: has subrequests, but the DRAPrioritizedList feature is disabled",
        ),
        (
            [request(capacity={"requests": {}})],
            DEFAULT_DEVICE_FEATURES,
            "claim default/c, request r: has capacity requests, but the DRAConsumableCapacity feature is disabled",
        ),
        (
            [request(class_name="x")],
            DEFAULT_DEVICE_FEATURES,
            'claim default/c, request r: could not retrieve device class x: deviceclass.resource.k8s.io "x" not found',
        ),
        (
            [request(select=["fail"])],
            DEFAULT_DEVICE_FEATURES,
            "claim default/c: selector #0: CEL runtime error: no such key: x",
        ),
        (
            [request(select=["d0", "!"])],
            DEFAULT_DEVICE_FEATURES,
            "claim default/c: selector #1: CEL compile error: Syntax error",
        ),
        (
            [{"name": "r", "exactly": {"deviceClassName": "gpu", "allocationMode": "Some"}}],
            DEFAULT_DEVICE_FEATURES,
            "claim default/c, request r: unsupported count mode Some",
        ),
    ],
)
def test_what_cannot_be_handled_is_an_error(requests: Any, features: DeviceFeatures, text: str) -> None:
    with pytest.raises(AllocationError) as raised:
        allocate([slice_of(["d0"])], [claim(*requests)], features=features)
    assert str(raised.value) == text


def test_an_incomplete_pool_is_an_error_for_all_devices_alone() -> None:
    slices = [slice_of(["d0"], count=2)]
    assert allocate(slices, [claim()]).results is not None
    text = "request r: asks for all devices, but resource pool gpu.example.com/a is currently being updated"
    with pytest.raises(AllocationError, match=text):
        allocate(slices, [claim(request(count=0))])


def test_an_invalid_pool_is_an_error_as_soon_as_the_search_gets_to_it() -> None:
    slices = [slice_of(["d0"]), slice_of(["e", "e"], name="z", pool="other")]
    assert allocate(slices, [claim()]).results is not None
    with pytest.raises(AllocationError, match="pool other is invalid: duplicate device name e"):
        allocate(slices, [claim()], taken=["d0"])


def test_a_node_selector_that_cannot_be_read_is_an_error() -> None:
    term = {"matchExpressions": [{"key": "zone", "operator": "Bad", "values": ["a", "b"]}]}
    slices = [slice_of(["d0"], name="s", node_name=None, nodeSelector={"nodeSelectorTerms": [term]})]
    with pytest.raises(AllocationError) as raised:
        allocate(slices, [claim()])
    printed = (
        "&NodeSelector{NodeSelectorTerms:[]NodeSelectorTerm{NodeSelectorTerm{MatchExpressions:[]NodeSelectorRequirement{"
        "NodeSelectorRequirement{Key:zone,Operator:Bad,Values:[a b],},},MatchFields:[]NodeSelectorRequirement{},},},}"
    )
    assert str(raised.value) == (
        "gather pool information: failed to perform node selection for slice s: failed to parse node selector "
        f'{printed}: nodeSelectorTerms[0].matchExpressions[0].operator: Unsupported value: "Bad": '
        'supported values: "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"'
    )


def test_a_constraint_that_all_devices_cannot_meet_is_an_error() -> None:
    slices = [slice_of([device("d0", attributes={"n": 1}), device("d1", attributes={"n": 2})])]
    text = "cannot add device gpu.example.com/a/d1 because a claim constraint would not be satisfied"
    with pytest.raises(AllocationError, match=text):
        allocate(slices, [claim(request(count=0), match="gpu.example.com/n")])


def test_beyond_its_budget_the_search_is_over() -> None:
    slices = [slice_of([f"d{i}" for i in range(20)])]
    wanted = claim(request(count=10), request("none", select=["none"]))
    with pytest.raises(AllocationTimeout, match="filter operation aborted: context deadline exceeded"):
        allocate(slices, [wanted], budget=1000)


def test_devices_in_another_order_are_counted_but_not_tried_again() -> None:
    tree = SearchTree()
    slices = [slice_of([f"d{i}" for i in range(8)])]
    wanted = claim(request(count=9))
    allocation = allocate(slices, [wanted], watch=tree)
    assert allocation.results is None
    assert allocation.tried == 8 * sum(math.perm(8, n) for n in range(9)) == 876_808
    assert '"again": ' in json.dumps(tree.root) and tree.left_out < 2000
    more = [slice_of([f"d{i}" for i in range(12)])]
    with pytest.raises(AllocationTimeout):
        allocate(more, [claim(request(count=13))])


def test_where_too_few_devices_are_left_their_tries_are_only_counted() -> None:
    slices = [slice_of([f"d{i}" for i in range(16)])]
    selectors = NameSelectors()
    known = classes(gpu=["type=big"])
    assert allocate(slices, [claim(request(count=16))], known=known, selectors=selectors).results is None
    assert len(selectors.asked) == 16  # none is big, so each is asked once
    allocation = allocate(slices, [claim(request(count=8))], taken=[f"d{i}" for i in range(9)])
    assert allocation.tried == 16 * sum(math.perm(7, n) for n in range(8))


def test_many_claims_of_many_devices_are_no_deep_recursion() -> None:
    slices = [slice_of([f"d{i}" for i in range(1088)])]
    many = [claim(request(count=32), name=f"c{i}") for i in range(34)]
    assert allocate(slices, many).results is not None


def test_the_search_can_be_watched_as_a_tree() -> None:
    tree = SearchTree()
    wanted = claim(request("any"), request("first", select=["d0"]))
    allocate([slice_of(["d0", "d1"])], [wanted], watch=tree)
    (first,) = tree.root["nodes"]
    assert tree.root["outcome"] == "found"
    assert (first["kind"], first["request"], first["number"], first["count"]) == ("request", "any", 1, 1)
    undone, kept = first["nodes"]
    assert (undone["device"], undone["outcome"]) == ("gpu.example.com/a/d0", "undone")
    assert [each["outcome"] for each in undone["nodes"][0]["nodes"]] == ["refused", "refused"]
    assert undone["nodes"][0]["nodes"][0]["checks"] == [{"kind": "in-use", "passed": False}]
    assert kept["outcome"] == "found"
    (check,) = kept["nodes"][0]["nodes"][0]["checks"]
    assert check["passed"] and check["values"] == [{"expression": "d0", "value": "d0"}]


def test_a_tree_is_limited_and_counts_what_it_leaves_out() -> None:
    tree = SearchTree(10)
    wanted = claim(request(count=3), request("none", select=["none"]))
    allocate([slice_of(["d0", "d1", "d2", "d3"])], [wanted], watch=tree)
    assert tree.left_out > 10 and tree.root["outcome"] == "none"


def test_a_deep_tree_can_be_written_as_json() -> None:
    tree = SearchTree()
    many = [claim(request(count=30), name=f"c{i}") for i in range(10)]
    allocate([slice_of([f"d{i}" for i in range(300)])], many, watch=tree)
    assert tree.left_out and tree.root["outcome"] == "found"
    assert json.loads(json.dumps(tree.root)) == tree.root


def test_a_tree_ends_with_the_error() -> None:
    tree = SearchTree()
    with pytest.raises(AllocationError):
        allocate([slice_of(["d0"])], [claim(request(select=["fail"]))], watch=tree)
    assert tree.root["outcome"] == "error" and "no such key" in tree.root["text"]
    assert tree.root["nodes"][0]["nodes"][0]["outcome"] == "error"


def test_whoever_looks_on_may_have_seen_enough() -> None:
    tree = SearchTree(most=5, patience=10)
    with pytest.raises(SeenEnough):
        allocate([slice_of([f"d-{i}" for i in range(100)])], [claim(request(select=["d-99"]))], watch=tree)
    assert tree.cut
    assert tree.left_out == 11

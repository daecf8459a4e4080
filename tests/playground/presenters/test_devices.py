"""Devices as people see them: on a node's card, one by one, by pool, by claim."""

from __future__ import annotations

import pytest

from playground.presenters.devices.claims import claims, claims_of, describe_changes
from playground.presenters.devices.pools import node_devices, pool, pools
from playground.presenters.problems import in_plain_words
from playground.presenters.sentences.kinds import of_facts
from scheduler_core.base.trace.kinds import ApiCall
from scheduler_core.world.commands import ApplyObjects, DeleteObjects, Ref
from scheduler_core.world.simulation import Simulation
from tests.playground.presenters.device_worlds import claim, counter_set, device_class, partition, slice_of, world
from tests.playground.presenters.worlds import ran, shown, until
from tests.playground.presenters.worlds import world as plain
from tests.scheduler_core.worlds import node, pod

GPUS = ["gpu-0", "gpu-1", "gpu-2", "gpu-3"]
TAINT = {"key": "broken", "effect": "NoSchedule"}


def card(sim: Simulation, name: str = "n1") -> dict:
    return shown("map", sim)["cards"][f"node-{name}"]


def test_a_card_without_devices_says_nothing_of_them() -> None:
    assert card(plain(node("n1")))["devices"] == []


def test_a_card_shows_which_devices_are_taken_and_by_which_claim() -> None:
    sim = world(node("n1"), slice_of("n1", GPUS), claim("train", ["gpu-1"], pods=["worker"]))
    (row,) = card(sim)["devices"]
    assert (row["label"], row["free"], row["of"]) == ("gpu", 3, 4)
    assert [mark["state"] for mark in row["marks"]] == ["free", "taken", "free", "free"]
    assert (row["marks"][1]["claims"], row["marks"][1]["pod"]) == ("train", "default/worker")


def test_many_devices_are_counted_on_a_card() -> None:
    sim = world(node("n1"), slice_of("n1", [f"d-{i}" for i in range(100)]), claim("c", ["d-7"]))
    (row,) = card(sim)["devices"]
    assert (row["marks"], row["free"], row["of"], row["percent"]) == ([], 99, 100, 1)


def test_a_device_of_another_node_is_not_on_the_card() -> None:
    sim = world(node("n1"), node("n2"), slice_of("n1", GPUS))
    assert card(sim, "n2")["devices"] == []


def test_a_tainted_device_is_marked_where_the_scheduler_heeds_taints() -> None:
    objects = node("n1"), slice_of("n1", [{"name": "gpu-0", "taints": [TAINT]}])
    (row,) = card(world(*objects, dra_device_taints=True))["devices"]
    assert row["marks"][0]["tainted"]
    (row,) = card(world(*objects))["devices"]
    assert "tainted" not in row["marks"][0]


def test_partitions_of_one_device_are_a_bar_and_block_each_other() -> None:
    parts = [partition("whole", "40Gi"), partition("half-0", "20Gi"), partition("half-1", "20Gi")]
    gpu = slice_of("n1", parts, sharedCounters=[counter_set()])
    sim = world(node("n1"), gpu, claim("c", ["half-0"]), dra_partitionable_devices=True)
    (found,) = node_devices(sim, "n1")
    assert [(d["name"], d["state"]) for d in found["devices"]] == [
        ("whole", "short"),
        ("half-0", "taken"),
        ("half-1", "free"),
    ]
    (bar,) = found["sets"][0]["bars"]
    assert (bar["name"], bar["used"], bar["total"]) == ("memory", "20Gi", "40Gi")
    assert [(part["x"], part["width"], part["owner"]) for part in bar["parts"]] == [(0, 50, "half-0: c")]


def test_shares_of_a_device_are_a_bar_of_its_capacity() -> None:
    device = {"name": "gpu-0", "allowMultipleAllocations": True, "capacity": {"memory": {"value": "40Gi"}}}
    share = {"device": "gpu-0", "shareID": "1", "consumedCapacity": {"memory": "10Gi"}}
    sim = world(
        node("n1"),
        slice_of("n1", [device]),
        claim("a", [share]),
        claim("b", [{**share, "shareID": "2"}]),
        dra_consumable_capacity=True,
    )
    (found,) = node_devices(sim, "n1")
    (row,) = found["devices"]
    assert (row["state"], [holder["name"] for holder in row["holders"]]) == ("shared", ["a", "b"])
    assert [(part["x"], part["width"]) for part in row["shares"][0]["parts"]] == [(0, 25), (25, 25)]


def test_admin_access_takes_a_device_from_nobody() -> None:
    sim = world(node("n1"), slice_of("n1", ["gpu-0"]), claim("watch", [{"device": "gpu-0", "adminAccess": True}]))
    (row,) = node_devices(sim, "n1")[0]["devices"]
    assert (row["state"], row["holders"][0]["admin"]) == ("free", True)


def test_a_long_list_of_devices_begins_with_those_in_use() -> None:
    sim = world(node("n1"), slice_of("n1", [f"d-{i}" for i in range(100)]), claim("c", ["d-77"]))
    (found,) = node_devices(sim, "n1")
    assert found["devices"][0]["name"] == "d-77"
    assert len(found["devices"]) + found["more"] == 100


def test_pools_say_what_is_wrong_with_them_in_kubes_words() -> None:
    sim = world(
        slice_of("n1", GPUS),
        slice_of("n2", GPUS, pool={"resourceSliceCount": 2}),
        slice_of("n3", ["gpu-0"], name="n3-a", pool={"resourceSliceCount": 2}),
        slice_of("n3", ["gpu-0"], name="n3-b", pool={"resourceSliceCount": 2}),
    )
    rows = {row["pool"]: row for row in pools(sim, "", 0)["rows"]}
    assert {name: row["state"] for name, row in rows.items()} == {"n1": "complete", "n2": "incomplete", "n3": "invalid"}
    assert rows["n3"]["why"]["values"] == {"pool": "n3", "name": "gpu-0"}


def test_only_the_newest_generation_of_a_pool_counts() -> None:
    old = slice_of("n1", GPUS, name="old")
    new = slice_of("n1", ["gpu-9"], name="new", pool={"generation": 2})
    found = pool(world(old, new), "gpu.example.com/n1", "", 0)
    assert found is not None
    assert (found["generation"], found["older"], found["size"]) == (2, ["old"], 1)


def test_pools_are_filtered_and_paged() -> None:
    sim = world(*(slice_of(f"n{i:02}", ["d"]) for i in range(60)), device_class())
    first, second = pools(sim, "", 0), pools(sim, "", 1)
    assert (len(first["rows"]), first["page"]["following"], len(second["rows"])) == (50, 1, 10)
    assert [row["pool"] for row in pools(sim, "n07", 0)["rows"]] == ["n07"]
    assert first["classes"][0]["selectors"] == ['device.driver == "gpu.example.com"']


def test_claims_have_states_that_can_be_chosen() -> None:
    sim = world(claim("a"), claim("b", ["gpu-0"]), claim("c", ["gpu-1"], pods=["p"]))
    found = claims(sim, "", 0)
    assert [(row["name"], row["state"], row["node"]) for row in found["rows"]] == [
        ("a", "pending", ""),
        ("b", "allocated", "n1"),
        ("c", "reserved", "n1"),
    ]
    assert [row["name"] for row in claims(sim, "", 0, "allocated")["rows"]] == ["b"]
    assert [row["name"] for row in claims(sim, "default/p", 0)["rows"]] == ["c"]


def test_the_life_of_a_claim_in_sentences() -> None:
    pending = claim("c")
    given = claim("c", ["gpu-0"])
    used = claim("c", ["gpu-0"], pods=["p"])

    def told(before: dict | None, after: dict | None) -> list[str]:
        return [str(said["text"]) for said in describe_changes(before, after)]

    assert told(None, pending) == ["Created. No device is allocated yet."]
    assert told(pending, used) == [
        "%(devices)s on %(node)s allocated.",
        "Reserved for %(pod)s, which can use the devices from now on.",
    ]
    assert told(used, given) == ["No longer reserved for %(pod)s."]
    assert told(given, pending) == ["Deallocated. The devices are free again."]
    assert told(pending, None) == ["Deleted."]


def test_a_pods_claims_in_the_order_of_its_spec() -> None:
    entries = [{"name": "own", "resourceClaimTemplateName": "t"}, {"name": "all", "resourceClaimName": "c"}]
    found = claims_of(world(pod("p", resourceClaims=entries), claim("c")), "default/p")
    assert [(each["entry"], each["key"]) for each in found] == [("own", ""), ("all", "default/c")]


def said(call: ApiCall) -> str:
    sentence = of_facts(call)["sentence"]
    return str(sentence["text"] % sentence["values"])


def test_a_call_says_what_it_does_to_a_claim() -> None:
    about = {"pod": "default/p", "kind": "ResourceClaim", "object": "default/c/status"}
    given = ["gpu.example.com/n1/gpu-0"]
    assert (
        said(ApiCall("UPDATE", **about, effects=["allocated", "reserved"], devices=given))
        == "c is allocated gpu-0 and reserved for p"
    )
    assert said(ApiCall("UPDATE", **about, effects=["reserved"])) == "c is also reserved for p"
    assert (
        said(ApiCall("UPDATE", **about, effects=["allocated", "reserved"], devices=given, error="Conflict"))
        == "c is not allocated gpu-0 for p: Conflict"
    )
    assert said(ApiCall("PATCH", **about, effects=["released"])) == "c is no longer reserved for p"


def test_what_a_scheduler_writes_to_a_claim_is_recorded() -> None:
    objects = node("n1"), slice_of("n1", GPUS), device_class(), claim("c")
    sim = world(*objects, pod("p", resourceClaims=[{"name": "c", "resourceClaimName": "c"}]))
    calls = [record.facts for record in sim.run(steps=80).records if isinstance(record.facts, ApiCall)]
    assert [(call.effects, call.devices) for call in calls if call.kind == "ResourceClaim"] == [
        (["protected"], None),
        (["allocated", "reserved"], ["gpu.example.com/n1/gpu-0"]),
    ]


@pytest.mark.parametrize(
    ("reason", "part"),
    [
        ("cannot allocate all claims", "cannot provide all devices"),
        ("resourceclaim not available on the node", "this node cannot reach them"),
        ('could not find ResourceClaim "default/c"', "does not exist"),
        ('pod "default/p": ResourceClaim not created yet', "from its template"),
        ("resource claim default/c is in the process of being allocated", "The cycle of another pod"),
        ("request r: device class gpu does not exist", "which does not exist"),
        ("claim default/c: selector #0: CEL runtime error: no such key: x", "ends the scheduling cycle"),
    ],
)
def test_kubes_texts_about_devices_have_plain_words(reason: str, part: str) -> None:
    words = in_plain_words(reason)
    assert words is not None
    assert part in words["text"]


def test_plain_words_leave_other_texts_alone() -> None:
    assert in_plain_words("node(s) had volume node affinity conflict") is None


def test_a_taint_rule_taints_devices_where_the_scheduler_heeds_taints() -> None:
    rule = {
        "apiVersion": "resource.k8s.io/v1alpha3",
        "kind": "DeviceTaintRule",
        "metadata": {"name": "broken"},
        "spec": {"deviceSelector": {"device": "gpu-1"}, "taint": TAINT},
    }
    objects = node("n1"), slice_of("n1", GPUS), rule
    marks = card(world(*objects, dra_device_taints=True))["devices"][0]["marks"]
    assert [mark["name"] for mark in marks if "tainted" in mark] == ["gpu-1"]
    marks = card(world(*objects))["devices"][0]["marks"]
    assert not any("tainted" in mark for mark in marks)


def test_who_holds_what_follows_each_change_of_claims() -> None:
    sim = world(node("n1"), slice_of("n1", GPUS), *(claim(name) for name in "abc"))

    def taken() -> dict[str, list[str]]:
        (found,) = node_devices(sim, "n1")
        return {d["name"]: [h["name"] for h in d["holders"]] for d in found["devices"] if d["holders"]}

    assert taken() == {}
    sim.apply(ApplyObjects((claim("b", ["gpu-1"]), claim("c", ["gpu-2"]))))
    assert taken() == {"gpu-1": ["b"], "gpu-2": ["c"]}
    sim.apply(ApplyObjects((claim("a", ["gpu-1"]),)))
    assert taken() == {"gpu-1": ["a", "b"], "gpu-2": ["c"]}
    sim.apply(DeleteObjects((Ref("ResourceClaim", "default", "b"),)))
    assert taken() == {"gpu-1": ["a"], "gpu-2": ["c"]}


def test_a_device_is_assumed_until_the_allocation_is_written() -> None:
    entry = {"name": "c", "resourceClaimName": "c"}
    sim = world(node("n1"), slice_of("n1", GPUS), device_class(), claim("c"), pod("p", resourceClaims=[entry]))
    until(sim, ran("Reserve", "DynamicResources"))
    mark = card(sim)["devices"][0]["marks"][0]
    assert (mark["state"], mark["claims"]) == ("assumed", "c")
    until(sim, lambda sim: bool(sim.store.pod_at("default/p").node_name))
    assert card(sim)["devices"][0]["marks"][0]["state"] == "taken"


def test_ten_thousand_devices_are_folded_everywhere() -> None:
    slices = [
        slice_of("n1", [f"d-{i}-{k}" for k in range(100)], name=f"s-{i}", pool={"resourceSliceCount": 100})
        for i in range(100)
    ]
    sim = world(node("n1"), *slices)
    assert card(sim)["devices"][0]["of"] == 10_000
    (found,) = node_devices(sim, "n1")
    assert (len(found["devices"]), found["more"]) == (24, 9_976)
    (row,) = pools(sim, "", 0)["rows"]
    assert (row["size"], row["state"]) == (10_000, "complete")
    page = pool(sim, "gpu.example.com/n1", "", 0)
    assert page is not None
    assert (len(page["devices"]), page["page"]["total"]) == (50, 10_000)

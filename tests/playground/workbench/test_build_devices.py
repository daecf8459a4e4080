"""The builder's pages for devices and for claims."""

import pytest

from playground.sessions.protocol.looking import Configuration
from tests.playground.workbench.conftest import page_text

NODES = {"count": 2, "name": "node-{i}", "first": 1, "cpu": "4", "memory": "16Gi", "pods": 110}
DEVICES = {"preset": "gpu", "count": "", "nodes": "*", "gates": "on"}
CLAIMS = {
    "name": "one-gpu",
    "namespace": "default",
    "sharing": "each",
    "device_class": "gpu.example.com",
    "count": "1",
    "pods": "2",
    "pod_name": "train-{i}",
}


@pytest.fixture
def begun(visitor):
    visitor = visitor("empty")
    visitor.post("build/nodes", **NODES)
    return visitor


def settings(begun):
    return begun.ask(lambda client: client.ask(Configuration())).settings


def test_all_nodes_get_devices_and_a_class_for_them(begun):
    assert begun.post("build/devices", **DEVICES).status_code == 302
    assert "3 objects created" in page_text(begun.get("build/devices"))
    assert begun.objects("DeviceClass") == ["gpu.example.com"]
    assert begun.objects("ResourceSlice") == ["node-1-gpu.example.com", "node-2-gpu.example.com"]
    assert len(begun.manifest("ResourceSlice", "node-1-gpu.example.com", "")["spec"]["devices"]) == 8


def test_the_gates_that_devices_need_are_turned_on(begun):
    begun.post("build/devices", **{**DEVICES, "preset": "mig", "nodes": "node-1"})
    assert settings(begun)["dra_partitionable_devices"] is True
    assert begun.objects("ResourceSlice") == ["node-1-mig.example.com"]
    assert "sharedCounters" in begun.manifest("ResourceSlice", "node-1-mig.example.com", "")["spec"]


def test_without_their_gate_partitions_lose_their_counters(begun):
    begun.post("build/devices", preset="mig", count="", nodes="node-1")
    assert settings(begun)["dra_partitionable_devices"] is False
    assert "sharedCounters" not in begun.manifest("ResourceSlice", "node-1-mig.example.com", "")["spec"]


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [("nodes", "node-7", "“node-7” is not the name of a node"), ("count", "65", "at most 64 of these per node")],
)
def test_a_wrong_value_is_told_and_nothing_is_created(begun, field, value, said):
    answer = begun.post("build/devices", **{**DEVICES, field: value})
    assert answer.status_code == 422
    assert said in page_text(answer)
    assert begun.objects("ResourceSlice") == []


def test_devices_are_shown_before_they_are_created(begun):
    answer = begun.browser.post(f"{begun.url}build/devices/preview", DEVICES, headers={"HX-Request": "true"})
    assert "nvlinkDomain" in page_text(answer)
    assert begun.objects("ResourceSlice") == []
    assert "nvlinkDomain" in page_text(begun.get("build/devices"))


def test_a_template_and_pods_that_use_it_are_created_together(begun):
    assert begun.post("build/claims", **CLAIMS).status_code == 302
    assert begun.objects("ResourceClaimTemplate") == ["one-gpu"]
    assert begun.objects("Pod") == ["train-1", "train-2"]
    claims = begun.manifest("Pod", "train-1")["spec"]["resourceClaims"]
    assert claims == [{"name": "devices", "resourceClaimTemplateName": "one-gpu"}]


def test_the_next_pods_are_counted_behind_those_that_are_there(begun):
    begun.post("build/claims", **CLAIMS)
    assert 'name="first" value="3"' in begun.get("build/claims").content.decode()


def test_one_claim_may_be_shared(begun):
    begun.post("build/claims", **{**CLAIMS, "sharing": "shared", "name": "common"})
    assert begun.objects("ResourceClaim") == ["common"]
    assert begun.manifest("Pod", "train-2")["spec"]["resourceClaims"][0]["resourceClaimName"] == "common"


def test_what_the_api_server_refuses_is_told(begun):
    answer = begun.post("build/claims", **{**CLAIMS, "match_attribute": "model"})
    assert answer.status_code == 422
    assert "must include a domain" in page_text(answer)
    assert begun.objects("Pod") == []


def test_the_next_claim_has_a_name_of_its_own(begun):
    names = []
    for _ in range(3):
        form = begun.get("build/claims").context["form"]
        names.append(form["name"].value())
        fields = {field.name: field.value() for field in form if field.value() not in (None, False)}
        begun.post("build/claims", **fields)
    assert names == ["one-gpu", "one-gpu-2", "one-gpu-3"]
    assert begun.objects("ResourceClaimTemplate") == names

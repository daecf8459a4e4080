"""The settings of the components around the schedulers."""

from dataclasses import replace
from html import unescape

import pytest
import yaml

from playground.sessions.database import log
from playground.sessions.protocol.looking import Configuration
from playground.workbench.forms.cluster import KUBELET_DEFAULTS, YAML, ClusterForm
from scheduler_core.scheduler.config import read_kubelet
from scheduler_core.world.readonly import CONTROLLER_NAMES
from tests.playground.workbench.conftest import page_text

FILLED_IN = {
    "apiserver": "--default-not-ready-toleration-seconds=30\n# a comment\n--enable-admission-plugins=PodNodeSelector",
    "admission": "podNodeSelectorPluginConfig:\n  clusterDefaultNodeSelector: disk=ssd\n",
    "controller_manager": "--node-monitor-grace-period=20s\n--node-eviction-rate=0.5",
    "controllers": ["deployment-controller", "replicaset-controller"],
    "provisioners": "ebs.csi.aws.com",
    "provisioning_errors": "gp3: 'rpc error: code = ResourceExhausted'\n",
    "run_kubelets": "",
    "kubelet": "maxPods: 20\n",
    "kubelets": "node-1:\n  maxPods: 5\n",
    "reconcile_latency": "20ms",
    "api_latency": "5ms",
    "image_pull_rate": "50000000",
}


@pytest.fixture
def clustered(visitor):
    visitor = visitor("empty")
    visitor.session = log.create("cluster", "", "")
    visitor.url = f"/s/{visitor.session.edit_key}/"
    visitor.view_url = f"/s/{visitor.session.view_key}/"
    return visitor


def settings(visitor) -> dict:
    return visitor.ask(lambda client: client.ask(Configuration())).settings["cluster"]


def test_the_settings_are_changed_and_shown_again(clustered):
    answer = clustered.browser.post(f"{clustered.url}components", FILLED_IN, follow=True)
    assert "Settings applied" in page_text(answer)
    now = settings(clustered)
    assert now["apiserver"]["default-not-ready-toleration-seconds"] == 30
    assert now["apiserver"]["enable-admission-plugins"] == ["PodNodeSelector"]
    assert now["apiserver"]["podNodeSelectorPluginConfig"] == {"clusterDefaultNodeSelector": "disk=ssd"}
    assert now["controller_manager"]["node-eviction-rate"] == 0.5
    assert now["controllers"] == FILLED_IN["controllers"]
    assert now["provisioners"] == ["ebs.csi.aws.com"]
    assert now["provisioning_errors"] == {"gp3": "rpc error: code = ResourceExhausted"}
    assert now["run_kubelets"] is False
    assert (now["kubelet"], now["kubelets"]) == ({"maxPods": 20}, {"node-1": {"maxPods": 5}})
    assert now["reconcile_latency"] == 20_000_000
    form = ClusterForm.of(now)
    assert form["controller_manager"].value() == FILLED_IN["controller_manager"]
    assert form["run_kubelets"].value() is False
    assert form["kubelet"].value() == FILLED_IN["kubelet"]
    assert form["reconcile_latency"].value() == "20ms"


def test_the_form_has_a_field_for_every_setting(clustered):
    assert set(settings(clustered)) <= set(ClusterForm.base_fields)


def test_what_is_there_by_default_is_sent_back_as_it_was(clustered):
    form = ClusterForm.of(settings(clustered))
    assert form["apiserver"].value() == ""
    assert form["controllers"].value() == list(CONTROLLER_NAMES)
    before = settings(clustered)
    clustered.post(
        "components", **{name: "" if form[name].value() is None else form[name].value() for name in form.fields}
    )
    assert settings(clustered) == before


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"apiserver": "\n--no-such-flag=1"}, "line 2: unknown flag: --no-such-flag"),
        ({"apiserver": "default-not-ready-toleration-seconds=1"}, "line 1: write it as --default-not-ready"),
        (
            {"controller_manager": "--terminated-pod-gc-threshold=many"},
            "line 1: “many” is not a value of --terminated-pod-gc-threshold, whose default is 12500",
        ),
        (
            {"controller_manager": "# first\n--node-monitor-grace-period=soon"},
            "line 2: node-monitor-grace-period: received 'soon'; expected a duration",
        ),
        ({"kubelet": "maxPods: [1"}, "line 2: not readable as YAML"),
        ({"provisioning_errors": "fast: 5\n"}, "[fast]: received 5; expected a string that is not empty"),
        ({"kubelets": "node-1: 5\n"}, "[node-1]: received 5; expected an object"),
        ({"reconcile_latency": "2h"}, "reconcile_latency"),
    ],
)
def test_what_is_wrong_is_said_at_its_line_and_nothing_changes(clustered, changes, said):
    before = clustered.head()
    answer = clustered.browser.post(f"{clustered.url}components", {**FILLED_IN, **changes})
    assert answer.status_code == 422
    assert said in page_text(answer) or said in answer.content.decode()
    assert "--node-eviction-rate=0.5" in answer.content.decode() or "controller_manager" in changes
    assert clustered.head() == before


def test_every_flag_is_shown_with_its_default(clustered):
    text = page_text(clustered.get("components"))
    assert "--node-monitor-grace-period=50s" in text
    assert "--authorization-mode=RBAC" in text


def test_the_defaults_of_a_kubelet_are_what_it_has_by_default():
    written, default = read_kubelet(yaml.safe_load(KUBELET_DEFAULTS)), read_kubelet({})
    assert set(written.thresholds) == set(default.thresholds)
    assert replace(written, thresholds=()) == replace(default, thresholds=())


def test_a_field_without_effect_is_told(clustered):
    answer = clustered.browser.post(
        f"{clustered.url}components", {**FILLED_IN, "kubelet": "cgroupDriver: systemd\n"}, follow=True
    )
    assert "These fields of KubeletConfiguration have no effect here: cgroupDriver." in page_text(answer)


def test_a_view_link_changes_nothing(clustered):
    assert clustered.browser.post(f"{clustered.view_url}components", FILLED_IN).status_code == 403


@pytest.mark.parametrize("field", YAML)
@pytest.mark.parametrize("text", ["x", "'x'", "1", "[1]", "- a", "true", "1.5", "2020-01-01"])
def test_yaml_that_is_no_object_is_refused_at_its_field(clustered, field: str, text: str) -> None:
    answer = clustered.post("components", **{**FILLED_IN, field: text})
    assert answer.status_code == 422
    assert "expected an object" in str(answer.context["form"].errors[field])
    assert list(answer.context["form"].errors) == [field]


@pytest.mark.parametrize(
    ("field", "text", "where"),
    [
        ("kubelets", "node-1: x", "[node-1]: received 'x'; expected an object"),
        ("kubelets", "a.b/c: {}\nnode.example: 1", "line 2: [node.example]: received 1; expected an object"),
        ("kubelets", "node-1:\n  maxPods: x", "line 2: [node-1].maxPods"),
        ("admission", "podNodeSelectorPluginConfig: x", "podNodeSelectorPluginConfig: received 'x'"),
        ("admission", "podNodeSelectorPluginConfig:\n  a: 1", "podNodeSelectorPluginConfig[a]: received 1"),
        ("admission", "ResourceQuotaConfiguration:\n  limitedResources: [x]", "limitedResources[0]: received 'x'"),
        ("admission", "- a: 1", "line 1: a: received 1"),
        ("kubelet", "maxPods: [1]", "maxPods: received"),
    ],
)
def test_a_part_that_is_of_another_type_is_refused_at_its_field(clustered, field: str, text: str, where: str) -> None:
    answer = clustered.post("components", **{**FILLED_IN, field: text})
    assert answer.status_code == 422
    assert where in unescape(str(answer.context["form"].errors[field]))
    assert list(answer.context["form"].errors) == [field]

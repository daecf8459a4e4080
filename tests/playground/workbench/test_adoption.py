"""Configurations as people have them: of older versions, with plugins that are not here, and in other documents."""

from __future__ import annotations

import re
from html import unescape

import pytest

from playground.sessions.protocol.looking import Configuration
from tests.playground.workbench.conftest import page_text

OLD = """\
apiVersion: kubescheduler.config.k8s.io/v1beta2
kind: KubeSchedulerConfiguration
profiles:
  - schedulerName: packing
    plugins:
      score:
        disabled:
          - name: NodeResourcesBalancedAllocation
    pluginConfig:
      - name: NodeResourcesFit
        args: {scoringStrategy: {type: MostAllocated}}
"""
GANG = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
  - plugins:
      multiPoint:
        enabled:
          - name: NodeResourceTopologyMatch
"""


def inside(text: str) -> str:
    """The text as the data of a ConfigMap."""
    body = "".join(f"    {line}\n" for line in text.splitlines())
    return f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: config, namespace: kube-system}}\ndata:\n  my.yaml: |\n{body}"


@pytest.fixture
def begun(visitor):
    return visitor("cluster:small")


def profiles(begun) -> list[dict]:
    return begun.ask(lambda client: client.ask(Configuration())).schedulers[0].manifest["profiles"]


def offered(answer) -> list[str]:
    """The texts that the page would apply."""
    found = re.findall(r"<textarea name=\"text\" hidden>\n(.*?)</textarea>", answer.content.decode(), re.DOTALL)
    return [unescape(text) for text in found]


def test_an_older_version_is_turned_into_v1_with_one_more_click(begun):
    answer = begun.post("configuration", text=OLD, apply="")
    assert "This is a configuration of v1beta2" in page_text(answer)
    assert "default weights of v1beta2 are written out" in page_text(answer)
    [text] = offered(answer)
    assert begun.post("configuration", text=text, apply="").status_code == 302
    [profile] = profiles(begun)
    assert profile["schedulerName"] == "packing"


def test_nothing_is_changed_before_that(begun):
    before = begun.head()
    answer = begun.post("configuration", text=OLD, apply="")
    assert answer.status_code == 422
    assert 'no kind "KubeSchedulerConfiguration" is registered for version' in page_text(answer)
    assert begun.head() == before


def test_the_v1_text_can_be_put_into_the_editor(begun):
    [text] = offered(begun.post("configuration", text=OLD, apply=""))
    answer = begun.post("configuration", text=text, edit="")
    assert answer.status_code == 200
    assert answer.context["text"] == text


def test_plugins_that_are_not_here_are_named_and_left_out(begun):
    answer = begun.post("configuration", text=GANG, apply="")
    said = page_text(answer)
    assert (
        "NodeResourceTopologyMatch line 7 multiPoint filters and scores nodes by the resources of their NUMA zones"
        in said
    )
    [text] = offered(answer)
    assert begun.post("configuration", text=text, apply="").status_code == 302


@pytest.mark.parametrize("text", [OLD, GANG])
def test_it_is_found_in_a_configmap_with_its_lines(begun, text):
    answer = begun.post("configuration", text=inside(text), apply="")
    assert "ConfigMap kube-system/config, data[my.yaml] line 6" in page_text(answer)
    [made] = offered(answer)
    assert begun.post("configuration", text=made, apply="").status_code == 302


def test_of_several_one_is_chosen(begun):
    answer = begun.post("configuration", text=inside(OLD) + "---\n" + GANG, apply="")
    assert len(offered(answer)) == 2
    assert "must contain exactly one KubeSchedulerConfiguration" in page_text(answer)


def test_an_error_shows_its_line_as_it_was_written(begun):
    answer = begun.post("configuration", text=OLD.replace("MostAllocated", "Most"), apply="")
    assert "column" in page_text(answer)
    assert "args: {scoringStrategy: {type: Most}}" in page_text(answer)


def test_a_policy_says_what_replaced_it(begun):
    policy = '{"kind": "Policy", "apiVersion": "v1", "predicates": [{"name": "HostName"}], "priorities": []}'
    answer = begun.post("configuration", text=policy, apply="")
    assert "HostName is NodeName at filter" in page_text(answer)
    [text] = offered(answer)
    assert begun.post("configuration", text=text, apply="").status_code == 302


def test_a_view_key_is_offered_nothing_to_apply(begun):
    answer = begun.browser.post(begun.view_url + "configuration", {"text": OLD, "apply": ""})
    assert answer.status_code == 403


def test_an_import_offers_the_configurations_in_it(begun):
    pods = "\n---\napiVersion: v1\nkind: Namespace\nmetadata: {name: extra}\n"
    preview = begun.browser.post(begun.url + "import", {"text": inside(OLD) + pods}, follow=True)
    said = page_text(preview)
    assert "This is a configuration of v1beta2 ConfigMap kube-system/config, data[my.yaml] line 6" in said
    [text] = offered(preview)
    assert begun.post("configuration", text=text, apply="").status_code == 302
    assert profiles(begun)[0]["schedulerName"] == "packing"


def test_a_configuration_alone_in_an_import_is_no_object(begun):
    preview = begun.browser.post(begun.url + "import", {"text": OLD}, follow=True)
    assert "a scheduler's configuration is no object of the cluster" in page_text(preview)
    assert len(offered(preview)) == 1


def test_the_flags_of_kubeadm_are_no_configuration_to_offer(begun):
    pod = (
        "apiVersion: v1\nkind: Pod\nmetadata: {name: kube-scheduler-a, namespace: kube-system}\nspec:\n  containers:\n"
        "  - {name: kube-scheduler, image: registry.k8s.io/kube-scheduler, command: [kube-scheduler, --leader-elect=true]}\n"
    )
    assert offered(begun.browser.post(begun.url + "import", {"text": pod}, follow=True)) == []


def test_comments_of_a_configuration_are_kept(begun):
    [text] = offered(
        begun.post("configuration", text="# ours\n" + OLD.replace("packing", "packing  # dense"), apply="")
    )
    assert text.startswith("# ours\napiVersion: kubescheduler.config.k8s.io/v1\n")
    assert "schedulerName: packing  # dense" in text

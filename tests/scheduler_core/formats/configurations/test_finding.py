"""Configurations are found wherever people keep them, with the lines of their fields."""

from __future__ import annotations

import json
from contextlib import suppress
from time import process_time
from typing import Any

import pytest

from scheduler_core.apimachinery.objects.errors import InvalidObject
from scheduler_core.apimachinery.objects.loading import LoadLimits
from scheduler_core.formats.configurations import FoundConfiguration, adopt, find

CONFIGURATION = """\
apiVersion: kubescheduler.config.k8s.io/v1beta2
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: mine
"""
POLICY = '{"kind": "Policy", "apiVersion": "v1", "predicates": [{"name": "HostName"}], "priorities": []}'


def find_all(text: str) -> list[FoundConfiguration]:
    return find(text, LoadLimits(max_bytes=128 << 10))


def one(text: str) -> FoundConfiguration:
    [only] = find_all(text)
    return only


def indented(text: str, by: int) -> str:
    return "".join(f"{' ' * by}{line}\n" for line in text.splitlines())


def configmap(text: str, key: str = "scheduler-config.yaml") -> str:
    return f"kind: ConfigMap\napiVersion: v1\nmetadata:\n  name: config\ndata:\n  {key}: |\n{indented(text, 4)}"


@pytest.mark.parametrize(
    "text",
    [
        CONFIGURATION,
        "\ufeff" + CONFIGURATION,
        CONFIGURATION.replace("\n", "\r\n"),
        "kind: Namespace\n---\n" + CONFIGURATION,
        '{"kind": "KubeSchedulerConfiguration", "apiVersion": "kubescheduler.config.k8s.io/v1beta2",'
        ' "profiles": [{"schedulerName": "mine"}]}',
        configmap(CONFIGURATION),
        "kind: List\nitems:\n" + indented(configmap(CONFIGURATION), 2).replace("  kind", "- kind", 1),
        f"Write this:\n\n```yaml\n{CONFIGURATION}```\nand so on: [\n",
        f"* as a file\n\n  ```\n{indented(CONFIGURATION, 2)}  ```\n: x: [\n",
        f"cat <<EOF | sudo tee /etc/config.yaml\n{CONFIGURATION}EOF\nsystemctl restart: [ x\n",
        f"#!/bin/sh\ncat > a.yaml <<-'END'\n{CONFIGURATION}END\n{{\n",
        f"cluster:\n  scheduler:\n    config:\n{indented(CONFIGURATION, 6)}",
        f"scheduler:\n  configuration: |\n{indented(CONFIGURATION, 4)}",
        "kind: Any\nspec:\n  text: " + json.dumps(CONFIGURATION) + "\n",
    ],
)
def test_a_configuration_is_found(text: str) -> None:
    assert one(text).manifest["profiles"] == [{"schedulerName": "mine"}]


def test_where_it_is_and_its_lines_are_those_of_the_whole_text() -> None:
    it = one(configmap(CONFIGURATION))
    assert it.where == "ConfigMap config, data[scheduler-config.yaml]"
    assert it.line == 7
    assert it.locate("profiles[0].schedulerName") == (10, 22)


def test_in_markdown_lines_are_those_of_the_page() -> None:
    assert one(f"# Title\n\n```yaml\n{CONFIGURATION}```\n: [").locate("profiles[0].schedulerName") == (7, 18)


def test_what_a_page_leaves_out_is_no_end_of_the_document() -> None:
    text = CONFIGURATION.replace("profiles", "...\nprofiles")
    assert one(f"# Title: [\n```yaml\n{text}```\n").manifest["profiles"] == [{"schedulerName": "mine"}]


def test_of_several_keys_each_is_found() -> None:
    text = configmap(CONFIGURATION) + "  other.yaml: |\n" + indented(CONFIGURATION, 4)
    assert [each.line for each in find_all(text)] == [7, 12]


def test_a_policy_is_found_in_a_configmap() -> None:
    it = one(configmap(POLICY, "policy.cfg"))
    assert (it.what, it.line) == ("policy", 7)


def flags(*words: str, kind: str = "Pod") -> str:
    command = "".join(f"    - {word}\n" for word in ("kube-scheduler", *words))
    return (
        f"apiVersion: v1\nkind: {kind}\nmetadata: {{name: kube-scheduler, namespace: kube-system}}\nspec:\n  containers:\n"
        f"  - name: kube-scheduler\n    command:\n{command}"
    )


def test_flags_of_a_static_pod_are_fields_of_a_configuration() -> None:
    it = one(
        flags(
            "--leader-elect=false",
            "--kube-api-qps=80.5",
            "--kube-api-burst",
            "200",
            "--scheduler-name=mine",
            "--feature-gates=A=true",
            "--v=2",
        )
    )
    assert it.manifest["leaderElection"] == {"leaderElect": False}
    assert it.manifest["clientConnection"] == {"qps": 80.5, "burst": 200}
    assert it.manifest["profiles"] == [{"schedulerName": "mine"}]
    assert it.gates == "A=true"
    assert it.locate("clientConnection.qps") == (10, 7)
    assert [change.text for change in it.changes if change.kind == "dropped"] == ["--v has no effect here"]


def test_with_a_file_only_flags_about_election_count() -> None:
    it = one(flags("--config=/etc/kubernetes/my.yaml", "--kube-api-qps=80", "--leader-elect=true"))
    assert it.config_file == "/etc/kubernetes/my.yaml"
    assert "clientConnection" not in it.manifest
    assert it.manifest["leaderElection"] == {"leaderElect": True}


def test_the_file_that_flags_name_is_found_in_a_configmap_beside_them() -> None:
    named = "--config=/etc/kubernetes/scheduler-config.yaml"
    beside = "---\n" + configmap(CONFIGURATION)
    assert [each.what for each in find_all(flags(named) + beside)] == ["configuration"]
    first, second = find_all(flags(named, "--leader-elect=false") + beside)
    assert (first.what, second.what, second.config_file) == ("configuration", "flags", "")


def test_a_policy_that_flags_name_is_asked_for() -> None:
    it = one(flags("--policy-config-file=/etc/policy.cfg", "--use-legacy-policy-config=true"))
    assert [change.kind for change in it.changes] == ["lost", "lost"]


def test_a_shells_script_has_flags_too() -> None:
    text = flags().replace("- kube-scheduler", '- sh\n    - -c\n    - "kube-scheduler --kube-api-qps=7 --v=2"')
    assert one(text).manifest["clientConnection"] == {"qps": 7}


@pytest.mark.parametrize(
    "text",
    [
        "kind: ClusterConfiguration\napiVersion: kubeadm.k8s.io/v1beta3\nscheduler:\n  extraArgs:\n    kube-api-burst: '7'\n",
        "kind: ClusterConfiguration\nscheduler:\n  extraArgs:\n  - {name: kube-api-burst, value: '7'}\n",
        "kind: Cluster\napiVersion: kops.k8s.io/v1alpha2\nspec:\n  kubeScheduler:\n    kubeAPIBurst: 7\n",
        "services:\n  scheduler:\n    extra_args:\n      kube-api-burst: 7\n",
        "kube-scheduler-arg:\n- kube-api-burst=7\n",
        "kube-scheduler-arg: kube-api-burst=7\n",
        "kind: Cluster\napiVersion: kind.x-k8s.io/v1alpha4\nkubeadmConfigPatches:\n- |\n  kind: ClusterConfiguration\n  scheduler:\n"
        "    extraArgs:\n      kube-api-burst: '7'\n",
    ],
)
def test_installers_keep_flags_as_a_section(text: str) -> None:
    assert one(text).manifest["clientConnection"] == {"burst": 7}


def test_gates_of_kops_are_gates() -> None:
    text = "kind: Cluster\napiVersion: kops.k8s.io/v1alpha2\nspec:\n  kubeScheduler:\n    featureGates: {A: true, B: 'false'}\n"
    assert one(text).gates == "A=true,B=false"


def test_values_of_a_chart_are_a_profile() -> None:
    text = (
        "scheduler: {name: extra, leaderElect: false}\n"
        "plugins:\n  enabled: [NodeResourceTopologyMatch]\n  disabled: [PrioritySort]\n"
        "pluginConfig:\n- {name: NodeResourceTopologyMatch, args: {a: 1}}\n"
    )
    it = one(text)
    [profile] = it.manifest["profiles"]
    assert (it.what, profile["schedulerName"]) == ("values", "extra")
    [plugin] = adopt(it).unknown
    assert it.locate(plugin.places[0]) == (3, 13)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a: b",
        "kind: Pod\nspec: {containers: 7}",
        "kind: Pod\nspec:\n  containers:\n  - {name: web, command: [web, --config=x]}",
        "kind: ConfigMap\ndata: [1]",
        "- 1\n- KubeSchedulerConfiguration\n",
    ],
)
def test_what_holds_none_has_none(text: str) -> None:
    assert [each.what for each in find_all(text) if not each.errors] == []


def test_a_template_is_to_be_rendered_first() -> None:
    with pytest.raises(InvalidObject, match="helm template"):
        find_all("{{- if .Values.x }}\n" + CONFIGURATION)


def test_a_text_inside_that_cannot_be_read_is_told_where_it_begins() -> None:
    it = one(configmap("kind: KubeSchedulerConfiguration\na: ["))
    assert it.errors
    assert adopt(it).errors[0].line is not None


@pytest.mark.parametrize(
    "text",
    [
        "```\n" * 30_000,
        "<<EOF\n" * 20_000,
        "```\nkind: KubeSchedulerConfiguration\n```\n" * 3_000,
        "a: " + json.dumps("kind: KubeSchedulerConfiguration\n" + "- " * 30_000),
        json.dumps({"x" * 60_000: [{"a": i} for i in range(5_000)]}),
        json.dumps({"kind": "x", "spec": {"containers": [{"name": "scheduler", "args": ["--a " * 20_000]}]}}),
        "kind: ConfigMap\ndata:\n" + "".join(f'  k{i}: "kind: KubeSchedulerConfiguration"\n' for i in range(2_000)),
    ],
    ids=["fences", "heredocs", "many fences", "dashes", "long key", "long flags", "many keys"],
)
def test_a_large_text_takes_no_long_time(text: str) -> None:
    began = process_time()
    with suppress(InvalidObject):
        find_all(text)
    assert process_time() - began < 5


def test_odd_values_are_looked_through() -> None:
    odd: list[Any] = [None, 1, True, "x", [], {}, [None], {"a": None}]
    for value in odd:
        for field in ("data", "spec", "scheduler", "services", "plugins", "kube-scheduler-arg", "kubeadmConfigPatches"):
            for kind in ("ConfigMap", "Pod", "Cluster", "ClusterConfiguration", None):
                find_all(json.dumps({"kind": kind, "apiVersion": "kops.k8s.io/v1", field: value}))

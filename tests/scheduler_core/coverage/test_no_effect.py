"""Nothing is passed over in silence: what is accepted and changes nothing is told, with the reason."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import scheduler_core
from scheduler_core.api.kinds import KINDS
from scheduler_core.coverage import ENTRIES, notes, notes_of_configuration, without_effect
from scheduler_core.coverage.no_effect import ANY_CUSTOM, CONFIGURATION, POD
from tests.scheduler_core.worlds import pod

ROOMS = ("cluster", "controllers", "framework", "objects", "plugins", "queue", "scheduler")
ALSO_ELSEWHERE = (
    "args",
    "lifecycle",
    "command",
    "hostname",
    "subdomain",
    "env",
    "volumeDevices",
)  # words of other things too, or written alone (a fix renames a volume wherever it stands)


def paths(manifest: dict[str, Any]) -> list[str]:
    return [path for path, _ in without_effect(manifest)]


def test_fields_of_containers_are_named_where_they_stand() -> None:
    manifest = pod("p")
    manifest["spec"]["containers"].append(
        {"name": "d", "image": "i", "livenessProbe": {"exec": {}}, "env": []}
    )
    assert paths(manifest) == ["spec.containers[1].livenessProbe"]


@pytest.mark.parametrize(
    ("kind", "where"),
    [
        ("Deployment", "spec.template"),
        ("Job", "spec.template"),
        ("CronJob", "spec.jobTemplate.spec.template"),
    ],
)
def test_fields_of_pods_count_in_templates(kind: str, where: str) -> None:
    manifest: dict[str, Any] = {"spec": {"dnsPolicy": "None"}}
    for step in reversed(where.split(".")):
        manifest = {step: manifest}
    assert paths({"apiVersion": "apps/v1", "kind": kind, **manifest}) == [f"{where}.spec.dnsPolicy"]


def test_whole_kinds_are_told() -> None:
    ((path, why),) = without_effect(
        {"apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "metadata": {"name": "i"}}
    )
    assert path == ""
    assert "nothing is routed" in why


@pytest.mark.parametrize("version", ["argoproj.io/v1", "kubelet.config.k8s.io/v1beta1"])
def test_custom_resources_are_told_whatever_they_are_called(version: str) -> None:
    assert paths({"apiVersion": version, "kind": "Service", "metadata": {"name": "x"}}) == [""]


def test_what_kube_fills_in_itself_is_passed_over() -> None:
    manifest = pod(
        "p",
        dnsPolicy="ClusterFirst",
        securityContext={},
        serviceAccountName="default",
        enableServiceLinks=True,
    )
    manifest["spec"]["containers"][0] |= {
        "terminationMessagePath": "/dev/termination-log",
        "imagePullPolicy": "Always",
    }
    assert paths(manifest) == []


def test_many_objects_are_told_in_one_line_for_each_field() -> None:
    pods = [pod(name, hostIPC=True) for name in "abc"]
    (note,) = notes(pods)
    assert note.startswith("Pod a and 2 more: spec.hostIPC has no effect here: ")


@pytest.mark.parametrize("kind", sorted({entry.kind for entry in ENTRIES} - {ANY_CUSTOM, CONFIGURATION}))
def test_the_list_names_kinds_that_there_are(kind: str) -> None:
    assert kind in KINDS


def test_every_entry_is_there_once() -> None:
    named = [(entry.kind, entry.path) for entry in ENTRIES]
    assert len(set(named)) == len(named)


def test_no_room_reads_a_field_that_is_said_to_have_no_effect() -> None:
    sources = [
        path.read_text()
        for room in ROOMS
        for path in (Path(scheduler_core.__file__).parent / room).rglob("*.py")
    ]
    listed = [entry.path for entry in ENTRIES if entry.kind == POD and "volumes" not in entry.path]
    fields = {path.rpartition(".")[2] for path in listed} - {*ALSO_ELSEWHERE}
    read = [name for name in sorted(fields) if any(f'"{name}"' in source for source in sources)]
    assert read == []


def test_a_configuration_says_what_of_it_has_no_effect() -> None:
    given = {"enableProfiling": False, "extenders": [{"urlPrefix": "http://x"}]}
    (note,) = notes_of_configuration(given)
    assert note.startswith("enableProfiling has no effect here: there is no process to be profiled")


def test_a_field_whose_usual_value_is_an_object_is_noted_too() -> None:
    manifest = pod("p")
    manifest["spec"]["securityContext"] = {"runAsUser": 1000}
    assert [note.partition(" has")[0] for note in notes([manifest])] == ["Pod p: spec.securityContext"]

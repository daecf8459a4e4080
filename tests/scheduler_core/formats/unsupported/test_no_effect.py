"""Nothing is passed over in silence: what is accepted and changes nothing is told, with the reason."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.apiserver.kinds import KEPT, KINDS
from scheduler_core.formats.unsupported import ENTRIES, notes, notes_of_configuration, without_effect
from scheduler_core.formats.unsupported.no_effect import ANY_CUSTOM, CONFIGURATION
from tests.scheduler_core.worlds import pod


def paths(manifest: dict[str, Any]) -> list[str]:
    return [path for path, _ in without_effect(manifest)]


def test_fields_of_containers_are_named_where_they_stand() -> None:
    manifest = pod("p")
    manifest["spec"]["containers"].append({"name": "d", "image": "i", "livenessProbe": {"exec": {}}, "env": []})
    assert paths(manifest) == ["spec.containers[1].livenessProbe"]


@pytest.mark.parametrize(
    ("kind", "where"),
    [("Deployment", "spec.template"), ("Job", "spec.template"), ("CronJob", "spec.jobTemplate.spec.template")],
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
    assert "traffic is not routed" in why


@pytest.mark.parametrize(
    ("version", "kind"),
    [
        ("argoproj.io/v1", "Service"),
        ("kubelet.config.k8s.io/v1beta1", "KubeletConfiguration"),
        ("autoscaling.k8s.io/v1", "VerticalPodAutoscaler"),
        ("snapshot.storage.k8s.io/v1", "VolumeSnapshot"),
        ("gateway.networking.k8s.io/v1", "Gateway"),
        ("topology.node.k8s.io/v1alpha2", "NodeResourceTopology"),
        ("metrics.k8s.io/v1beta1", "PodMetrics"),
        ("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration"),
        ("certificates.k8s.io/v1", "CertificateSigningRequest"),
    ],
)
def test_custom_resources_are_told_whatever_they_are_called(version: str, kind: str) -> None:
    assert paths({"apiVersion": version, "kind": kind, "metadata": {"name": "x"}}) == [""]


def test_admission_webhooks_are_told_in_words_of_their_own() -> None:
    manifest = {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration"}
    ((_, why),) = without_effect(manifest)
    assert why.startswith("webhooks are not called")


def test_pod_security_labels_of_a_namespace_are_told() -> None:
    labels = {
        "pod-security.kubernetes.io/enforce": "restricted",
        "pod-security.kubernetes.io/warn": "baseline",
        "pod-security.kubernetes.io/audit": "privileged",
        "team": "a",
    }
    manifest = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n", "labels": labels}}
    assert paths(manifest) == ["metadata.labels[pod-security.kubernetes.io/warn]"]


@pytest.mark.parametrize(
    "source",
    [
        {"hostPath": {"path": "/x", "type": "Directory"}},
        {"nfs": {"server": "a", "path": "/b"}},
        {"image": {"reference": "x"}},
        {"projected": {"sources": [{"secret": {"name": "s"}}]}},
        {"configMap": {"name": "c"}},
        {"cephfs": {"monitors": ["m"]}},
    ],
)
def test_volumes_without_files_are_told(source: dict[str, Any]) -> None:
    assert paths(pod("p", volumes=[{"name": "v", **source}])) == [f"spec.volumes[0].{next(iter(source))}"]


def test_what_alpha_gates_drop_is_told() -> None:
    manifest = pod("p", hostnameOverride="x")
    manifest["spec"]["containers"][0]["lifecycle"] = {"stopSignal": "SIGUSR1"}
    assert paths(manifest) == ["spec.containers[0].lifecycle.stopSignal", "spec.hostnameOverride"]


def from_a_cluster(manifest: dict[str, Any], uid: str, maker: str = "") -> dict[str, Any]:
    """The manifest as kubectl prints it: with a uid, and its maker's."""
    manifest["metadata"]["uid"] = uid
    if maker:
        manifest["metadata"]["ownerReferences"] = [{"controller": True, "uid": maker}]
    return manifest


def test_what_admission_adds_to_a_pod_is_passed_over() -> None:
    token = [
        {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
        {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
        {"downwardAPI": {"items": [{"fieldRef": {"fieldPath": "metadata.namespace"}, "path": "namespace"}]}},
    ]
    volume = {"name": "kube-api-access-7xj2k", "projected": {"defaultMode": 420, "sources": token}}
    manifest = from_a_cluster(pod("p", volumes=[volume], serviceAccount="default"), "1")
    mount = {"name": volume["name"], "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount"}
    manifest["spec"]["containers"][0] |= {"volumeMounts": [mount], "securityContext": {}}
    assert notes([manifest]) == []


def test_an_object_that_another_one_of_them_makes_is_passed_over() -> None:
    template = {"spec": pod("x", hostIPC=True)["spec"]}
    owner: dict[str, Any] = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": "r"},
        "spec": {"template": template},
    }
    made = from_a_cluster(pod("p", hostIPC=True), "2", "1")
    assert [note.partition(" has")[0] for note in notes([from_a_cluster(owner, "1"), made])] == [
        "ReplicaSet r: spec.template.spec.hostIPC"
    ]
    assert len(notes([made])) == 1


def test_what_a_cluster_writes_is_told_where_somebody_wrote_it() -> None:
    manifest: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "n"},
        "spec": {"podCIDR": "10.0.0.0/24", "podCIDRs": ["10.0.0.0/24"], "providerID": "kind://n"},
    }
    assert len(notes([manifest])) == 2
    assert notes([from_a_cluster(manifest, "1")]) == []
    assert paths(manifest) == ["spec.podCIDR", "spec.providerID"]


def test_a_field_that_says_the_same_as_one_beside_it_is_told_once() -> None:
    assert paths(pod("p", serviceAccount="a", serviceAccountName="a")) == ["spec.serviceAccountName"]
    assert paths(pod("p", serviceAccount="a")) == ["spec.serviceAccount"]


def test_what_kube_fills_in_itself_is_passed_over() -> None:
    manifest = pod(
        "p", dnsPolicy="ClusterFirst", securityContext={}, serviceAccountName="default", enableServiceLinks=True
    )
    manifest["spec"]["containers"][0] |= {"terminationMessagePath": "/dev/termination-log", "imagePullPolicy": "Always"}
    assert paths(manifest) == []


def test_many_objects_are_told_in_one_line_for_each_field() -> None:
    pods = [pod(name, hostIPC=True) for name in "abc"]
    (note,) = notes(pods)
    assert note.startswith("Pod a and 2 more: spec.hostIPC has no effect here: ")


@pytest.mark.parametrize(
    "kind", sorted({e.kind for e in ENTRIES if not e.kind.startswith(ANY_CUSTOM)} - {CONFIGURATION})
)
def test_the_list_names_kinds_that_there_are(kind: str) -> None:
    assert kind in {*KINDS, *(key.partition(".")[0] for key in KEPT)}


def test_every_entry_is_there_once() -> None:
    named = [(entry.kind, entry.path) for entry in ENTRIES]
    assert len(set(named)) == len(named)


def test_a_configuration_says_what_of_it_has_no_effect() -> None:
    given = {"enableProfiling": False, "extenders": [{"urlPrefix": "http://x"}]}
    (note,) = notes_of_configuration(given)
    assert note.startswith("enableProfiling has no effect here: there is no process to profile")


def test_a_field_whose_usual_value_is_an_object_is_noted_too() -> None:
    manifest = pod("p")
    manifest["spec"]["securityContext"] = {"runAsUser": 1000}
    assert [note.partition(" has")[0] for note in notes([manifest])] == ["Pod p: spec.securityContext"]

"""Pod Security admission: each check of kube's, in kube's words.

kube: k8s.io/pod-security-admission/policy/check_*_test.go @ v0.34.2
"""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.apiserver.admission.plugins.pod_security import list_violations
from tests.scheduler_core.apiserver.cluster.requests import api_server, make, pod, refusal

ENFORCE = "pod-security.kubernetes.io/enforce"
NON_ROOT = {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
STRICT = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}


def spec(context: Any = None, of_pod: Any = None, **more: Any) -> dict[str, Any]:
    container = {"name": "a", "image": "x", "securityContext": STRICT if context is None else {**STRICT, **context}}
    return {"containers": [container], "securityContext": NON_ROOT if of_pod is None else of_pod, **more}


NET = {"capabilities": {"drop": ["ALL"], "add": ["NET_ADMIN", "NET_BIND_SERVICE", "BPF"]}}
WINDOWS = {"containers": [{"name": "a"}], "os": {"name": "windows"}, "securityContext": {"runAsNonRoot": True}}


@pytest.mark.parametrize(
    ("given", "level", "minor", "found"),
    [
        (spec(), "restricted", 34, {}),
        (spec(hostNetwork=True, hostPID=True), "baseline", 34, {"host namespaces": "hostNetwork=true, hostPID=true"}),
        (spec(volumes=[{"name": "v", "hostPath": {"path": "/"}}]), "baseline", 34, {"hostPath volumes": 'volume "v"'}),
        (
            spec(volumes=[{"name": "v", "hostPath": {}}, {"name": "w", "nfs": {}}, {"name": "x", "emptyDir": {}}]),
            "restricted",
            34,
            {"restricted volume types": 'volumes "v", "w" use restricted volume types "hostPath", "nfs"'},
        ),
        (
            spec({"privileged": True}),
            "baseline",
            34,
            {"privileged": 'container "a" must not set securityContext.privileged=true'},
        ),
        (
            spec(NET),
            "baseline",
            34,
            {
                "non-default capabilities": 'container "a" must not include "BPF", "NET_ADMIN" in securityContext.capabilities.add'
            },
        ),
        (
            spec(NET),
            "restricted",
            34,
            {
                "unrestricted capabilities": 'container "a" must not include "BPF", "NET_ADMIN" in securityContext.capabilities.add'
            },
        ),
        (spec({"procMount": "Unmasked"}, hostUsers=False), "baseline", 35, {}),
        (
            spec({"procMount": "Unmasked"}),
            "restricted",
            35,
            {"procMount": 'container "a" must not set securityContext.procMount to "Unmasked"'},
        ),
        (spec({"runAsUser": 0}), "restricted", 34, {"runAsUser=0": 'container "a" must not set runAsUser=0'}),
        (spec({"runAsUser": 0}, hostUsers=False), "restricted", 35, {}),
        (
            spec(of_pod={}),
            "restricted",
            34,
            {
                "runAsNonRoot != true": 'pod or container "a" must set securityContext.runAsNonRoot=true',
                "seccompProfile": 'pod or container "a" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"',
            },
        ),
        (
            spec(of_pod={"seccompProfile": {"type": "Unconfined"}}),
            "baseline",
            34,
            {"seccompProfile": 'pod must not set securityContext.seccompProfile.type to "Unconfined"'},
        ),
        (
            spec(of_pod={"sysctls": [{"name": "kernel.msgmax"}, {"name": "net.ipv4.tcp_rmem"}]}),
            "baseline",
            31,
            {"forbidden sysctls": "kernel.msgmax, net.ipv4.tcp_rmem"},
        ),
        (
            spec({"seLinuxOptions": {"type": "t", "user": "u"}}),
            "baseline",
            34,
            {
                "seLinuxOptions": 'container "a" set forbidden securityContext.seLinuxOptions: type "t"; user may not be set'
            },
        ),
        (
            spec({"appArmorProfile": {"type": "Unconfined"}}),
            "baseline",
            34,
            {"forbidden AppArmor profile": 'container "a" must not set AppArmor profile type to "Unconfined"'},
        ),
        (
            {"containers": [{"name": "a", "ports": [{"hostPort": 80}, {"hostPort": 443}]}]},
            "baseline",
            34,
            {"hostPort": 'container "a" uses hostPorts 443, 80'},
        ),
        (
            {"containers": [{"name": "a", "livenessProbe": {"httpGet": {"host": "x.y"}}}]},
            "baseline",
            34,
            {"probe or lifecycle host": 'container "a" uses probe or lifecycle host "x.y"'},
        ),
        ({"containers": [{"name": "a", "livenessProbe": {"httpGet": {"host": "x.y"}}}]}, "baseline", 33, {}),
        (WINDOWS, "restricted", 34, {}),
        (
            spec({"windowsOptions": {"hostProcess": True}}),
            "baseline",
            34,
            {"hostProcess": 'container "a" must not set securityContext.windowsOptions.hostProcess=true'},
        ),
    ],
)
def test_a_check_says_what_kube_says(given: dict[str, Any], level: str, minor: int, found: dict[str, str]) -> None:
    assert list_violations(given, level, minor) == found


def test_the_enforced_level_refuses_a_new_pod_and_a_new_image_alone() -> None:
    api = api_server(make("Namespace", "t", metadata={"labels": {ENFORCE: "privileged"}}))
    old = api.create(pod(namespace="t", hostNetwork=True))
    api.patch(("Namespace", "", "t"), {"metadata": {"labels": {ENFORCE: "baseline", f"{ENFORCE}-version": "v1.30"}}})
    message = refusal(lambda: api.create(pod("other", namespace="t", hostNetwork=True))).message
    assert message.endswith('violates PodSecurity "baseline:v1.30": host namespaces (hostNetwork=true)')
    target = ("Pod", "t", old["metadata"]["name"])
    api.patch(target, {"metadata": {"labels": {"team": "b"}}})
    image = {"spec": {"containers": [{"name": old["spec"]["containers"][0]["name"], "image": "new"}]}}
    assert "violates PodSecurity" in refusal(lambda: api.patch(target, image, "strategic")).message


def test_an_unreadable_level_counts_as_restricted_and_the_plugin_can_be_switched_off() -> None:
    home = make("Namespace", "t", metadata={"labels": {ENFORCE: "strict"}})
    assert 'PodSecurity "restricted:latest"' in refusal(lambda: api_server(home).create(pod(namespace="t"))).message
    assert api_server(home, disable_admission_plugins=("PodSecurity",)).create(pod(namespace="t"))

"""What must not be in containers, of pods and of templates.

kube: pkg/apis/core/validation/validation_test.go TestValidateContainers, TestValidateInitContainers, TestValidateProbe @ v1.34.1
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.scheduler_core.apiserver.cluster.requests import api_server, make, pod, refusal

MOUNT = {"name": "v", "mountPath": "/a"}
TCP = {"tcpSocket": {"port": 80}}


def container(**fields: Any) -> dict[str, Any]:
    return make("Pod", "p", "default", spec={"containers": [{"name": "c", "image": "app", **fields}]})


def init(**fields: Any) -> dict[str, Any]:
    return pod(initContainers=[{"name": "i", "image": "app", **fields}])


@pytest.mark.parametrize(
    ("manifest", "problem"),
    [
        (container(volumeMounts=[MOUNT]), 'spec.containers[0].volumeMounts[0].name: Not found: "v"'),
        (container(imagePullPolicy="Maybe"), 'supported values: "Always", "IfNotPresent", "Never"'),
        (
            container(readinessProbe={}),
            "spec.containers[0].readinessProbe: Required value: must specify a handler type",
        ),
        (container(livenessProbe={**TCP, "successThreshold": 2}), "must be 1"),
        (container(livenessProbe={**TCP, "periodSeconds": -1}), "must be greater than or equal to 0"),
        (container(readinessProbe={**TCP, "exec": {}}), "may not specify more than 1 handler type"),
        (init(readinessProbe=TCP), "may not be set for init containers without restartPolicy=Always"),
        (
            pod(volumes=[{"name": "v", "emptyDir": {}, "hostPath": {"path": "/"}}]),
            "may not specify more than 1 volume type",
        ),
        (pod(hostname="Bad_Host"), "spec.hostname: Invalid value"),
        (pod(readinessGates=[{"conditionType": "a b"}]), "spec.readinessGates[0].conditionType: Invalid value"),
    ],
)
def test_what_kube_refuses(manifest: dict[str, Any], problem: str) -> None:
    answer = refusal(lambda: api_server().create(manifest))
    assert (answer.code, problem in answer.message) == (422, True)


def test_what_kube_accepts() -> None:
    sidecar = {"name": "s", "image": "app", "restartPolicy": "Always", "readinessProbe": TCP}
    manifest = container(volumeMounts=[MOUNT], readinessProbe=TCP, env=[{"name": "A", "value": "b"}])
    manifest["spec"] |= {"initContainers": [sidecar], "volumes": [{"name": "v", "emptyDir": {}}]}
    assert api_server().create(manifest)


def test_a_stateful_set_mounts_its_claim_templates() -> None:
    labels = {"a": "b"}
    spec = {"containers": [{"name": "c", "image": "app", "volumeMounts": [MOUNT]}]}
    sized = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    claim = {"metadata": {"name": "v"}, "spec": sized}
    template = {"metadata": {"labels": labels}, "spec": spec}
    workload = {"selector": {"matchLabels": labels}, "template": template, "serviceName": "s"}
    whole = make("StatefulSet", "s", "default", "apps/v1", spec={**workload, "volumeClaimTemplates": [claim]})
    assert api_server().create(whole)
    answer = refusal(lambda: api_server().create({**whole, "spec": workload}))
    assert "spec.template.spec.containers[0].volumeMounts[0].name: Not found" in answer.message
    boundless = {"metadata": {"name": "v"}, "spec": {"resources": sized["resources"]}}
    answer = refusal(lambda: api_server().create({**whole, "spec": {**workload, "volumeClaimTemplates": [boundless]}}))
    assert "spec.volumeClaimTemplates[0].spec.accessModes: Required value: at least 1" in answer.message


def test_fields_of_a_gate_that_is_off_are_dropped() -> None:
    api = api_server()
    rules = [{"action": "Restart", "exitCodes": {"operator": "In", "values": [1]}}]
    manifest = container(restartPolicy="Never", restartPolicyRules=rules)
    manifest["spec"]["initContainers"] = [{"name": "i", "image": "app", "restartPolicy": "OnFailure"}]
    spec = api.create(manifest)["spec"]
    for raw in (*spec["containers"], *spec["initContainers"]):
        assert not {"restartPolicy", "restartPolicyRules"} & raw.keys()

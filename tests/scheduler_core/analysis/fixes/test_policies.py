"""Fixes for what a ValidatingAdmissionPolicy refuses: the field that an expression compares, set as the expression wants it."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.analysis.fixes import Fix, find_fixes
from scheduler_core.analysis.fixes.policies import build_patch, satisfy
from scheduler_core.world.commands import ApplyObjects
from scheduler_core.world.simulation import Simulation
from tests.scheduler_core.worlds import node, pod

GROUP = {"apiVersion": "admissionregistration.k8s.io/v1"}


def policy(expression: str, name: str = "rule", resource: str = "pods", **spec: Any) -> list[dict[str, Any]]:
    group = [""] if resource == "pods" else ["apps"]
    rule = {"apiGroups": group, "apiVersions": ["v1"], "operations": ["CREATE"], "resources": [resource]}
    spec = {"matchConstraints": {"resourceRules": [rule]}, "validations": [{"expression": expression}], **spec}
    bound = {"policyName": name, "validationActions": ["Deny"]}
    if "paramKind" in spec:
        bound["paramRef"] = {"name": "limits", "namespace": "default", "parameterNotFoundAction": "Deny"}
    binding = {**GROUP, "kind": "ValidatingAdmissionPolicyBinding", "metadata": {"name": f"{name}-here"}, "spec": bound}
    return [{**GROUP, "kind": "ValidatingAdmissionPolicy", "metadata": {"name": name}, "spec": spec}, binding]


def template(**spec: Any) -> dict[str, Any]:
    return {"metadata": {"labels": {"app": "mill"}}, "spec": {**pod("p")["spec"], **spec}}


def deployment(replicas: int = 1, **spec: Any) -> dict[str, Any]:
    wanted = {"replicas": replicas, "selector": {"matchLabels": {"app": "mill"}}, "template": template(**spec)}
    meta = {"name": "mill", "namespace": "default"}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta, "spec": wanted}


def offer(*objects: dict[str, Any], key: str = "default/mill-*") -> list[Fix]:
    sim = Simulation(seed=3)
    sim.apply(ApplyObjects((node("a"), *objects)))
    sim.run(steps=3_000)
    return find_fixes(sim, key)


CONTAINERS = "object.spec.containers"
NEVER_AS_ROOT = f"{CONTAINERS}.all(c, has(c.securityContext) && c.securityContext.runAsNonRoot == true)"
BIG = [{"name": "grind", "image": "a/grind:2", "resources": {"limits": {"memory": "4Gi", "cpu": "2"}}}]
TWO = [{"name": "grind", "image": "a/grind:2"}, {"name": "sift", "image": "a/sift:2"}]


@pytest.mark.parametrize(
    ("expression", "spec", "field"),
    [
        ("object.spec.hostNetwork == false", {"hostNetwork": True}, "spec.hostNetwork=false"),
        ("!object.spec.hostPID", {"hostPID": True}, "spec.hostPID=false"),
        ("object.spec.?terminationGracePeriodSeconds.orValue(30) <= 20", {}, "terminationGracePeriodSeconds=20"),
        ("20 >= object.spec.terminationGracePeriodSeconds", {}, "terminationGracePeriodSeconds=20"),
        ("has(object.spec.hostname) == false || object.spec.hostIPC", {"hostname": "x"}, "spec.hostname=null"),
        ("object.spec.restartPolicy in ['Always'] && !has(object.spec.hostname)", {"hostname": "x"}, "hostname=null"),
        (NEVER_AS_ROOT, {"containers": TWO}, "spec.containers.1.securityContext.runAsNonRoot=true"),
        (f"{CONTAINERS}.all(c, has(c.resources.limits))", {}, "spec.containers.0.resources.limits="),
        (f"{CONTAINERS}.all(c, c.image.startsWith('own.example/'))", {"containers": TWO}, '"own.example/sift:2"'),
        (f"!{CONTAINERS}.exists(c, c.imagePullPolicy == 'IfNotPresent')", {}, "imagePullPolicy"),
        (f"{CONTAINERS}.all(c, !c.image.endsWith(':2'))", {"containers": TWO}, '"a/sift:to-be-chosen"'),
        (
            f"{CONTAINERS}.all(c, c.image.matches('^own\\\\.example/.*:[0-9]+$'))",
            {"containers": TWO[:1]},
            '"own.example/grind:2"',
        ),
        (
            f"{CONTAINERS}.all(c, c.image.matches('^own\\\\.example/\\\\pL+:[0-9]+$'))",  # a class that only RE2 has
            {"containers": TWO[:1]},
            '"own.example/grind:2"',
        ),
        ("has(object.spec.hostname) ? object.spec.hostname == 'a' : true", {"hostname": "x"}, 'hostname="a"'),
        (
            f"{CONTAINERS}.all(c, quantity(c.resources.limits.memory).isLessThan(quantity('2Gi')))",
            {"containers": BIG},
            '"1Gi"',
        ),
        (
            f"{CONTAINERS}.all(c, quantity(c.resources.limits.cpu).compareTo(quantity('1')) <= 0)",
            {"containers": BIG},
            '"1"',
        ),
        ("size(object.spec.?hostname.orValue('')) > 0", {}, "hostname="),
    ],
)
def test_the_field_that_an_expression_compares_is_set_as_it_wants(
    expression: str, spec: dict[str, Any], field: str
) -> None:
    found = [fix for fix in offer(*policy(expression), deployment(**spec)) if fix.kind == "policy-field"]
    if "imagePullPolicy" in expression:  # the value that would do cannot be known
        assert not found
        return
    assert found, "no field is proposed"
    assert any(field in each for each in found[0].changes[0].values["fields"])
    assert found[0].node == "a"
    assert found[0].kubectl.startswith("kubectl patch deployment mill -n default -p ")


def test_a_policy_with_a_variable_and_a_parameter() -> None:
    expression = "object.spec.terminationGracePeriodSeconds <= variables.most"
    variables = [{"name": "most", "expression": "int(params.data.seconds)"}]
    kind = {"apiVersion": "v1", "kind": "ConfigMap"}
    given = policy(expression, variables=variables, paramKind=kind)
    limits = {**kind, "metadata": {"name": "limits", "namespace": "default"}, "data": {"seconds": "12"}}
    (found,) = [fix for fix in offer(limits, *given, deployment()) if fix.kind == "policy-field"]
    assert found.changes[0].values["fields"] == ["spec.terminationGracePeriodSeconds=12"]


def test_two_policies_that_refuse_one_pod_are_both_satisfied() -> None:
    first, second = policy("object.spec.hostNetwork == false", "one"), policy("!object.spec.hostPID", "two")
    found = offer(*first, *second, deployment(hostNetwork=True, hostPID=True))
    fields = [fix.changes[0].values["fields"] for fix in found if fix.kind == "policy-field"]
    assert fields == [["spec.hostNetwork=false", "spec.hostPID=false"]]


def test_fewer_replicas_where_a_policy_limits_those_of_a_replica_set() -> None:
    found = offer(*policy("object.spec.replicas <= 3", resource="replicasets"), deployment(7))
    (fix,) = [each for each in found if each.kind == "policy-field"]
    assert fix.changes[0].values["fields"] == ["spec.replicas=3"]
    assert fix.node == "a"


def test_a_label_that_is_wanted_is_still_called_a_label() -> None:
    found = offer(*policy("'team' in object.metadata.labels"), deployment())
    assert found[0].kind == "pod-label"
    assert found[0].changes[0].values["key"] == "team"


def test_no_field_is_proposed_for_what_no_field_of_the_pod_decides() -> None:
    for expression in (
        "request.userInfo.username == 'root'",
        "size(object.spec.containers) > 3",
        "namespaceObject.metadata.name == 'x'",
    ):
        assert {fix.kind for fix in offer(*policy(expression), deployment())} <= {"policy-binding"}


def test_a_patch_names_containers_and_nothing_that_holds_is_changed() -> None:
    manifest = {**deployment(), "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": [*TWO]}}
    spec = policy("object.spec.containers.all(c, c.image == 'a/sift:2')")[0]["spec"]
    (edits,) = satisfy(spec, manifest, {})
    assert build_patch(manifest, edits) == {"spec": {"containers": [{"name": "grind", "image": "a/sift:2"}]}}


@pytest.mark.parametrize(
    "expression",
    [
        f"{CONTAINERS}[5].name == 'q'",
        f"{CONTAINERS}.all(c, c.image < 3)",
        f"{CONTAINERS}[0].image[0].name == 'x'",
        "object.spec.restartPolicy.name == 'x'",
        "object.spec.priority == int('abc')",
        "object.spec.priority in params.none",
    ],
)
def test_an_expression_that_fails_on_an_object_proposes_nothing(expression: str) -> None:
    manifest = {**pod("p"), "spec": {"containers": TWO, "restartPolicy": "Always", "priority": 3}}
    assert satisfy({"validations": [{"expression": expression}]}, manifest, {"none": 7}) == []


def test_each_value_of_a_list_in_the_expression_itself_is_set() -> None:
    every = {"validations": [{"expression": "['team', 'cost'].all(key, key in object.metadata.labels)"}]}
    paths = [("metadata", "labels", "team"), ("metadata", "labels", "cost")]
    assert [*satisfy(every, {"metadata": {"labels": {"app": "mill"}}}, {})[0]] == paths

"""ValidatingAdmissionPolicies beside a kube-apiserver v1.37.2: admission_policies.json has requests with its answers, by group."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from scheduler_core.apiserver.admission.plugins import admission_policy
from scheduler_core.apiserver.door import JSON, Call, Failure, answer_write
from scheduler_core.apiserver.status import Refused
from scheduler_core.world.simulation import Simulation

GROUPS = json.loads(Path(__file__).with_name("admission_policies.json").read_text())
GENERATED = re.compile(r"gen-\w{5}")


def send(sim: Simulation, method: str, path: str, body: Any) -> dict[str, Any]:
    """The answer as it was recorded: its code, its refusal, and its warnings."""
    path, _, query = path.partition("?")
    call = Call(method, path, dict(part.split("=") for part in query.split("&") if part))
    try:
        reply = answer_write(sim.api, call, body, "application/merge-patch+json" if method == "PATCH" else JSON, "me")
    except Failure as failure:
        reply = failure.reply
    found = {"code": reply.status}
    if reply.status >= 300:
        found |= {name: reply.body[name] for name in ("reason", "message", "details") if name in reply.body}
    warnings = [text for name, text in reply.headers if name == "Warning"]
    return {**found, **({"warnings": warnings} if warnings else {})}


def plain(answer: Any) -> Any:
    """An answer without what is made at random."""
    return json.loads(GENERATED.sub("gen-", json.dumps(answer)))


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: str(group["title"]))
def test_requests_are_answered_as_a_kube_apiserver_answers_them(group: dict[str, Any]) -> None:
    sim = Simulation()
    for method, path, body in group["setup"]:
        assert send(sim, method, path, body)["code"] < 300, path
    for each in group["requests"]:
        assert plain(send(sim, *each["request"])) == plain(each["answer"]), each["request"]


OWNER = {"expression": "has(object.metadata.labels) && 'owner' in object.metadata.labels", "message": "whose is it?"}


def make_policy(name: str, *validations: dict[str, Any], **spec: Any) -> list[dict[str, Any]]:
    """A policy about new pods, with a binding."""
    rules = [{"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"]}]
    kept = {"matchConstraints": {"resourceRules": rules}, "validations": list(validations), **spec}
    version, meta = "admissionregistration.k8s.io/v1", {"name": name}
    bound = {"policyName": name, "validationActions": ["Deny"]}
    return [
        {"apiVersion": version, "kind": "ValidatingAdmissionPolicy", "metadata": meta, "spec": kept},
        {"apiVersion": version, "kind": "ValidatingAdmissionPolicyBinding", "metadata": meta, "spec": bound},
    ]


def make_pod(owner: str) -> dict[str, Any]:
    reference = {"apiVersion": "apps/v1", "kind": owner, "name": "o", "uid": "u", "controller": True}
    meta = {"name": "p", "namespace": "default", **({"ownerReferences": [reference]} if owner else {})}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": meta,
        "spec": {"containers": [{"name": "c", "image": "i:1"}]},
    }


@pytest.mark.parametrize(
    ("owner", "user"),
    [
        ("", "kubernetes-admin"),
        ("ReplicaSet", "system:serviceaccount:kube-system:replicaset-controller"),
        ("DaemonSet", "system:serviceaccount:kube-system:daemon-set-controller"),
    ],
)
def test_a_pod_is_made_by_the_account_of_its_owners_controller(owner: str, user: str) -> None:
    sim = Simulation()
    for each in make_policy("who", {"expression": "false", "messageExpression": "request.userInfo.username"}):
        sim.api.create(each)
    with pytest.raises(Refused, match=f"denied request: {user}$"):
        sim.api.create(make_pod(owner))


def test_a_policy_that_asks_the_authorizer_is_passed_over() -> None:
    sim = Simulation()
    asks = {"expression": "authorizer.group('').resource('pods').check('create').allowed()"}
    for each in make_policy("asks", asks, {"expression": "false"}):
        sim.api.create(each)
    assert sim.api.create(make_pod(""))


def test_what_a_dump_says_is_there_may_be_older_than_a_policy() -> None:
    sim, pod = Simulation(), make_pod("")
    for each in make_policy("owner", OWNER):
        sim.api.create(each)
    with pytest.raises(Refused, match="whose is it"):
        sim.api.create(pod, imported=True)
    ready = [{"type": "PodScheduled", "status": "True"}]
    assert sim.api.create({**pod, "status": {"phase": "Running", "conditions": ready}}, imported=True)


def test_expressions_have_a_budget_together() -> None:
    sim = Simulation()
    many = "lists.range(900).all(a, lists.range(900).all(b, a + b >= 0))"
    for each in make_policy("dear", *({"expression": many} for _ in range(3)), failurePolicy="Fail"):
        sim.api.create(each)
    with pytest.raises(Refused, match=r"actual cost limit exceeded|running out of cost budget"):
        sim.api.create(make_pod(""))


def test_policies_share_the_budget_of_a_request(monkeypatch: pytest.MonkeyPatch) -> None:
    name = {"expression": "object.metadata.name != 'x'"}
    sim = Simulation()
    for each in [part for number in range(3) for part in make_policy(f"p{number}", name)]:
        sim.api.create(each)
    monkeypatch.setattr(admission_policy, "_BUDGET", 10)  # enough for one or two of these
    with pytest.raises(Refused, match=r"'p2' with binding 'p2' denied request: .* running out of cost budget"):
        sim.api.create(make_pod(""))

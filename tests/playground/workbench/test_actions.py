"""Actions on objects: what an object offers, the form of each, the command it becomes, and what the API server says to it."""

import html
import re

import msgspec
import pytest

from playground.models import Session
from playground.sessions.database import log
from playground.workbench.actions import ACTIONS, Subject, action, offers
from playground.workbench.forms.actions import ActionForm
from scheduler_core.world.commands import DrainNode, EvictPod
from tests.playground.workbench.conftest import Visitor, page_text

DAY = 1_000_000_000 * 90


def subject(kind: str, **more: object) -> Subject:
    """An object of a kind, named web; `more` is its spec."""
    namespace = "" if kind == "Node" else "default"
    manifest = {"kind": kind, "metadata": {"name": "web", "labels": {"app": "web"}}, "spec": more}
    return Subject(kind, namespace, "web", manifest, now=DAY, time="2026-01-01T00:01:30Z")


def as_json(command: object) -> dict:
    return msgspec.json.decode(msgspec.json.encode(command))


TEMPLATE = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "main", "image": "nginx:1"}]}}
TAINT = {"key": "dedicated", "value": "infra", "effect": "NoSchedule"}
ALONE = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "leaderElection": {"leaderElect": False},
}
NODE, POD = {"kind": "Node", "name": "web"}, {"kind": "Pod", "namespace": "default", "name": "web"}


def ref(kind: str) -> dict:
    return {"kind": kind, "namespace": "default", "name": "web"}


def patch(kind: str, changes: dict, **more: object) -> dict:
    of = {**ref(kind), "namespace": "" if kind == "Node" else "default"}
    return {"kind": "PatchObject", "ref": of, "patch": changes, **more}


def claim() -> Subject:
    """One that has a device, whose binding waits for a condition."""
    result = {"request": "r", "driver": "d.example.com", "pool": "p", "device": "0", "bindingConditions": ["Attached"]}
    status = {"allocation": {"devices": {"results": [result]}}}
    manifest = {"kind": "ResourceClaim", "metadata": {"name": "web"}, "spec": {}, "status": status}
    return Subject("ResourceClaim", "default", "web", manifest, now=DAY, time="2026-01-01T00:01:30Z")


MAIN = {"name": "main", "image": "nginx:1"}


def anew(spec: dict) -> dict:
    """A pod deleted and made anew."""
    pod = {"kind": "Pod", "metadata": {"name": "web", "labels": {"app": "web"}}, "spec": spec}
    return {"kind": "ApplyObjects", "objects": [pod], "create_only": False, "force": True}


def plugin() -> Subject:
    """One of two in a scheduler's only profile."""
    plugins = {"multiPoint": {"enabled": [{"name": "web", "weight": 1}, {"name": "other"}]}}
    manifest = {"metadata": {"scheduler": "s"}, "configuration": {"profiles": [{"plugins": plugins}]}}
    return Subject("Plugin", "", "web", manifest)


def profile(multi: dict) -> dict:
    configuration = {"profiles": [{"plugins": {"multiPoint": multi}}]}
    return {"kind": "SetConfiguration", "configuration": configuration, "scheduler": "s"}


CASES = [
    (
        claim(),
        "report-device",
        {"type": "Attached", "status": "True", "device": "d.example.com/p/0"},
        {"kind": "ReportDeviceCondition", "claim": "default/web", "type": "Attached", "status": "True",
         "device": "d.example.com/p/0", "reason": "", "message": ""},
    ),
    (subject("Node"), "cordon", {}, patch("Node", {"spec": {"unschedulable": True}})),
    (subject("Node"), "uncordon", {}, patch("Node", {"spec": {"unschedulable": None}})),
    (
        subject("Node"),
        "drain",
        {"force": "on", "grace_period_seconds": "5"},
        msgspec.to_builtins(DrainNode("web", force=True, grace_period_seconds=5)),
    ),
    (subject("Node"), "cancel-drain", {}, {"kind": "CancelDrain", "node": "web"}),
    (
        subject("Node", taints=[TAINT, {"key": "other", "effect": "NoExecute"}]),
        "taint",
        {"key": "dedicated", "value": "new", "effect": "NoSchedule"},
        patch(
            "Node",
            {"spec": {"taints": [{**TAINT, "value": "new"}, {"key": "other", "effect": "NoExecute"}]}},
        ),
    ),
    (
        subject("Node", taints=[TAINT]),
        "taint",
        {"key": "dedicated", "effect": "NoExecute", "replaces": "dedicated=infra:NoSchedule"},
        patch("Node", {"spec": {"taints": [{"key": "dedicated", "effect": "NoExecute"}]}}),
    ),
    (
        subject("Node"),
        "resize",
        {"cpu": "6", "others": "nvidia.com/gpu=2"},
        patch(
            "Node",
            {"status": {part: {"cpu": "6", "nvidia.com/gpu": "2"} for part in ("allocatable", "capacity")}},
            subresource="status",
        ),
    ),
    (
        subject("Pod", **TEMPLATE["spec"]),
        "resize",
        {"container": "main", "cpu": "500m"},
        patch(
            "Pod",
            {"spec": {"containers": [{"name": "main", "resources": {"requests": {"cpu": "500m"}}}]}},
            type="strategic",
            subresource="resize",
        ),
    ),
    (
        subject("Pod", nodeName="n1", **TEMPLATE["spec"]),
        "resize",
        {"container": "main", "cpu": "500m", "recreate": "on"},
        anew({"containers": [{**MAIN, "resources": {"requests": {"cpu": "500m"}}}]}),
    ),
    (
        msgspec.structs.replace(subject("Pod", priority=0), classes=[("high", 100)]),
        "priority",
        {"priority": "100"},
        anew({"priorityClassName": "high"}),
    ),
    (subject("Pod", schedulingGates=[{"name": "q"}]), "gates", {"remove": "*"}, patch("Pod", {"spec": {"schedulingGates": None}})),
    (subject("Pod"), "gates", {"add": "q"}, anew({"schedulingGates": [{"name": "q"}]})),
    (
        subject("Pod", nodeName="n1"),
        "duplicate",
        {"copy": "web-2", "count": "1"},
        {"kind": "CreateObject", "user": "",
         "manifest": {"kind": "Pod", "metadata": {"name": "web-2", "labels": {"app": "web"}}, "spec": {}}},
    ),
    (subject("Node"), "fail", {"how": "kubelet"}, {"kind": "SetKubelet", "node": "web", "running": False}),
    (
        msgspec.structs.replace(subject("Node"), kubelet_runs=False),
        "recover",
        {"what": "kubelet"},
        {"kind": "SetKubelet", "node": "web", "running": True},
    ),
    (
        subject("PodDisruptionBudget"),
        "budget",
        {"least": "2"},
        patch("PodDisruptionBudget", {"spec": {"minAvailable": 2, "maxUnavailable": None}}),
    ),
    (plugin(), "weight", {"weight": "7"}, profile({"enabled": [{"name": "web", "weight": 7}, {"name": "other"}]})),
    (plugin(), "disable", {}, profile({"enabled": [{"name": "other"}], "disabled": [{"name": "web"}]})),
    (
        subject("Node", taints=[TAINT]),
        "untaint",
        {"taint": "dedicated=infra:NoSchedule"},
        patch("Node", {"spec": {"taints": None}}),
    ),
    (
        subject("Node"),
        "label",
        {"labels": "disk=ssd, rack-"},
        patch("Node", {"metadata": {"labels": {"disk": "ssd", "rack": None}}}),
    ),
    (subject("Node"), "stop-kubelet", {}, {"kind": "SetKubelet", "node": "web", "running": False}),
    (subject("Node"), "start-kubelet", {}, {"kind": "SetKubelet", "node": "web", "running": True}),
    (
        subject("Node"),
        "report",
        {"type": "MemoryPressure", "status": "True", "reason": "Leak"},
        {"kind": "ReportCondition", "node": "web", "type": "MemoryPressure", "status": "True", "reason": "Leak",
         "message": ""},
    ),
    (
        subject("Node"),
        "use",
        {"memory": "900Mi", "nodefs_used": "90Gi", "pids": "30"},
        {"kind": "SetUsage",
         "entries": [{"at": "90s", "node": "web", "memory": "900Mi", "pids": 30, "nodefs": {"used": "90Gi"}}]},
    ),
    (
        subject("Pod"),
        "evict",
        {"dry_run": "on"},
        msgspec.to_builtins(EvictPod("default/web", dry_run=True)),
    ),
    (
        subject("Pod"),
        "delete-pod",
        {"grace_period_seconds": "0"},
        {"kind": "DeleteObjects", "refs": [ref("Pod")], "grace_period_seconds": 0},
    ),
    (subject("Pod"), "delete-pod", {}, {"kind": "DeleteObjects", "refs": [ref("Pod")]}),
    (
        subject("Pod"),
        "use",
        {"memory": "1Gi", "volumes": "cache=500Mi"},
        {"kind": "SetUsage",
         "entries": [{"at": "90s", "pod": "default/web", "memory": "1Gi", "volumes": {"cache": "500Mi"}}]},
    ),
    (
        subject("Deployment", template=TEMPLATE),
        "use",
        {"memory": "1Gi"},
        {"kind": "SetUsage", "entries": [{"at": "90s", "podLabel": "app=web", "memory": "1Gi"}]},
    ),
    (
        subject("Deployment", template=TEMPLATE),
        "programs",
        {"pods": "app=web", "container": "main", "length": "30s", "exit": "1", "ready": "after", "ready_after": "5s",
         "on_term": "ignore"},
        {"kind": "SetPrograms",
         "rules": [{"pods": "app=web", "container": "main", "runs": [{"for": "30s", "exit": 1}],
                    "ready": {"after": "5s"}, "onTerm": "ignore"}]},
    ),
    (subject("Pod"), "bind", {"node": "n1"}, {"kind": "BindPod", "pod": "default/web", "node": "n1"}),
    (
        subject("StatefulSet"),
        "scale",
        {"replicas": "0"},
        {"kind": "ScaleObject", "ref": ref("StatefulSet"), "replicas": 0},
    ),
    (
        subject("Deployment", template=TEMPLATE),
        "image",
        {"container": "main", "image": "nginx:2"},
        patch(
            "Deployment",
            {"spec": {"template": {"spec": {"containers": [{"name": "main", "image": "nginx:2"}]}}}},
            type="strategic",
        ),
    ),
    (
        subject("DaemonSet"),
        "restart",
        {},
        patch(
            "DaemonSet",
            {"spec": {"template": {"metadata": {
                "annotations": {"kubectl.kubernetes.io/restartedAt": "2026-01-01T00:01:30Z"}}}}},
        ),
    ),
    (
        subject("Deployment"),
        "undo",
        {"revision": "3"},
        patch("Deployment", {"metadata": {"annotations": {"deprecated.deployment.rollback.to": "3"}}}),
    ),
    (subject("Deployment"), "pause", {}, patch("Deployment", {"spec": {"paused": True}})),
    (subject("Deployment"), "resume", {}, patch("Deployment", {"spec": {"paused": None}})),
    (subject("Job"), "parallelism", {"parallelism": "3"}, patch("Job", {"spec": {"parallelism": 3}})),
    (subject("CronJob"), "suspend", {}, patch("CronJob", {"spec": {"suspend": True}})),
    (subject("CronJob"), "unsuspend", {}, patch("CronJob", {"spec": {"suspend": False}})),
    (
        subject("ReplicaSet"),
        "delete-workload",
        {"propagation_policy": "Orphan"},
        {"kind": "DeleteObjects", "refs": [ref("ReplicaSet")], "propagation_policy": "Orphan"},
    ),
    (subject("PodDisruptionBudget"), "delete", {}, {"kind": "DeleteObjects", "refs": [ref("PodDisruptionBudget")]}),
    (
        subject("Scheduler"),
        "start-scheduler",
        {"host": "a", "alone": "on", "clock_offset": "3s", "behind": "on", "clock_rate": "0.5"},
        {"kind": "StartScheduler", "name": "a", "configuration": ALONE, "clock_offset": -3_000_000_000, "clock_rate": 0.5},
    ),
    (subject("Scheduler"), "end-scheduler", {}, {"kind": "StopScheduler", "name": "web", "signal": "SIGTERM"}),
    (subject("Scheduler"), "kill-scheduler", {}, {"kind": "StopScheduler", "name": "web", "signal": "SIGKILL"}),
    (
        subject("Scheduler"),
        "cut-off-scheduler",
        {},
        {"kind": "PartitionScheduler", "name": "web", "partitioned": True, "hang": 1_000_000_000},
    ),
    (
        subject("Scheduler"),
        "connect-scheduler",
        {},
        {"kind": "PartitionScheduler", "name": "web", "partitioned": False, "hang": 1_000_000_000},
    ),
]  # fmt: skip


@pytest.mark.parametrize(("about", "name", "filled_in", "command"), CASES, ids=lambda value: str(value)[:20])
def test_an_action_becomes_a_command(about, name, filled_in, command):
    form = ActionForm(action(about.kind, name), about, filled_in)
    assert form.is_valid(), form.errors
    assert as_json(form.command) == command


def test_many_nodes_are_tainted_by_one_command_and_keep_what_they_have():
    others = [subject("Node", taints=[TAINT]), subject("Node")]
    form = ActionForm(action("Node", "taint"), others[0], {"key": "x", "effect": "NoSchedule"}, everyone=others)
    assert form.is_valid(), form.errors
    command = as_json(form.command)
    assert command["kind"] == "ApplyObjects"
    new = {"key": "x", "effect": "NoSchedule"}
    assert [each["spec"]["taints"] for each in command["objects"]] == [[new, TAINT], [new]]


def test_no_field_is_called_as_what_every_form_sends():
    taken = {"kind", "namespace", "name", "at", "past", "csrfmiddlewaretoken"}
    assert not taken & {field.name for each in ACTIONS for field in each.fields}


def test_every_action_has_a_case():
    cases = {(about.kind, name) for about, name, _, _ in CASES}
    assert [each.name for each in ACTIONS if not cases & {(kind, each.name) for kind in each.kinds}] == []


@pytest.mark.parametrize(
    ("about", "yes", "no"),
    [
        (subject("Node"), {"cordon", "stop-kubelet"}, {"uncordon", "untaint", "start-kubelet", "evict"}),
        (subject("Node", unschedulable=True), {"uncordon"}, {"cordon"}),
        (subject("Node", taints=[TAINT]), {"untaint"}, set()),
        (subject("Pod"), {"bind"}, {"scale"}),
        (subject("Pod", nodeName="n1"), {"evict"}, {"bind"}),
        (subject("Deployment", paused=True), {"resume"}, {"pause", "restart"}),
        (subject("Job"), {"suspend"}, {"unsuspend", "scale"}),
        (subject("ConfigMap"), set(), {"delete-pod", "delete-workload"}),
    ],
)
def test_an_object_offers_what_makes_sense_as_it_is(about, yes, no):
    offered = {offer.name for offer in offers(about)}
    assert yes <= offered
    assert not no & offered


def test_what_is_used_is_filled_in_as_it_is_and_the_rest_stays():
    entries = [
        {"at": "20s", "pod": "default/web", "memory": "1Gi"},
        {"at": "10s", "pod": "default/web", "memory": "2Gi", "pids": 7},
        {"at": "20s", "node": "n1", "memory": "2Gi"},
        {"at": "1h", "pod": "default/web", "memory": "9Gi"},
    ]
    about = msgspec.structs.replace(subject("Pod"), usage=entries)
    form = ActionForm(action("Pod", "use"), about)
    assert (form["memory"].value(), form["pids"].value()) == ("1Gi", 7)
    sent = ActionForm(action("Pod", "use"), about, {"memory": "3Gi", "pids": "7"})
    assert sent.is_valid()
    assert as_json(sent.command)["entries"] == [*entries, {"at": "90s", "pod": "default/web", "memory": "3Gi"}]


def test_a_gate_is_chosen_among_those_of_the_pod_or_all_of_them():
    form = ActionForm(action("Pod", "gates"), subject("Pod", schedulingGates=[{"name": "q"}]))
    assert [str(label) for _, label in form.fields["remove"].choices] == ["none", "all gates", "q"]


def test_a_rule_for_the_same_containers_gives_way():
    others = {"pods": "app=other", "onTerm": "ignore"}
    about = msgspec.structs.replace(subject("Pod"), programs=[others, {"pods": "app=web", "ready": False}])
    ordinary = ActionForm(
        action("Pod", "programs"), about, {"pods": "app=web", "ready": "at once", "on_term": "default"}
    )
    assert ordinary.is_valid()
    assert as_json(ordinary.command)["rules"] == [others]


# in a session


CLUSTER = """\
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {capacity: {cpu: "4", memory: 8Gi, pods: "110"}, allocatable: {cpu: "4", memory: 8Gi, pods: "110"}}
---
apiVersion: v1
kind: Pod
metadata: {name: web, labels: {app: web}}
spec: {containers: [{name: main, image: nginx}]}
"""


class Clustered(Visitor):
    """A visitor in a session of one's own."""

    def __init__(self) -> None:
        super().__init__("empty")
        self.session = log.create("cluster", "", "")
        self.url = f"/s/{self.session.edit_key}/"
        self.view_url = f"/s/{self.session.view_key}/"


@pytest.fixture
def clustered(transactional_db):
    visitor = Clustered()
    said = visitor.browser.post(f"{visitor.url}yaml", {"text": CLUSTER, "create": ""}, follow=True)
    assert "2 objects applied" in page_text(said)
    return visitor


NODE_N1 = {"kind": "Node", "name": "n1"}
POD_WEB = {"kind": "Pod", "namespace": "default", "name": "web"}


def test_a_node_is_cordoned_and_offers_the_opposite(clustered):
    said = clustered.browser.post(f"{clustered.url}act/cordon", NODE_N1, follow=True)
    assert "n1 is cordoned." in page_text(said)
    assert "Uncordon" in page_text(said)
    assert clustered.manifest("Node", "n1")["spec"]["unschedulable"] is True


def test_a_button_of_the_inspector_is_answered_without_a_page(clustered):
    answer = clustered.browser.post(f"{clustered.url}act/cordon", NODE_N1, headers={"HX-Request": "true"})
    assert answer.status_code == 204


def test_the_inspector_offers_what_can_be_done(clustered):
    node = page_text(clustered.get("", tab="node", node="n1"))
    assert "Cordon" in node and "Drain…" in node
    pod = page_text(clustered.get("", tab="pod", pod="default/web"))
    assert "Evict…" in pod and "Bind manually…" in pod


def test_the_page_of_an_object_and_of_a_node_offer_the_same(clustered):
    assert "Set container behavior" in page_text(clustered.get("yaml", **POD_WEB))
    assert "Stop the kubelet" in page_text(clustered.get("cluster", part="nodes", name="n1"))


def test_a_form_that_is_not_filled_in_says_so_and_keeps_the_rest(clustered):
    before = clustered.head()
    answer = clustered.post("act/taint", **NODE_N1, value="infra", effect="NoSchedule")
    assert answer.status_code == 422
    assert "This field is required" in page_text(answer)
    assert 'value="infra"' in answer.content.decode()
    assert clustered.head() == before


def test_what_the_api_server_refuses_is_shown_in_its_words_and_nothing_typed_is_lost(clustered):
    answer = clustered.post("act/label", **NODE_N1, labels="a b=c")
    assert answer.status_code == 422
    assert "name part must consist of alphanumeric characters" in page_text(answer)
    assert 'value="a b=c"' in answer.content.decode()


@pytest.mark.parametrize(
    ("action", "filled_in", "field", "said"),
    [
        ("taint", {"key": "", "value": "infra"}, "key", "This field is required"),
        ("taint", {"key": "bad key!", "value": "infra"}, "key", "name part must consist of"),
        ("taint", {"key": "dedicated", "value": "in fra"}, "value", "a valid label must be"),
        ("label", {"labels": "disk=-ssd-"}, "labels", "a valid label must be"),
        ("resize", {"cpu": "-1", "memory": "8Gi"}, "cpu", "is negative"),
        ("resize", {"cpu": "2 cores", "memory": "8Gi"}, "cpu", "is not a quantity"),
        ("resize", {"pods": "1.5", "cpu": "2"}, "pods", "must be an integer"),
        ("fail", {"how": "fire"}, "how", "Select a valid choice"),
    ],
)
def test_what_is_wrong_is_said_at_its_field_and_nothing_is_lost(clustered, action, filled_in, field, said):
    before, effect = clustered.head(), {"effect": "NoSchedule"} if action == "taint" else {}
    answer = clustered.post(f"act/{action}", **NODE_N1, **filled_in, **effect)
    page = answer.content.decode()
    errors = re.search(rf'<ul class="errors" id="id_{field}_error">(.*?)</ul>', page, re.DOTALL)
    assert errors is not None and said in errors[1]
    assert 'class="refusal"' not in page
    assert all(f'value="{html.escape(value)}"' in page for value in filled_in.values() if action != "fail")
    assert (answer.status_code, clustered.head()) == (422, before)


def test_a_delay_that_is_none_is_told_at_its_field(clustered):
    filled_in = {"pod": "default/web", "call": "bind", "code": "409", "times": "2", "latency": "soon"}
    page = clustered.post("calls", **filled_in).content.decode()
    assert "“soon” is not a duration" in page.partition('id="id_latency_error"')[2][:200]
    assert 'value="soon"' in page and 'value="2"' in page


def test_an_answer_is_shown_with_its_code(clustered):
    clustered.post("act/bind", **POD_WEB, node="n1")
    answer = clustered.post("act/bind", **POD_WEB, node="n1")
    assert answer.status_code == 422
    assert "409 Conflict" in page_text(answer)


BUDGET = """\
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: keep}
spec: {minAvailable: 1, selector: {matchLabels: {app: web}}}
"""


def test_a_drain_that_may_not_begin_says_why_and_keeps_its_flags(clustered):
    clustered.post("act/bind", **POD_WEB, node="n1")
    said = clustered.browser.post(f"{clustered.url}act/drain", {**NODE_N1, "ignore_daemon_sets": "on"}, follow=True)
    assert "cannot delete Pods that declare no controller (use --force to override)" in page_text(said)
    assert "The drain failed" in page_text(said)
    assert re.search(r'name="ignore_daemon_sets"[^>]* checked', said.content.decode())


def test_a_drain_says_what_it_waits_for(clustered):
    clustered.post("yaml", text=BUDGET, create="")
    clustered.ask(lambda client: client.walk(60))
    clustered.post("act/drain", **NODE_N1, force="on")
    clustered.ask(lambda client: client.walk(12))
    for page in (clustered.get("act/drain", **NODE_N1), clustered.get("", tab="node", node="n1")):
        text = page_text(page)
        assert "Draining: 1 of 1 pods left." in text
        assert "Cannot evict pod as it would violate the pod's disruption budget." in text
    clustered.post("act/cancel-drain", **NODE_N1)
    assert "Stop the drain" not in page_text(clustered.get("act/drain", **NODE_N1))


def test_a_dry_run_says_that_nothing_was_changed(clustered):
    said = clustered.browser.post(f"{clustered.url}act/evict", {**POD_WEB, "dry_run": "on"}, follow=True)
    assert "web can be evicted now. Nothing was changed." in page_text(said)
    assert "web" in clustered.objects("Pod")


TOLERANT = """\
apiVersion: v1
kind: Pod
metadata: {name: patient}
spec:
  nodeName: n1
  tolerations: [{key: broken, operator: Exists, effect: NoExecute, tolerationSeconds: 30}]
  containers: [{name: main, image: nginx}]
"""


def node_tab_until(clustered, said: bool) -> str:
    """What the inspector says of the node once it says, or no longer says, that taints will evict."""
    for _ in range(20):
        text = page_text(clustered.get("", tab="node", node="n1"))
        if ("Taints will evict" in text) is said:
            break
        clustered.ask(lambda client: client.walk(3))
    return text


def test_a_node_says_when_its_taints_will_evict(clustered):
    clustered.post("yaml", text=TOLERANT, create="")
    clustered.post("act/taint", **NODE_N1, key="broken", effect="NoExecute")
    assert "Taints will evict: default/patient 00:00:30.010" in node_tab_until(clustered, True)
    clustered.post("act/untaint", **NODE_N1, taint="broken:NoExecute")
    assert "Taints will evict" not in node_tab_until(clustered, False)
    assert "patient" in clustered.objects("Pod")


DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: shop}
spec:
  selector: {matchLabels: {app: shop}}
  template: {metadata: {labels: {app: shop}}, spec: {containers: [{name: main, image: nginx}]}}
"""


def test_a_pod_leads_to_what_owns_it_and_that_to_its_own_owner(clustered):
    clustered.post("yaml", text=DEPLOYMENT, create="")
    clustered.ask(lambda client: client.walk(80))
    pod = next(name for name in clustered.objects("Pod") if name.startswith("shop-"))
    replica_set = clustered.objects("ReplicaSet")[0]
    link = f'data-controller="ReplicaSet/default/{replica_set}"'
    assert link in clustered.get("", tab="pod", pod=f"default/{pod}").content.decode()
    page = clustered.get("act/any", kind="ReplicaSet", namespace="default", name=replica_set)
    assert "owner Deployment shop" in page_text(page)


def test_usage_is_kept_and_filled_in_again(clustered):
    clustered.post("act/use", **NODE_N1, memory="900Mi")
    assert 'value="900Mi"' in clustered.get("act/use", **NODE_N1).content.decode()


def test_a_deleted_object_leads_to_the_list(clustered):
    answer = clustered.post("act/delete-pod", **POD_WEB)
    assert answer.headers["Location"].endswith("/objects")


def test_an_object_that_is_not_there_is_told(clustered):
    answer = clustered.get("act/drain", kind="Node", name="nobody")
    assert answer.status_code == 404
    assert "No Node nobody" in page_text(answer)


def test_an_unknown_action_is_told(clustered):
    answer = clustered.get("act/paint", **NODE_N1)
    assert answer.status_code == 404
    assert "No action “paint” exists for a Node." in page_text(answer)


def test_a_view_link_looks_and_changes_nothing(clustered):
    page = clustered.browser.get(f"{clustered.view_url}act/drain", NODE_N1)
    assert "Drain" in page_text(page)
    assert '<button class="primary">' not in page.content.decode()
    assert clustered.browser.post(f"{clustered.view_url}act/cordon", NODE_N1).status_code == 403


def test_in_the_past_an_action_forks_at_once_and_says_so(clustered):
    clustered.post("step", grain="event")
    head = clustered.head()
    said = clustered.browser.post(f"{clustered.url}act/label", {**NODE_N1, "labels": "a=b", "at": "1"}, follow=True)
    assert "You were viewing step 1, so the change was made in a fork from there." in page_text(said)
    narrator = said.content.decode().partition('<section id="narrator"')[2]
    assert 'class="messages"' in narrator
    fork = Session.objects.latest("pk")
    assert (fork.origin_position, clustered.head()) == (1, head)
    instead = re.search(r'href="([^"]+)">Go to the newest step instead', said.content.decode())[1]
    form = clustered.browser.get(instead.replace("&amp;", "&"))
    assert 'value="a=b"' in form.content.decode()
    assert instead.startswith(clustered.url)


def test_at_the_newest_step_nothing_forks(clustered):
    clustered.post("act/cordon", **NODE_N1, at=clustered.head())
    assert Session.objects.latest("pk").pk == clustered.session.pk


def test_what_a_node_has_is_changed_and_removed_one_by_one(clustered):
    clustered.post("act/taint", **NODE_N1, key="a", value="b", effect="NoSchedule")
    shown = clustered.get("act/taint", **NODE_N1)
    assert "key=a&amp;value=b&amp;effect=NoSchedule&amp;replaces=" in shown.content.decode()
    clustered.post("act/taint", **NODE_N1, key="c", effect="NoSchedule", replaces="a=b:NoSchedule")
    assert [taint["key"] for taint in clustered.manifest("Node", "n1")["spec"]["taints"]] == ["c"]


def test_all_nodes_with_a_label_are_acted_on_at_once_and_undone_at_once(clustered):
    clustered.post("act/duplicate", **NODE_N1, copy="n2", count=3)
    clustered.post("act/label", kind="Node", many="q:n", labels="rack=1")
    labels = [clustered.manifest("Node", f"n{i}")["metadata"]["labels"] for i in (1, 2, 3, 4)]
    assert [each["rack"] for each in labels] == ["1"] * 4
    assert "4 × Node" in page_text(clustered.get("act/taint", kind="Node", many="label:rack=1"))
    clustered.post("undo")
    assert "rack" not in (clustered.manifest("Node", "n4")["metadata"].get("labels") or {})


def test_a_pod_whose_requests_kube_would_not_change_is_made_anew_when_that_is_chosen(clustered):
    refused = clustered.post("act/resize", **POD_WEB, container="main", cpu="500m")
    assert "Pod QOS Class may not change" in page_text(refused)
    clustered.post("act/resize", **POD_WEB, container="main", cpu="500m", recreate="on")
    [container] = clustered.manifest("Pod", "web")["spec"]["containers"]
    assert container["resources"]["requests"]["cpu"] == "500m"


def test_a_number_beyond_64_bits_is_refused(clustered):
    answer = clustered.post("act/priority", **POD, priority="9" * 40)
    assert answer.status_code == 422
    assert "a whole number of at most 64 bits" in page_text(answer)


def test_a_number_as_priority_brings_its_class(clustered):
    clustered.post("act/priority", **POD_WEB, priority="100")
    assert clustered.manifest("Pod", "web")["spec"]["priority"] == 100


def test_a_plugin_gets_another_weight_where_it_stands(clustered):
    clustered.post("act/weight", kind="Plugin", name="NodeAffinity", weight="9")
    page = clustered.get("act/weight", kind="Plugin", name="NodeAffinity")
    assert page.context["form"]["weight"].value() == 9
    clustered.post("act/disable", kind="Plugin", name="NodeAffinity")
    assert clustered.get("act/weight", kind="Plugin", name="NodeAffinity").context["offers"] == []

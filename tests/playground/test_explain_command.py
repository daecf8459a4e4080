"""`manage.py explain`: what it reads, what it prints, and how it ends."""

from __future__ import annotations

import contextlib
import csv
import fcntl
import io
import json
import os
import pty
import struct
import subprocess
import sys
import termios
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.core.management import CommandError, call_command

from playground.management.errors import CLOSED
from tests.browser.server import ROOT
from tests.scheduler_core.analysis.whatif.test_rest import workload
from tests.scheduler_core.worlds import node, pod
from tests.support.schemas import require_printed

GATE = [{"name": "example.com/hold"}]


def written(folder: Path, *objects: dict[str, Any]) -> str:
    path = folder / "cluster.yaml"
    path.write_text(yaml.safe_dump_all(objects))
    return str(path)


def run(*arguments: str) -> tuple[int, str]:
    """The exit status and what was printed."""
    out, status = io.StringIO(), 0
    try:
        call_command("explain", *arguments, stdout=out, stderr=io.StringIO())
    except SystemExit as end:
        status = int(end.code or 0)
    require_printed(("explain", *arguments), out.getvalue())
    return status, out.getvalue()


def test_everything_that_fits_is_exit_status_0(tmp_path: Path) -> None:
    assert run(written(tmp_path, node("n"), pod("p"))) == (0, "No pod is Pending.\n")


def test_a_namespace_that_a_dump_lacks_is_taken_to_be_there(tmp_path: Path) -> None:
    there = pod("p", cpu="3")
    there["metadata"]["namespace"] = "shop"
    file, out, err = written(tmp_path, node("n", cpu="2"), there), io.StringIO(), io.StringIO()
    with pytest.raises(SystemExit) as ended:
        call_command("explain", file, "-o", "json", stdout=out, stderr=err)
    assert ended.value.code == 1
    assert [each["pod"] for each in json.loads(out.getvalue())["pods"]] == ["shop/p"]
    assert "Missing namespaces, which will be created without labels: shop." in err.getvalue()


def test_a_webhook_configuration_that_lacks_fields_is_left_out_alone(tmp_path: Path) -> None:
    hook = {"name": "pods.example.com", "clientConfig": {"url": "https://hooks.example"}, "rules": []}
    kind = "ValidatingWebhookConfiguration"
    mini = {"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind, "metadata": {"name": "mini"}}
    file, out, err = (
        written(tmp_path, {**mini, "webhooks": [hook]}, node("n"), pod("p", cpu="99")),
        io.StringIO(),
        io.StringIO(),
    )
    with pytest.raises(SystemExit) as ended:
        call_command("explain", file, "--fixes", "0", "-o", "json", stdout=out, stderr=err)
    assert ended.value.code == 1
    assert [each["pod"] for each in json.loads(out.getvalue())["pods"]] == ["default/p"]
    assert "webhooks[0].sideEffects: Required value: must specify one of None, NoneOnDryRun" in err.getvalue()
    assert f"left out, as the API server does not take them; all else is read: {kind} mini" in err.getvalue()


def test_a_refused_pod_is_no_success(tmp_path: Path) -> None:
    wrong, waits = pod("wrong", cpu="lots"), pod("waits", cpu="3")
    for name, others in (("alone", ()), ("beside", (waits,))):
        folder = tmp_path / name
        folder.mkdir()
        assert run(written(folder, node("n", cpu="2"), wrong, *others))[0] == 2
    refused = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "A B"}}
    assert run(written(tmp_path, node("n"), pod("p"), refused))[0] == 0


def test_a_quota_that_keeps_a_snapshots_pods_from_being_made_is_said_and_raised(tmp_path: Path) -> None:
    template = {"metadata": {"labels": {"app": "web"}}, "spec": pod("x")["spec"]}
    workload = {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": "web", "uid": "u"},
        "spec": {
            "replicas": 2,
            "serviceName": "web",
            "selector": {"matchLabels": {"app": "web"}},
            "template": template,
        },
        "status": {"replicas": 1, "readyReplicas": 1},
    }
    runs = pod("web-0", nodeName="n")
    owner = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "web", "uid": "u", "controller": True}
    runs["metadata"] |= {"uid": "v", "labels": {"app": "web"}, "ownerReferences": [owner]}
    runs["status"] = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    for limit, status in (("1", 1), ("5", 0)):
        quota = {
            "apiVersion": "v1",
            "kind": "ResourceQuota",
            "metadata": {"name": "q", "uid": "w"},
            "spec": {"hard": {"pods": limit}},
            "status": {"hard": {"pods": limit}, "used": {"pods": "1"}},
        }
        found, text = run(written(tmp_path, node("n"), quota, workload, runs), "-o", "json")
        (answer,) = [each for each in json.loads(text)["pods"] if each["pod"] != "default/web-0"] or [None]
        assert found == status
        assert (answer is not None) == bool(status)
        if answer is not None:
            assert (answer["pod"], answer["state"]) == ("default/web-*", "QuotaExceeded")
            said = "exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1"
            assert answer["reasons"][0]["message"].endswith(said)
            assert [fix["kind"] for fix in answer["fixes"]] == ["quota"]


@pytest.mark.parametrize(
    ("spec", "reason", "message"),
    [
        ({"cpu": "9"}, "OutOfcpu", "Node didn't have enough resource: cpu, requested: 9000, used: 0, capacity: 4000"),
        ({"os": {"name": "windows"}}, "PodOSNotSupported", "Failed to admit pod as the OS field doesn't match node OS"),
        (
            {"nodeSelector": {"disk": "ssd"}},
            "NodeAffinity",
            "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector",
        ),
    ],
)
def test_a_pod_that_a_kubelet_refuses_is_exit_status_3_with_node_and_reason(
    tmp_path: Path, spec: dict[str, Any], reason: str, message: str
) -> None:
    status, text = run(written(tmp_path, node("n"), pod("p", nodeName="n", **spec)), "-o", "json")
    (answer,) = json.loads(text)["pods"]
    assert (status, answer["state"], answer["node"]) == (3, "Refused", "n")
    assert (answer["phase"], answer["reason"], answer["predecessors"]) == ("Failed", reason, 0)
    (given,) = answer["reasons"]
    assert (given["code"], given["nodes"]) == (f"Kubelet/{reason}", ["n"])
    assert given["message"] == f"Pod was rejected: {message}"
    bypassed = "p names n in spec.nodeName, so no scheduler and no filter was involved."
    assert answer["sentence"].startswith(f"The kubelet of n refuses p: Pod was rejected: {message}. {bypassed}")


def test_a_pod_whose_predecessors_were_refused_is_not_said_to_fit(tmp_path: Path) -> None:
    """A dump of a ReplicaSet whose pods the kubelet refuses; the newest one has not been scheduled yet."""
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "u", "controller": True}
    pods = [pod(f"web-{i}aaaa", os={"name": "windows"}, nodeName="n") for i in range(3)]
    newest = pod("web-9zzzz", os={"name": "windows"}, nodeSelector={"kubernetes.io/hostname": "n"})
    for number, each in enumerate([*pods, newest]):
        stamp = f"2026-01-01T00:00:0{number}Z"
        each["metadata"] |= {"uid": f"p{number}", "ownerReferences": [owner], "creationTimestamp": stamp}
    for each in pods:
        each["status"] = {"phase": "Failed", "reason": "PodOSNotSupported", "message": "Pod was rejected: no"}
    status, text = run(written(tmp_path, node("n"), *pods, newest), "-o", "json")
    answers = {each["pod"]: each for each in json.loads(text)["pods"]}
    assert status == 3
    assert [each["predecessors"] for each in answers.values()] == [3, 0, 1, 2]
    found = answers["default/web-9zzzz"]
    assert (found["state"], found["node"], found["fits"]) == ("Refused", "n", [])
    assert "Pods of its owner that ended before it: 3. " in found["sentence"]


def test_a_cluster_with_times_is_told_of_in_its_own_time(tmp_path: Path) -> None:
    dated = node("n", cpu="2", creationTimestamp="2025-11-20T08:00:00Z")
    file = written(tmp_path, dated, pod("p", cpu="3"))
    assert "tried again at 2025-11-20T08:05:30Z at the latest" in run(file)[1]
    assert json.loads(run(file, "-o", "json")[1])["pods"][0]["due"] == "2025-11-20T08:05:30Z"


def test_a_workload_that_makes_pods_in_vain_is_named_with_its_last_pod(tmp_path: Path) -> None:
    status, text = run(written(tmp_path, node("n"), workload("StatefulSet", os={"name": "windows"})))
    assert status == 3
    assert "default/w-0  Refused\n  The kubelet of n refuses w-0: Pod was rejected: Failed to admit pod" in text
    assert "Pods of its owner that ended before it: 19." in text
    assert "The pods of StatefulSet default/w fail in the same way, 20 so far, on n." in text
    _, text = run(written(tmp_path, node("n"), workload("Deployment", os={"name": "windows"})), "-o", "json")
    data = json.loads(text)
    (stuck,) = data["stuck"]
    assert (stuck["kind"], stuck["name"], stuck["nodes"], stuck["pods"]) == ("Deployment", "w", ["n"], 20)
    of_pods = [each for each in data["pods"] if each["pod"].count("/") == 1]
    assert sorted(each["predecessors"] for each in of_pods) == list(range(20))


def test_pods_that_nobody_makes_yet_are_missing(tmp_path: Path) -> None:
    for change, state in (({"suspend": True}, "Suspended"), ({"managedBy": "example.com/queue"}, "ManagedElsewhere")):
        status, text = run(written(tmp_path, node("n"), workload("Job", job=change)), "-o", "json")
        (answer,) = json.loads(text)["pods"]
        assert (status, answer["pod"], answer["state"]) == (1, "default/w-*", state)


def test_a_folder_is_read_with_all_that_is_in_it(tmp_path: Path) -> None:
    within, hidden = tmp_path / "kube-system", tmp_path / ".git"
    for folder in (within, hidden):
        folder.mkdir()
    written(tmp_path, node("n", cpu="2"))
    written(within, pod("p", cpu="3"))
    (within / "p.log").write_text("not: [an object")
    (hidden / "config.yaml").write_text("not: [an object")
    status, text = run(str(tmp_path), "-o", "json")
    assert (status, [each["pod"] for each in json.loads(text)["pods"]]) == (1, ["default/p"])


def test_several_pods_are_a_table_of_why_and_the_first_fix(tmp_path: Path) -> None:
    alike = workload("ReplicaSet", "web", 3, cpu="3")
    gated = workload("ReplicaSet", "gated", schedulingGates=GATE)
    status, text = run(written(tmp_path, node("n", cpu="2"), alike, gated))
    heads, *rows = text.splitlines()
    assert (status, heads.split()) == (1, ["POD", "WHY", "FIRST", "FIX"])
    assert any(" and 2 like it" in row and "requests 3 cpu" in row and "Lower the cpu request" in row for row in rows)
    assert any(row.startswith("default/gated-") and "scheduling gates" in row for row in rows)
    rows = list(csv.DictReader(io.StringIO(run(written(tmp_path, node("n", cpu="2"), alike), "-o", "csv")[1])))
    assert [row["state"] for row in rows] == ["WaitingForEvent"] * 3


def test_workloads_and_several_names_are_taken_as_kubectl_takes_them(tmp_path: Path) -> None:
    there = workload("StatefulSet", "db", 2, cpu="3")
    there["spec"]["podManagementPolicy"] = "Parallel"
    file = written(tmp_path, node("n", cpu="4"), there, workload("StatefulSet", "p", cpu="9"))
    for asked in (
        ("sts/db",),
        ("statefulsets.apps/db", "-n", "default"),
        ("--pod", "StatefulSet/default/db"),
        ("--pod", "default/db"),
    ):
        status, text = run(file, *asked, "-o", "json", "--fixes", "0")
        assert status == 1
        assert "default/db-1" in [each["pod"] for each in json.loads(text)["pods"] if each["problem"]]
    status, text = run(file, "db-0", "p-0", "-o", "json", "--fixes", "0")
    assert [each["pod"] for each in json.loads(text)["pods"]] == ["default/db-0", "default/p-0"]
    assert [each["pod"] for each in json.loads(run(file, "--pod", "default/p-*", "-o", "json")[1])["pods"]] == [
        "default/p-0"
    ]
    assert run(file, "db-0")[0] == 0
    for wrong in (("a/b/c/d",), ("--pod", "x/y/z"), ("sts/none",)):
        with pytest.raises(CommandError) as bad:
            run(file, *wrong)
        assert bad.value.returncode == 2


def test_a_workload_as_somebody_wrote_it_gets_its_pods_beside_those_of_a_cluster(tmp_path: Path) -> None:
    there = pod("other", nodeName="n")
    fresh, scaled = workload("Deployment", "fresh", cpu="9"), workload("Deployment", "known", cpu="9")
    scaled["status"] = {"observedGeneration": 1}
    text = run(written(tmp_path, node("n", cpu="4"), there, fresh, scaled), "-o", "json", "--fixes", "0")[1]
    assert [each["pod"][:14] for each in json.loads(text)["pods"] if each["state"] == "WaitingForEvent"] == [
        "default/fresh-"
    ]


def test_a_placed_pod_that_waits_for_a_volume_is_no_success(tmp_path: Path) -> None:
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data", "namespace": "default", "uid": "c"},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "late",
            "resources": {"requests": {"storage": "1Gi"}},
        },
        "status": {"phase": "Pending"},
    }
    late = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": "late"},
        "provisioner": "example.com/disk",
        "volumeBindingMode": "WaitForFirstConsumer",
    }
    placed = pod("p", nodeName="n", volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}])
    placed["metadata"]["uid"] = "p"
    placed["status"] = {"phase": "Pending"}
    status, text = run(written(tmp_path, node("n"), late, claim, placed), "--fixes", "0")
    assert status == 1
    assert "data" in text and "No pod is Pending" not in text


def test_a_pod_that_no_rule_kept_away_is_told_of_without_its_name(tmp_path: Path) -> None:
    tainted = {**node("cp"), "spec": {"taints": [{"key": "control-plane", "effect": "NoSchedule"}]}}
    running = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    tool, fine = ({**pod(name, nodeName=where), "status": running} for name, where in (("tool", "cp"), ("fine", "n")))
    mirror = {**pod("etcd", nodeName="cp"), "status": running}
    mirror["metadata"]["annotations"] = {"kubernetes.io/config.mirror": "x"}
    status, text = run(written(tmp_path, tainted, node("n"), tool, fine, mirror), "-o", "json")
    found = [each for each in json.loads(text)["pods"] if each["problem"]]
    assert (status, [each["pod"] for each in found]) == (1, ["default/tool"])
    assert "TaintToleration would have refused cp" in found[0]["sentence"]


def test_a_configuration_among_the_objects_counts_and_events_are_read(tmp_path: Path) -> None:
    configuration = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    off = {"multiPoint": {"disabled": [{"name": "NodeUnschedulable"}]}}
    configuration["profiles"] = [{"schedulerName": "default-scheduler", "plugins": off}]
    about = {"kind": "Pod", "namespace": "default", "name": "gone"}
    event = {"apiVersion": "v1", "kind": "Event", "metadata": {"name": "e", "namespace": "default", "uid": "e"}}
    event |= {"involvedObject": about, "reason": "Evicted", "message": "The node was low on memory.", "type": "Warning"}
    closed = {**node("n"), "spec": {"unschedulable": True}}
    file = written(tmp_path, configuration, closed, pod("p"), event)
    said = json.loads(run(file, "--pod", "default/p", "--pod", "default/gone", "-o", "json")[1])["pods"]
    assert "does not run NodeUnschedulable" in said[0]["sentence"]
    assert (said[1]["state"], "low on memory" in said[1]["sentence"]) == ("Gone", True)


def test_lines_are_as_wide_as_the_terminal(tmp_path: Path) -> None:
    file = written(tmp_path, node("n", cpu="2"), pod("p", cpu="3"), pod("q", cpu="4"))
    terminal, other = pty.openpty()
    fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 50, 0, 0))
    running = subprocess.Popen(
        [sys.executable, "manage.py", "explain", file, "--fixes", "0"],
        cwd=ROOT,
        stdout=other,
        stderr=subprocess.DEVNULL,
        env={name: value for name, value in os.environ.items() if name != "COLUMNS"},
    )
    os.close(other)
    text = b""
    with contextlib.suppress(OSError):  # the end of a terminal
        while part := os.read(terminal, 4096):
            text += part
    assert running.wait() == 1
    lines = text.decode().splitlines()
    assert lines[0].split() == ["POD", "WHY", "FIRST", "FIX"]
    assert max(map(len, lines)) <= 50


def test_of_one_pod_the_commands_are_printed_in_full_and_can_be_copied(tmp_path: Path) -> None:
    file = written(tmp_path, node("n", cpu="2"), pod("p", cpu="3"))
    of_all = run(written(tmp_path, node("n", cpu="2"), pod("p", cpu="3"), pod("q", cpu="4")), "-o", "text")[1]
    of_one = run(file, "--pod", "p")[1]
    assert "<<'EOF' ..." in of_all
    assert "\nEOF\n" not in of_all
    assert "\nkubectl apply -f - <<'EOF'\napiVersion: v1\nkind: Node\n" in of_one
    assert "\nEOF\n" in of_one


def test_a_pending_pod_is_explained_with_proven_fixes(tmp_path: Path) -> None:
    file = written(tmp_path, node("n", cpu="2"), pod("p", cpu="3"), pod("q"))
    status, text = run(file, "-o", "json")
    (fits,) = [each for each in json.loads(text)["pods"] if each["pod"] == "default/q"]
    (answer,) = [each for each in json.loads(text)["pods"] if each["pod"] == "default/p"]
    assert (status, fits["state"], fits["fixes"]) == (1, "Scheduled", [])
    assert (answer["state"], answer["reasons"][0]["code"]) == ("WaitingForEvent", "NodeResourcesFit/InsufficientCpu")
    assert answer["sentence"] == "p requests 3 cpu, but n has only 2."
    assert {"kind", "text", "proven", "command", "effects"} <= answer["fixes"][0].keys()
    assert all(fix["proven"] for fix in answer["fixes"])
    assert yaml.safe_load(run(file, "-o", "yaml")[1]) == json.loads(text)


def test_the_shape_that_is_promised(tmp_path: Path) -> None:
    _, text = run(written(tmp_path, node("n"), pod("p", schedulingGates=GATE)), "-o", "json", "--fixes", "0")
    [answer] = json.loads(text)["pods"]
    assert {"pod", "state", "sentence", "reasons", "fixes"} <= answer.keys()
    [reason] = answer["reasons"]
    assert {"code", "plugin", "message", "nodes", "count", "evidence"} <= reason.keys()


def test_people_read_the_sentence_first_then_the_evidence(tmp_path: Path) -> None:
    status, text = run(written(tmp_path, node("n"), pod("p", schedulingGates=GATE)), "--fixes", "0")
    assert status == 1
    assert text == (
        "default/p  Gated\n"
        "  p is not scheduled until its scheduling gates are removed: example.com/hold.\n"
        "\n"
        "  SchedulingGates/Gated\n"
        "    waiting for scheduling gates: [example.com/hold]\n"
        "  wakes on: PodUpdatePodSchedulingGatesEliminated\n"
        "\n"
        "The pod is Pending.\n"
    )


def test_evidence_says_how_near_each_node_came(tmp_path: Path) -> None:
    taints = {"taints": [{"key": "dedicated", "value": "infra", "effect": "NoSchedule"}]}
    file = written(
        tmp_path,
        {**node("infra"), "spec": taints},
        node("n", cpu="4"),
        pod("first", cpu="3", priority=1),
        pod("p", cpu="1500m"),
    )
    status, text = run(file, "--fixes", "0", "--pod", "p", "--release", "1.34.1")
    assert status == 1
    assert text.splitlines()[:9] == [
        "default/p  WaitingForEvent",
        "  p requests 1.5 cpu. Closest: n, 0.5 short. p does not tolerate the taint dedicated=infra of infra. "
        "first holds 3 cpu on n.",
        "",
        "  NodeResourcesFit/InsufficientCpu  1 node: n",
        "    Insufficient cpu",
        "    1 node lacks at most 500m; the nearest:",
        "      n lacks 500m (1 free of 4)",
        "  TaintToleration/UntoleratedTaint  1 node: infra",
        "    node(s) had untolerated taint {dedicated: infra}",
    ]


def test_one_pod_alone_and_from_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = yaml.safe_dump_all([node("n"), pod("p", schedulingGates=GATE), pod("q")])
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    status, printed = run("-", "--pod", "default/q", "-o", "json")
    assert (status, [each["pod"] for each in json.loads(printed)["pods"]]) == (0, ["default/q"])


def test_a_pod_that_a_controller_would_make_again_is_not_lost(tmp_path: Path) -> None:
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "1", "controller": True}
    filler = pod("web-x", cpu="2", nodeName="n")
    filler["metadata"]["ownerReferences"] = [owner]
    _, text = run(written(tmp_path, node("n", cpu="2"), filler, pod("p")), "-o", "json")
    [answer] = [each for each in json.loads(text)["pods"] if each["pod"] == "default/p"]
    [free] = [fix for fix in answer["fixes"] if fix["kind"] == "free"]
    assert free["effects"] == ["web-x is removed from n, and ReplicaSet web creates another pod"]


def test_a_search_that_has_no_time_left_says_so(tmp_path: Path) -> None:
    file = written(tmp_path, node("n", cpu="2"), pod("p", cpu="3"))
    status, text = run(file, "-o", "json", "--seconds", "0")
    [answer] = json.loads(text)["pods"]
    assert (status, answer["late"], answer["fixes"]) == (1, True, [])
    assert "--seconds gives it longer" in run(file, "--seconds", "0")[1]
    assert json.loads(run(file, "-o", "json", "--seconds", "60")[1])["pods"][0]["late"] is False


def test_colours_and_progress_are_for_terminals_alone(tmp_path: Path) -> None:
    status, text = run(written(tmp_path, node("n", cpu="2"), pod("p", cpu="3")))
    assert status == 1
    assert "\033" not in text


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("empty.yaml", b"", "nothing to look at"),
        ("comment.yaml", b"# nothing", "nothing to look at"),
        ("binary.yaml", b"\xff\x00\x9f\x92\x01" * 50, "cannot be read|not text"),
        (
            "table.txt",
            b"NAME   READY   STATUS    RESTARTS   AGE\nweb-0  0/1     Pending   0          5m\n",
            "kubectl get pods -o yaml",
        ),
        ("chart.yaml", b"kind: Pod\nmetadata:\n  name: {{ .Values.name }}\n", "helm template"),
        ("describe.txt", b"Name:         web\nNamespace:    default\nPriority:     0\n", "kubectl describe"),
        ("error.txt", b"Error from server (Forbidden): pods is forbidden\n", "message of kubectl"),
    ],
)
def test_what_is_no_cluster_is_told_with_what_to_type(tmp_path: Path, name: str, content: bytes, says: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(CommandError, match=says) as bad:
        run(str(tmp_path / name))
    assert bad.value.returncode == 2


def test_a_folder_without_files_says_which_are_read(tmp_path: Path) -> None:
    (tmp_path / "pod.log").write_text("started")
    with pytest.raises(CommandError, match=r"no file in this folder ends in \.json, \.yaml, \.yml") as bad:
        run(str(tmp_path))
    assert bad.value.returncode == 2


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("kind: Pod\nmetadata: {name: [}\n", "cluster.yaml:2"),
        ("apiVersion: v1\nkind: Node\nmetadata: {name: n}\nstatus: {capacity: {cpu: 1x}}\n", "cluster.yaml:4"),
    ],
    ids=["no YAML", "a field that can't be"],
)
def test_bad_input_is_exit_status_2_with_the_line(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "cluster.yaml").write_text(text)
    with pytest.raises(CommandError, match=says) as bad:
        run(str(tmp_path / "cluster.yaml"))
    assert bad.value.returncode == 2


def test_a_file_or_a_pod_that_is_not_there_is_exit_status_2(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="No such file") as bad:
        run(str(tmp_path / "none.yaml"))
    assert bad.value.returncode == 2
    with pytest.raises(CommandError, match=r"no such pod in namespace default; did you mean shop/ghost\?"):
        run(written(tmp_path, {**pod("ghost"), "metadata": {"name": "ghost", "namespace": "shop"}}), "--pod", "ghost")
    with pytest.raises(CommandError, match="there is no such pod") as bad:
        run(written(tmp_path, node("n")), "--pod", "default/ghost")
    assert bad.value.returncode == 2


def test_where_there_are_no_pods_controllers_make_them_and_a_quota_shows(tmp_path: Path) -> None:
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    workload = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"replicas": 3, "selector": {"matchLabels": {"a": "b"}}, "template": template},
    }
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "two", "namespace": "default"},
        "spec": {"hard": {"pods": "2"}},
        "status": {"hard": {"pods": "2"}, "used": {"pods": "0"}},
    }
    status, text = run(written(tmp_path, node("n"), quota, workload), "-o", "json", "--fixes", "0")
    answers = {each["pod"]: each["state"] for each in json.loads(text)["pods"]}
    assert (status, answers.pop("default/web-*")) == (1, "QuotaExceeded")
    assert set(answers.values()) <= {"Scheduled"}


@pytest.mark.parametrize("command", ["explain", "simulate"])
def test_a_reader_that_stops_reading_is_no_error(tmp_path: Path, command: str) -> None:
    file = written(tmp_path, node("n", cpu="2"), pod("p", cpu="3"))
    with subprocess.Popen(
        [sys.executable, "manage.py", command, "--release", "1.37", file],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        assert running.stdout is not None and running.stderr is not None
        running.stdout.close()
        assert running.stderr.read() == ""
    assert running.returncode == CLOSED

"""`manage.py simulate` and `whatif`, and the command that pip installs: what they read and print, and how they end."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.core.management import CommandError, call_command

from playground.management.program import COMMANDS, main
from tests.browser.server import ROOT
from tests.scheduler_core.analysis.whatif.test_outcome import deployment
from tests.scheduler_core.analysis.whatif.test_rest import tainted, tolerating, workload
from tests.scheduler_core.worlds import configuration, node, pod
from tests.support.schemas import require_printed


def written(folder: Path, *objects: dict[str, Any], name: str = "cluster.yaml") -> str:
    path = folder / name
    path.write_text(yaml.safe_dump_all(objects))
    return str(path)


def run(*arguments: str) -> tuple[int, str]:
    """The exit status and what was printed."""
    out, status = io.StringIO(), 0
    try:
        call_command(*arguments, stdout=out, stderr=io.StringIO())
    except SystemExit as end:
        status = int(end.code or 0)
    require_printed(arguments, out.getvalue())
    return status, out.getvalue()


@pytest.fixture
def web(tmp_path: Path) -> str:
    """Two nodes for two pods each, and three of a deployment."""
    return written(tmp_path, node("a", "2"), node("b", "2"), deployment(3))


def test_a_cluster_is_run_and_its_placements_are_printed(web: str) -> None:
    status, text = run("simulate", web)
    heads, *rows = text.splitlines()
    assert (status, heads.split()) == (0, ["NAMESPACE", "NAME", "NODE", "ATTEMPTS", "WHY", "PENDING"])
    assert {row.split()[2] for row in rows[:3]} == {"a", "b"}
    assert rows[-1] == "3 of 3 pods have a node."


def test_the_three_forms_say_the_same_and_a_pending_pod_is_exit_status_1(tmp_path: Path) -> None:
    file = written(tmp_path, node("n", "1"), pod("p"), pod("q"))
    status, text = run("simulate", file, "-o", "json")
    data = json.loads(text)
    rows = list(csv.DictReader(io.StringIO(run("simulate", file, "-o", "csv")[1])))
    assert (status, data["scheduled"], data["pending"]) == (1, 1, 1)
    assert {row.pop("release") for row in rows} == {data["release"]} == {"1.37.2"}
    assert [{**row, "attempts": int(row["attempts"])} for row in rows] == data["placements"]
    (waits,) = [row for row in data["placements"] if not row["node"]]
    assert waits["message"].startswith("0/1 nodes are available: 1 Insufficient cpu.")
    assert waits["message"] in run("simulate", file)[1]


def test_seed_and_configuration_decide(tmp_path: Path) -> None:
    file = written(tmp_path, *(node(f"n{i}") for i in range(6)), pod("p"))
    assert len({run("simulate", file, "--release", "1.34.1", "--seed", str(seed))[1] for seed in range(8)}) > 1
    none = configuration(profiles=[{"schedulerName": "other"}])
    assert run("simulate", file, "--config", written(tmp_path, none, name="config.yaml"))[0] == 1


def test_a_pod_that_a_kubelet_refuses_is_listed_with_phase_and_reason_in_every_form(tmp_path: Path) -> None:
    file = written(tmp_path, node("n"), pod("p", "9", nodeName="n"), pod("fits"))
    status, text = run("simulate", file)
    assert status == 3
    assert "default     p      n      Failed   OutOfcpu   Pod was rejected: Node didn't have enough" in text
    assert text.endswith("1 pod has failed.\n1 of 1 pods have a node.\n")
    data = json.loads(run("simulate", file, "-o", "json")[1])
    assert (data["scheduled"], data["pending"], data["failed"]) == (1, 0, 1)
    (failed,) = [row for row in data["placements"] if row["phase"] == "Failed"]
    assert (failed["pod"], failed["node"], failed["reason"]) == ("p", "n", "OutOfcpu")
    rows = list(csv.DictReader(io.StringIO(run("simulate", file, "-o", "csv")[1])))
    assert {row.pop("release") for row in rows} == {data["release"]} == {"1.37.2"}
    assert [{**row, "attempts": int(row["attempts"])} for row in rows] == data["placements"]


def test_a_pod_that_fails_by_its_deadline_is_listed(tmp_path: Path) -> None:
    status, text = run("simulate", written(tmp_path, node("n"), pod("p", activeDeadlineSeconds=60)), "-o", "json")
    (row,) = json.loads(text)["placements"]
    assert (status, row["phase"], row["reason"], row["node"]) == (3, "Failed", "DeadlineExceeded", "n")
    assert row["message"] == "Pod was active on the node longer than the specified deadline"


def test_a_pod_without_an_owner_does_not_vanish_in_silence(tmp_path: Path) -> None:
    """The first one runs until the taint is tolerated no longer; the second one's node is not there."""
    first, second = pod("first", **tolerating(5)), pod("second", nodeName="none")
    status, text = run("simulate", written(tmp_path, tainted("n"), first, second))
    assert status == 3
    assert "default     second   none   Failed   DeletionByPodGC   PodGC: node no longer exists" in text
    assert "default/first was deleted, and nobody makes it anew: DeletionByTaintManager: Taint manager" in text
    data = json.loads(run("simulate", written(tmp_path, tainted("n"), first), "-o", "json")[1])
    assert ([each["pod"] for each in data["gone"]], data["placements"]) == (["default/first"], [])
    assert run("simulate", written(tmp_path, tainted("n"), first))[0] == 1


def test_a_workload_that_makes_pods_in_vain_ends_the_command_and_is_named(tmp_path: Path) -> None:
    file = written(
        tmp_path, node("n", "9"), workload("Deployment", os={"name": "windows"}), workload("StatefulSet", "s", 3)
    )
    status, text = run("simulate", file)
    assert status == 3
    assert "The pods of Deployment default/w fail in the same way, 40 so far, on n." in text
    assert text.endswith("40 pods have failed.\n3 of 3 pods have a node.\n")
    (stuck,) = json.loads(run("simulate", file, "-o", "json")[1])["stuck"]
    assert stuck | {"message": "", "lastPod": ""} == {
        "kind": "Deployment",
        "namespace": "default",
        "name": "w",
        "pods": 40,
        "nodes": ["n"],
        "reason": "PodOSNotSupported",
        "message": "",
        "lastPod": "",
    }
    assert run("whatif", file, "--scale", "deploy/w=0")[0] == 0
    status, text = run("whatif", file, "--scale", "deploy/w=2")
    assert (status, "fails on n with PodOSNotSupported" in text) == (3, True)
    assert run("whatif", file, "--more", written(tmp_path, pod("one"), name="pod.yaml"))[0] == 3


def test_why_there_is_no_pod_is_said(tmp_path: Path) -> None:
    paused = workload("Deployment", "paused")
    paused["spec"]["paused"] = True
    objects = (node("n"), paused, workload("Job", "later", job={"suspend": True}))
    elsewhere = workload("Job", "elsewhere", job={"managedBy": "example.com/queue"})
    status, text = run("simulate", written(tmp_path, *objects, elsewhere))
    assert status == 1
    assert text.startswith(
        "There is no pod.\nDeployment default/paused: paused-* is not created because the Deployment is paused (missing pods: 1)."
    )
    assert "later-* is not created because the Job is suspended (missing pods: 1)." in text
    assert (
        "another controller (spec.managedBy is example.com/queue) manages the pods of the Job (missing pods: 1)" in text
    )
    data = json.loads(run("simulate", written(tmp_path, *objects, elsewhere), "-o", "json")[1])
    assert {each["name"]: each["state"] for each in data["missing"]} == {
        "paused": "Paused",
        "later": "Suspended",
        "elsewhere": "ManagedElsewhere",
    }
    status, text = run("simulate", written(tmp_path, node("n"), workload("ReplicaSet", replicas=0)))
    assert (status, text) == (0, "There is no pod.\nReplicaSet default/w asks for none: spec.replicas is 0.\n")


def test_a_rollout_that_is_paused_or_stuck_is_said_and_is_exit_status_3(tmp_path: Path) -> None:
    situations = Path(__file__).parents[1] / "real" / "situations"
    paused = str(situations / "deployment-that-is-paused" / "objects.yaml")
    status, text = run("simulate", paused)
    assert (
        status,
        "Deployment default/site: Deployment site is paused: its new template is not rolled out" in text,
    ) == (3, True)
    status, text = run("simulate", paused, "-o", "json")
    assert [each["subject"] for each in json.loads(text)["blocked"]] == ["Deployment/default/site"]
    going, changed = (workload("Deployment", "web") for _ in range(2))
    changed["spec"] |= {"paused": True}
    changed["spec"]["template"]["metadata"] = {"labels": {"app": "web", "version": "2"}}
    more = written(tmp_path, changed, name="changed.yaml")
    status, text = run("whatif", written(tmp_path, node("a"), going), "--apply", more)
    assert (status, "Deployment default/web: Deployment web is paused" in text) == (3, True), text


def test_a_pod_that_is_held_back_says_why(tmp_path: Path) -> None:
    claims = [{"name": "data", "persistentVolumeClaim": {"claimName": "none"}}]
    gated = pod("gated", schedulingGates=[{"name": "example.com/hold"}])
    nobodys = pod("nobodys", schedulerName="other")
    status, text = run("simulate", written(tmp_path, node("n"), pod("p", volumes=claims), gated, nobodys), "-o", "json")
    rows = {row["pod"]: row["message"] for row in json.loads(text)["placements"]}
    assert status == 1
    assert 'persistentvolumeclaim "none" not found' in rows["p"]
    assert rows["gated"] == "waiting for scheduling gates: [example.com/hold]"
    assert 'no running scheduler has a profile named "other"' in rows["nobodys"]


def test_pods_that_a_quota_keeps_from_being_created_are_missing(tmp_path: Path) -> None:
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "q", "namespace": "default"},
        "spec": {"hard": {"pods": "1"}},
    }
    status, text = run(
        "simulate", written(tmp_path, node("n"), quota, workload("ReplicaSet", replicas=3)), "-o", "json"
    )
    (absent,) = json.loads(text)["missing"]
    assert (status, absent["kind"], absent["name"], absent["pods"]) == (1, "ReplicaSet", "w", 2)
    assert (absent["state"], "exceeded quota: q" in absent["message"]) == ("QuotaExceeded", True)


def test_of_several_the_highest_exit_status_applies(tmp_path: Path) -> None:
    waits, refused = pod("waits", "9"), pod("refused", "9", nodeName="n")
    bad = pod("bad", "lots")
    for objects, status in (((waits,), 1), ((waits, bad), 2), ((waits, bad, refused), 3)):
        file = written(tmp_path, node("n"), *objects)
        assert run("simulate", file)[0] == status
        assert run("explain", file, "--fixes", "0")[0] == status


def test_a_drain_says_who_goes_where_and_who_waits(web: str) -> None:
    status, text = run("whatif", web, "--drain", "a")
    assert status == 1
    assert text.count("is deleted from a") in (1, 2)
    assert "Pods that wait: " in text
    data = json.loads(run("whatif", web, "--drain", "a", "-o", "json")[1])
    assert {effect["kind"] for effect in data["effects"]} == {"replaced"}
    assert data["atRest"]
    assert yaml.safe_load(run("whatif", web, "--drain", "a", "-o", "yaml")[1]) == data


def test_a_drain_that_a_budget_holds_up_is_stuck(tmp_path: Path) -> None:
    budget = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "keep", "namespace": "default"},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "w"}}},
    }
    file = written(tmp_path, node("a"), workload("ReplicaSet", cpu="3"), budget)
    status, text = run("whatif", file, "--drain", "a")
    assert status == 3
    assert "The drain of a is held up: default/w-" in text
    assert "Cannot evict pod as it would violate the pod's disruption budget." in text
    (held,) = json.loads(run("whatif", file, "--drain", "a", "-o", "json")[1])["heldUp"]
    assert (held["node"], held["pod"].startswith("default/w-")) == ("a", True)


def test_all_that_is_asked_is_done_at_once_and_more_are_counted_afterwards(web: str) -> None:
    asked = ("--add", "2=a", "--scale", "Deployment/default/web=4", "--more", "default/x")
    with pytest.raises(CommandError, match="neither a pod of the cluster nor a file"):
        run("whatif", web, *asked)
    one = written(Path(web).parent, pod("one"), name="pod.yaml")
    status, text = run("whatif", web, *asked[:-1], one, "-o", "json")
    data = json.loads(text)
    assert (status, len(data["created"]), data["pending"]) == (0, 1, [])
    assert (data["more"]["count"], data["more"]["enough"]) == (4, False)
    assert sum(each["count"] for each in data["more"]["nodes"]) == 4


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "apiVersion: kubescheduler.config.k8s.io/v1beta2\nkind: KubeSchedulerConfiguration\n"
            "profiles: [{schedulerName: other}]\n",
            "read as v1 from v1beta2",
        ),
        (
            "# Setup\n```\ncat <<EOF | sudo tee /etc/k.yaml\napiVersion: kubescheduler.config.k8s.io/v1\n"
            "kind: KubeSchedulerConfiguration\nprofiles: [{schedulerName: other}]\nEOF\n```\n",
            "",
        ),
        (
            "kind: ConfigMap\napiVersion: v1\nmetadata: {name: x}\ndata:\n  config.yaml: |\n"
            "    apiVersion: kubescheduler.config.k8s.io/v1\n    kind: KubeSchedulerConfiguration\n"
            "    profiles:\n    - schedulerName: other\n      plugins: {score: {enabled: [{name: NotHere}]}}\n",
            "the plugin NotHere was left out",
        ),
    ],
    ids=["an older version", "a heredoc within a fence", "a ConfigMap with an unknown plugin"],
)
def test_a_configuration_is_read_as_the_page_reads_it(web: str, text: str, said: str) -> None:
    config, out, err = Path(web).parent / "config.md", io.StringIO(), io.StringIO()
    config.write_text(text)
    with pytest.raises(SystemExit) as ended:
        call_command("simulate", web, "--config", str(config), stdout=out, stderr=err)
    assert (ended.value.code, said in err.getvalue()) == (1, True)
    assert out.getvalue().endswith("0 of 3 pods have a node.\n")


def test_what_is_no_configuration_is_refused(web: str) -> None:
    with pytest.raises(CommandError, match="expected one configuration of a scheduler, received 0"):
        run("simulate", web, "--config", web)


def test_how_many_sets_of_pods_fit(tmp_path: Path) -> None:
    file = written(tmp_path, node("n", "9"), deployment(1), workload("StatefulSet", "db", cpu="2"))
    status, text = run("whatif", file, "--more", "deploy/web", "--more", "1=sts/default/db")
    assert (status, text.splitlines()[:3]) == (0, ["2 more such sets of 2 pods fit.", "NODE   MORE", "n      4"])
    with pytest.raises(CommandError, match="neither a pod of the cluster nor a file"):
        run("whatif", file, "--more", "deploy/none")


def test_a_set_may_have_a_pod_of_the_cluster(tmp_path: Path) -> None:
    file = written(tmp_path, node("n", "9"), deployment(1), pod("one", "2"))
    status, text = run("whatif", file, "--more", "deploy/web", "--more", "default/one")
    assert (status, text.splitlines()[:3]) == (0, ["2 more such sets of 2 pods fit.", "NODE   MORE", "n      4"])


def test_many_new_pods_are_counted_and_those_that_wait_say_why(web: str) -> None:
    status, text = run("whatif", web, "--scale", "deploy/web=20")
    assert status == 1
    assert "Deployment default/web has 17 new pods: " in text and ", 16 wait." in text
    assert "wait: 0/2 nodes are available: 2 Insufficient cpu." in text


def test_a_change_that_a_quota_keeps_from_happening_is_missing_pods(tmp_path: Path) -> None:
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "q", "namespace": "default"},
        "spec": {"hard": {"pods": "2"}},
    }
    file = written(tmp_path, node("n", "9"), quota, deployment(1))
    status, text = run("whatif", file, "--scale", "deploy/web=5", "-o", "json")
    (absent,) = json.loads(text)["missing"]
    assert (status, absent["pods"], "exceeded quota: q" in absent["message"]) == (1, 3, True)


def test_how_many_more_fit_may_be_all_that_is_asked(web: str) -> None:
    one = written(Path(web).parent, pod("one"), name="pod.yaml")
    status, text = run("whatif", web, "--more", one)
    assert status == 0
    assert text.splitlines()[0] == "1 more fits."
    assert "The next one would wait: 0/2 nodes are available: 2 Insufficient cpu." in text
    assert "and maybe more" in run("whatif", web, "--more", one, "--most", "1")[1]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "nothing is asked"),
        (("--drain", "zz"), "no node 'zz' exists; expected one of 2: a, b"),
        (("--add", "a=2"), "--add a=2: expected N=NODE or N=TYPE with a whole number"),
        (("--scale", "web=3"), "--scale web=3: expected KIND/NS/NAME=N"),
        (("--scale", "Deployment/web=many"), "expected KIND/NS/NAME=N with a whole number"),
        (("--config", "/nowhere"), "/nowhere: No such file"),
    ],
)
def test_a_wrong_question_says_what_was_expected(web: str, arguments: tuple[str, ...], said: str) -> None:
    with pytest.raises(CommandError, match=said) as refused:
        run("whatif", web, *arguments)
    assert refused.value.returncode == 2


def test_a_file_that_cannot_be_read_is_exit_status_2_and_named_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "bad.yaml"
    file.write_text("kind: Pod\n metadata: [")
    for command in ("simulate", "whatif"):
        with pytest.raises(CommandError, match=r"bad\.yaml:2") as refused:
            run(command, str(file))
        assert refused.value.returncode == 2


def test_kinds_are_taken_as_kubectl_takes_them_and_new_pods_that_wait_are_exit_status_1(web: str) -> None:
    for kind in ("deploy", "deployment", "Deployments"):
        status, text = run("whatif", web, "--scale", f"{kind}/web=6", "-o", "json")
        created = json.loads(text)["created"]
        assert (status, len(created), sum(not each["node"] for each in created)) == (1, 3, 2)
    assert run("whatif", web, "--scale", "deploy/web=4")[0] == 0


def at_a_terminal(*arguments: str) -> subprocess.CompletedProcess[str]:
    start = "from playground.management.program import main; main()"
    return subprocess.run(
        [sys.executable, "-c", start, *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        env={"PATH": "/usr/bin:/bin"},
        check=False,
    )


def test_no_color_is_heeded_unless_colours_are_forced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = written(tmp_path, node("n", "1"), pod("p", cpu="2"))
    assert "\x1b[" in run("explain", file, "--force-color")[1]
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr("django.core.management.color.supports_color", lambda: True)
    assert "\x1b[" not in run("explain", file)[1]
    assert "\x1b[" in run("explain", file, "--force-color")[1]


@pytest.mark.parametrize("command", ["explain", "simulate", "whatif"])
def test_at_a_terminal_errors_are_said_as_other_tools_say_them(command: str) -> None:
    done = at_a_terminal(command, "/nowhere.yaml")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "error: /nowhere.yaml: No such file or directory\n"
    assert "--pythonpath" not in at_a_terminal(command, "--help").stdout


def test_the_installed_command_lists_its_commands(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    assert ended.value.code == 0
    shown = capsys.readouterr().out
    assert all(name in shown for name in COMMANDS)
    assert max(map(len, shown.splitlines())) <= 80
    with pytest.raises(SystemExit) as ended:
        main(["bogus"])
    assert ended.value.code == 2
    assert "there is no command 'bogus'" in capsys.readouterr().err


def test_pipes_work_and_nothing_is_kept(web: str, tmp_path: Path) -> None:
    start = "from playground.management.program import main; main()"
    data = tmp_path / "data"
    done = subprocess.run(
        [sys.executable, "-c", start, "simulate", "-"],
        cwd=ROOT,
        input=Path(web).read_text(),
        capture_output=True,
        text=True,
        timeout=120,
        env={"PATH": "/usr/bin:/bin", "DATA_DIR": str(data)},
        check=False,
    )
    assert (done.returncode, done.stderr.count("\n")) == (0, 1), done.stderr
    assert "3 of 3 pods have a node." in done.stdout
    assert not data.exists()


@pytest.mark.parametrize(
    ("typed", "created"),
    [
        ("kubectl scale deployment web --replicas=4 -n default", 1),
        ("kubectl scale deploy/web --replicas=4", 1),
        ("kubectl cordon a\nkubectl cordon b\nkubectl scale deployments.apps web --replicas=4", 1),
    ],
)
def test_what_is_typed_is_carried_out(web: str, typed: str, created: int) -> None:
    data = json.loads(run("whatif", web, "--run", typed, "-o", "json")[1])
    assert [bool(new["node"]) for new in data["created"]] == ["cordon" not in typed] * created


def test_what_a_fix_prints_is_what_whatif_runs(tmp_path: Path) -> None:
    file = written(tmp_path, node("n", "2"), pod("p", "3"))
    (answer,) = json.loads(run("explain", file, "-o", "json")[1])["pods"]
    for fix in answer["fixes"]:
        data = json.loads(run("whatif", file, "--run", fix["command"], "-o", "json")[1])
        assert (data["pending"], data["pendingWithout"]) == ([], ["default/p"]), fix["text"]


def test_manifests_are_applied_as_kubectl_does(tmp_path: Path) -> None:
    file = written(tmp_path, node("n", "2"), pod("p", "3"))
    larger = written(tmp_path, node("m", "4"), name="larger.yaml")
    data = json.loads(run("whatif", file, "--apply", larger, "-o", "json")[1])
    assert data["effects"] == [{"kind": "placed", "pod": "default/p", "node": "", "to": "m", "by": ""}]


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("rm -rf /", "received rm, expected kubectl"),
        ("kubectl frobnicate", "one of apply, replace"),
        ("kubectl scale", "a part of the command is missing"),
        ("kubectl scale 'deploy", "No closing quotation"),
        ("kubectl scale deploy/nope --replicas=2", "not found"),
        ("kubectl scale deploy/web --replicas=many", "invalid literal"),
        ("kubectl apply -f web.yaml", "in a heredoc"),
        ("kubectl apply -f - <<'EOF'\nkind: [\nEOF", "can't be read"),
        ("kubectl apply -f - <<'EOF'\njust text\nEOF", "can't be read"),
        ("kubectl patch deploy/web -p {", "can't be read"),
        ("kubectl get pods", "changes nothing"),
        ("# nothing", "changes nothing"),
        ("", "changes nothing"),
    ],
)
def test_what_cannot_be_carried_out_is_told(web: str, typed: str, said: str) -> None:
    with pytest.raises(CommandError, match=said) as bad:
        call_command("whatif", web, "--run", typed, stderr=io.StringIO())
    assert bad.value.returncode == 2


def test_a_cluster_goes_on_step_by_step_and_forks(web: str, tmp_path: Path) -> None:
    first, second = str(tmp_path / "w1.jsonl"), str(tmp_path / "w2.jsonl")
    data = json.loads(run("step", web, "--count", "1", "--save", first, "-o", "json")[1])
    assert ([each["outcome"] for each in data["attempts"]], len(data["waiting"])) == (["scheduled"], 3)
    more = json.loads(run("step", first, "--count", "2", "--save", first, "-o", "json")[1])
    assert more["step"] == data["step"] + more["steps"] and len(more["attempts"]) == 2
    cordoned = ("--run", "kubectl cordon a", "--run", "kubectl cordon b")
    fork = json.loads(
        run("step", first, "--at", str(data["step"]), *cordoned, "--count", "0", "--save", second, "-o", "json")[1]
    )
    assert (fork["step"], fork["attempts"]) == (data["step"] + 2, [])
    rows = {file: json.loads(run("simulate", file, "-o", "json")[1]) for file in (first, second)}
    assert (rows[first]["scheduled"], rows[second]["scheduled"]) == (3, 1)
    assert not any(each["problem"] for each in json.loads(run("explain", first, "-o", "json")[1])["pods"])
    assert "refuses 2 of 2 nodes" in run("step", second)[1]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (("--at", "3"), "expected a trace"),
        (("--count", "-1"), "expected a number from 0"),
        (("--save", "/nowhere/w.jsonl"), "No such file"),
        (("web",), "no such file"),
    ],
)
def test_steps_that_cannot_be_made_are_told(web: str, asked: tuple[str, ...], said: str) -> None:
    with pytest.raises(CommandError, match=said):
        call_command("step", web, *asked, stdout=io.StringIO(), stderr=io.StringIO())


def test_a_trace_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    for text in ('{"type": "header"', '{"type": "header"}', '{"type":"header"}\n[]', '{"type":"header","format":1}\n1'):
        (tmp_path / "bad.jsonl").write_text(text)
        with pytest.raises(CommandError, match=r"bad\.jsonl: "):
            call_command("explain", str(tmp_path / "bad.jsonl"), stderr=io.StringIO())


def test_a_drained_pod_whose_owner_is_not_in_the_text_is_not_said_to_be_lost(tmp_path: Path) -> None:
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "u-1", "controller": True}
    owned = pod("web-x", nodeName="a")
    owned["metadata"] |= {"uid": "u-2", "ownerReferences": [owner]}
    owned["status"] = {"phase": "Running", "startTime": "2026-03-01T08:00:00Z"}
    _, text = run("whatif", written(tmp_path, node("a"), node("b"), owned), "--drain", "a")
    assert "web-x is removed from a, and ReplicaSet web creates another pod" in text

"""`kubectl sched` and scheduler-playground ask a cluster through a kubectl: a real one where it is installed, and one that is made here."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from playground.management.program import main, main_of_plugin
from scheduler_core.apiserver.kinds import KINDS, Kind
from tests.browser.server import ROOT
from tests.scheduler_core.worlds import node, pod

ABSENT = ("devicetaintrules", "resourceslices")  # resources that the cluster does not have
FAKE = """#!{python}
import json, sys, urllib.error, urllib.request
arguments = sys.argv[1:]
if arguments[0] == "config":
    sys.exit(print("shop", end=""))
files = [each.split("=", 1)[1] for each in arguments if each.startswith("--kubeconfig=")]
server = json.load(open(files[0]))["clusters"][0]["cluster"]["server"]
namespace = f"namespaces/{{arguments[arguments.index('-n') + 1]}}/" if "-n" in arguments else ""
items, wrong = [], 0
for each in arguments[1].split(","):
    name, _, group = each.partition(".")
    if name in {absent!r}:
        sys.exit(f'error: the server doesn\\'t have a resource type "{{name}}"')
for each in arguments[1].split(","):
    name, _, group = each.partition(".")
    path = f"/apis/{{group}}/v1/" if group else "/api/v1/"
    try:
        with urllib.request.urlopen(server + path + namespace + name) as answer:
            items += json.load(answer)["items"]
    except urllib.error.HTTPError as error:
        wrong = 1
        print(f"Error from server (Forbidden): {{json.load(error)['message']}}", file=sys.stderr)
print(json.dumps({{"apiVersion": "v1", "kind": "List", "items": items}}))
sys.exit(wrong)
"""


class Cluster:
    """A small API server: discovery of all kinds, lists of a few objects, and what was asked of it."""

    def __init__(self) -> None:
        self.objects: list[dict[str, Any]] = []
        self.forbidden: tuple[str, ...] = ()  # resources that may not be listed in all namespaces
        self.requests: list[str] = []

    def answer(self, path: str) -> tuple[int, dict[str, Any]]:
        parts = path.strip("/").split("/")
        match parts:
            case ["api"]:
                return 200, {"kind": "APIVersions", "versions": ["v1"]}
            case ["apis"]:
                groups = sorted({kind.group for kind in KINDS.values()} - {""})
                return 200, {"kind": "APIGroupList", "apiVersion": "v1", "groups": list(map(group_of, groups))}
            case ["api", "v1"]:
                return 200, resources_of("")
            case ["apis", group, "v1"]:
                return 200, resources_of(group)
            case [*_, "namespaces", namespace, plural]:
                return self.list(plural, namespace)
            case [*_, plural]:
                return self.list(plural, "")
        return 404, {}

    def list(self, plural: str, namespace: str) -> tuple[int, dict[str, Any]]:
        kind = next(kind for kind in KINDS.values() if kind.plural == plural)
        if plural in self.forbidden and not namespace:
            said = (
                f'{kind.resource} is forbidden: User "alice" cannot list resource "{plural}" '
                f'in API group "{kind.group}" at the cluster scope'
            )
            status = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Forbidden", "code": 403}
            return 403, {**status, "message": said, "details": {"kind": plural}}
        items = [
            each
            for each in self.objects
            if each["kind"] == kind.key and namespace in ("", each["metadata"].get("namespace"))
        ]
        version = f"{kind.group}/v1".removeprefix("/")
        return 200, {
            "kind": f"{kind.key}List",
            "apiVersion": version,
            "metadata": {"resourceVersion": "9"},
            "items": items,
        }


def group_of(name: str) -> dict[str, Any]:
    version = {"groupVersion": f"{name}/v1", "version": "v1"}
    return {"name": name, "versions": [version], "preferredVersion": version}


def resources_of(group: str) -> dict[str, Any]:
    def resource(kind: Kind) -> dict[str, Any]:
        names = {"name": kind.plural, "singularName": kind.key.lower(), "kind": kind.key}
        return {**names, "namespaced": kind.namespaced, "verbs": ["get", "list"]}

    there = [resource(kind) for kind in KINDS.values() if kind.group == group and kind.plural not in ABSENT]
    return {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": f"{group}/v1".strip("/"), "resources": there}


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    made = Cluster()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            made.requests.append(f"{self.command} {self.path}")
            status, body = made.answer(self.path.partition("?")[0])
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_POST = do_PUT = do_PATCH = do_DELETE = do_GET  # noqa: N815

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    (tmp_path / "config").write_text(
        json.dumps(
            {
                "apiVersion": "v1",
                "kind": "Config",
                "clusters": [{"name": "c", "cluster": {"server": f"http://127.0.0.1:{server.server_port}"}}],
                "contexts": [{"name": "here", "context": {"cluster": "c", "user": "u", "namespace": "shop"}}],
                "users": [{"name": "u", "user": {}}],
                "current-context": "here",
            }
        )
    )
    monkeypatch.setenv("HOME", str(tmp_path))
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop", "uid": "s"}}
    made.objects = [namespace, node("n", "2"), in_shop(pod("web-0", "3")), in_shop(pod("fits"))]
    yield made
    server.shutdown()
    server.server_close()


def in_shop(manifest: dict[str, Any]) -> dict[str, Any]:
    name = manifest["metadata"]["name"]
    return {**manifest, "metadata": {**manifest["metadata"], "namespace": "shop", "uid": f"u-{name}"}}


@pytest.fixture(params=["real", "fake"] if shutil.which("kubectl") else ["fake"])
def program(request: pytest.FixtureRequest, tmp_path: Path, cluster: Cluster) -> dict[str, str]:
    """The environment of the commands, with one kubectl or the other."""
    kubectl = shutil.which("kubectl") or ""
    if request.param == "fake":
        made = tmp_path / "kubectl"
        made.write_text(FAKE.format(python=sys.executable, absent=ABSENT))
        made.chmod(0o755)
        kubectl = str(made)
    return {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "KUBECTL": kubectl}


def run(
    program: dict[str, str], *arguments: str, start: str = "main_of_plugin", stdin: str | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", f"from playground.management.program import {start} as start; start()", *arguments],
        cwd=ROOT,
        input=stdin,
        stdin=None if stdin is not None else subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        env=program,
        check=False,
    )


def ask(program: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    """The same without a process of its own, whose start would take longer than the answer."""
    out, err, status = io.StringIO(), io.StringIO(), 0
    command = import_module(f"playground.management.commands.{arguments[0]}").Command(stdout=out, stderr=err)
    with mock.patch.dict(os.environ, program, clear=True), open(os.devnull) as nothing:
        try:
            with mock.patch("sys.stdin", nothing):
                command.run_from_argv(["kubectl sched", *arguments])
        except SystemExit as end:
            status = int(end.code or 0)
    return subprocess.CompletedProcess(arguments, status, out.getvalue(), err.getvalue())


def test_a_pod_is_explained_and_the_gets_are_shown(program: dict[str, str], cluster: Cluster, tmp_path: Path) -> None:
    config = f"--kubeconfig={tmp_path / 'config'}"
    done = run(program, "explain", "web-0", "-n", "shop", config, "--fixes", "0")
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("shop/web-0  WaitingForEvent\n  shop/web-0 requests 3 cpu, but n has only 2.")
    shown = done.stderr.splitlines()[0]
    assert shown.startswith("$ ") and " get namespaces,nodes," in shown and shown.endswith(f"-A -o json {config}")
    assert "again without devicetaintrules" in done.stderr
    assert cluster.requests and all(each.startswith("GET ") for each in cluster.requests)


def test_without_a_name_the_contexts_namespace_is_asked_about(
    program: dict[str, str], cluster: Cluster, tmp_path: Path
) -> None:
    config = f"--kubeconfig={tmp_path / 'config'}"
    cluster.objects.append({**pod("other", "9"), "metadata": {"name": "other", "namespace": "default", "uid": "o"}})
    here = ask(program, "explain", config, "-o", "csv", "--fixes", "0")
    everywhere = ask(program, "explain", config, "-A", "-o", "csv", "--fixes", "0")
    assert (here.returncode, everywhere.returncode) == (1, 1), here.stderr
    assert [line.partition(",")[0] for line in here.stdout.splitlines()] == ["pod", "shop/fits", "shop/web-0"]
    assert "default/other," in everywhere.stdout
    assert ask(program, "simulate", "fits", config, "-n", "shop").stdout.splitlines()[1].split()[:3] == [
        "shop",
        "fits",
        "n",
    ]


def test_who_may_list_one_namespace_alone_is_told_what_is_missing(
    program: dict[str, str], cluster: Cluster, tmp_path: Path
) -> None:
    cluster.forbidden = ("pods", "replicasets")
    done = ask(program, "explain", "web-0", "-n", "shop", f"--kubeconfig={tmp_path / 'config'}", "--fixes", "0")
    assert done.returncode == 1, done.stderr
    assert "cannot list resource" in done.stderr
    assert " get replicasets.apps,pods -n shop -o json" in done.stderr


def test_a_name_that_is_not_there_and_no_cluster_are_told(
    program: dict[str, str], cluster: Cluster, tmp_path: Path
) -> None:
    config = f"--kubeconfig={tmp_path / 'config'}"
    done = ask(program, "explain", "web-O", "-n", "shop", config)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[-1] == ("error: web-O: there is no such pod in namespace shop; did you mean web-0?")
    done = ask({**program, "KUBECTL": "/nowhere/kubectl"}, "explain", "web-0")
    assert (done.returncode, "install kubectl to ask a cluster" in done.stderr) == (2, True)


def test_what_kubectl_logs_of_each_try_is_left_out(tmp_path: Path) -> None:
    kubectl, refused = (
        tmp_path / "kubectl",
        "The connection to the server a:1 was refused - did you specify the right port?",
    )
    logged = 'E1128 02:22:06.438965 1 memcache.go:265] "Unhandled Error"'
    kubectl.write_text(f"#!/bin/sh\nprintf '%s\\n' '{logged}' '{logged}' '{refused}' >&2\nexit 1\n")
    kubectl.chmod(0o755)
    done = ask({"PATH": os.environ["PATH"], "HOME": str(tmp_path), "KUBECTL": str(kubectl)}, "explain", "-n", "shop")
    assert done.stderr.splitlines()[1:] == [f"error: {refused}"]


def test_a_pipe_needs_no_dash_and_no_kubectl(cluster: Cluster, tmp_path: Path) -> None:
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": cluster.objects})
    program = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "KUBECTL": "/nowhere/kubectl"}
    done = run(program, "explain", "web-0", "fits", "-n", "shop", start="main", stdin=text)
    assert done.returncode == 1, done.stderr
    heads, first, second, *_ = done.stdout.splitlines()
    assert heads.split() == ["POD", "WHY", "FIRST", "FIX"]
    assert (first.split()[0], second.split()[0]) == ("shop/web-0", "shop/fits")
    assert cluster.requests == []


@pytest.mark.parametrize("start", [main, main_of_plugin])
def test_the_version_names_the_scheduler_that_is_modeled(
    start: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["x", "--version"])
    start()
    assert "kube-scheduler v1.34.1 to v1.37.2" in capsys.readouterr().out

"""`scheduler-playground mirror`: a kubectl made here plays a cluster that changes, and writes down how it was called."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import Empty, Queue
from typing import Any, ClassVar
from urllib.parse import parse_qs

import pytest
import yaml
from django.core.management import call_command

from playground.management.commands.mirror import Feed, Mirror
from playground.management.terminal.watching import Event, ListedObjects, key_of, list_changes, read_values, role
from scheduler_core.scheduler.config import RELEASES
from tests.browser.server import ROOT
from tests.playground.test_live_cluster import in_shop
from tests.scheduler_core.analysis.whatif.test_outcome import deployment
from tests.scheduler_core.worlds import node, pod

# Prints what the test wrote to files: of all kinds at once, of one kind again, and of a watch, which is a pipe.
KUBECTL = """#!/bin/sh
echo "$*" >> {folder}/calls
case "$*" in
  "config view"*) printf shop ;;
  *--watch*) [ -p {folder}/$2 ] && exec cat {folder}/$2; echo 'error: the server doesn'"'"'t have a resource type "'$2'"' >&2; exit 1 ;;
  "get namespaces,"*) cat {folder}/list ;;
  *) cat {folder}/again-$2 ;;
esac
"""


WAIT = 60  # seconds, which a busy machine may need


class Played:
    """The command, with what it printed and the pipes of its watches."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.folder, self.lines = folder, Queue[str]()
        (folder / "kubectl").write_text(KUBECTL.format(folder=folder))
        (folder / "kubectl").chmod(0o755)
        for resource in ("pods", "nodes"):
            os.mkfifo(folder / resource)
        program = "from playground.management.program import main; main()"
        self.process = subprocess.Popen(
            [sys.executable, "-c", program, "mirror", "--context=here", "--fixes=1", "--after=0.1", *options],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={"PATH": os.environ["PATH"], "HOME": str(folder), "KUBECTL": str(folder / "kubectl")},
        )
        threading.Thread(target=self._read, daemon=True).start()
        self.watches = {resource: (folder / resource).open("w") for resource in ("pods", "nodes")}

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.put(line.rstrip())

    def happen(self, resource: str, kind: str, *objects: dict[str, Any]) -> None:
        for each in objects:
            self.watches[resource].write(json.dumps({"type": kind, "object": each}, indent=4) + "\n")
        self.watches[resource].flush()

    def ask(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()

    def until(self, said: str) -> str:
        """What is printed up to the line that has these words."""
        lines: list[str] = []
        while not lines or said not in lines[-1]:
            try:
                lines.append(self.lines.get(timeout=WAIT))
            except Empty:
                pytest.fail(f"expected {said!r}, received {lines}")
        return "\n".join(lines)


@pytest.fixture
def played(tmp_path: Path) -> Iterator[Played]:
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}
    there = [namespace, node("n", "2"), in_shop(pod("first", "3")), in_shop({**deployment(1), "kind": "Deployment"})]
    (tmp_path / "list").write_text(json.dumps({"kind": "List", "items": there}))
    made = Played(tmp_path)
    yield made
    made.process.kill()
    made.process.wait()


def test_pods_are_explained_as_they_arrive_and_questions_are_answered(played: Played) -> None:
    assert "first requests 3 cpu, but n has only 2" in played.until("Nodes: 1; pods: 1; Pending: 1.") + played.until(
        "is Pending."
    )
    played.happen("pods", "ADDED", in_shop(pod("first", "3")), in_shop(pod("web-0", "5")), in_shop(pod("fits")))
    said = played.until("2 pods are Pending") if False else played.until("shop/fits")
    assert "web-0 requests 5 cpu, but n has only 2" in said and "first" not in said
    bound = in_shop(pod("web-0", "5"))
    played.happen("pods", "MODIFIED", {**bound, "spec": {**bound["spec"], "nodeName": "n"}})
    played.until("shop/web-0 is on n now.")
    played.ask("whatif --remove n")
    assert "is deleted from n" in played.until("Pods that wait:")
    played.ask(f"whatif --release {RELEASES[-1]}")
    played.until(f"No pod's placement changes under kube {RELEASES[-1]}.")
    played.ask("delete everything")
    played.until("received delete")
    played.ask("explain nope")
    played.until("there is no such pod in namespace shop")
    played.happen("pods", "DELETED", in_shop(pod("first", "3")))
    played.until("shop/first is deleted.")
    played.ask("quit")
    assert played.process.wait(timeout=30) == 0
    calls = [line.split() for line in (played.folder / "calls").read_text().splitlines()]
    assert {(call[0], call[1]) for call in calls if call[0] != "get"} == {("config", "view")}
    assert all("--context=here" in call for call in calls)
    assert not any(word in " ".join(call) for call in calls for word in ("secret", "configmap", "--raw"))
    assert sum("--watch" in call for call in calls) >= len(role()["rules"])


def test_a_watch_that_ends_begins_anew_and_what_went_meanwhile_is_gone(played: Played) -> None:
    played.until("is Pending.")
    (played.folder / "again-pods").write_text(json.dumps({"items": [in_shop(pod("second", "4"))]}))
    played.watches["pods"].close()
    while (played.folder / "calls").read_text().count("get pods -A -o json --watch") < 2:
        time.sleep(0.05)
    with (played.folder / "pods").open("w") as again:
        played.watches["pods"] = again
        played.happen("pods", "ADDED", in_shop(pod("second", "4")))
        said = played.until("is deleted.") + played.until("second requests 4 cpu")
    assert "shop/first is deleted." in said


def test_the_role_reads_what_decides_and_no_secrets() -> None:
    out = io.StringIO()
    call_command("mirror", "--role", stdout=out)
    printed = yaml.safe_load(out.getvalue())
    assert printed == role()
    verbs = {verb for rule in printed["rules"] for verb in rule["verbs"]}
    resources = {name for rule in printed["rules"] for name in rule["resources"]}
    assert verbs == {"get", "list", "watch"}
    assert {"pods", "nodes", "persistentvolumeclaims"} <= resources
    assert resources.isdisjoint({"secrets", "configmaps", "*"})


def test_objects_of_other_kinds_and_errors_are_not_kept() -> None:
    mirror = Mirror()
    for kind in ("Secret", "ConfigMap", "Status"):
        assert (
            list(mirror.take(Event(kind, 1, "ADDED", {"kind": kind, "metadata": {"name": "x"}, "data": {"a": "b"}})))
            == []
        )
    assert mirror.objects == {}


def test_a_list_removes_only_what_no_newer_watch_has_told_of() -> None:
    mirror = Mirror()
    mirror.fill([pod("old"), pod("kept"), node("n")])
    assert list(mirror.take(Event("Pod", 2, "ADDED", pod("new")))) == []
    assert list(mirror.take(ListedObjects("Pod", 2, frozenset({key_of(pod("kept"))})))) == []
    assert [key[2] for key in mirror.objects] == ["kept", "n", "new"]


def test_values_are_read_from_any_pieces_and_in_any_form(tmp_path: Path) -> None:
    text = "".join(
        json.dumps({"n": n, "text": "é}{\n"}, indent=4, ensure_ascii=False) + "\n" for n in range(3)
    ).encode()

    class Pieces:
        def __init__(self, size: int) -> None:
            self.left, self.size = text, size

        def read1(self, most: int) -> bytes:
            piece, self.left = self.left[: self.size], self.left[self.size :]
            return piece

    web = pod("web")
    assert list(list_changes({"type": "DELETED", "object": web})) == [("DELETED", web)]
    assert list(list_changes({"kind": "List", "items": [web, 1]})) == [("ADDED", web)]
    assert list(list_changes(web)) == [("MODIFIED", web)]
    for size in (1, 7, 10_000):
        stream: Any = Pieces(size)
        assert [value["n"] for value in read_values(stream)] == [0, 1, 2]


class Session(BaseHTTPRequestHandler):
    """A session's pages, as far as a mirror uses them; `asked` is what came."""

    asked: ClassVar[list[tuple[str, str, dict[str, list[str]]]]] = []

    def do_GET(self) -> None:
        self.asked.append((self.command, self.path, {}))
        self.answer({"Set-Cookie": "csrftoken=secret; Path=/"})

    def do_POST(self) -> None:
        fields = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        self.asked.append((self.command, self.path, fields))
        if "csrftoken=secret" not in self.headers["Cookie"] or fields["csrfmiddlewaretoken"] != ["secret"]:
            self.answer({}, 403)
            return
        self.answer({"Location": "import?token=T" if self.path.endswith("import") else "../"}, 302)

    def do_DELETE(self) -> None:
        self.asked.append((self.command, self.path.partition("?")[0], {}))
        self.answer({}, 404)

    def answer(self, headers: dict[str, str], status: int = 200) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": "0"}.items():
            self.send_header(name, value)
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        pass


def test_a_session_gets_the_objects_and_what_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Session)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setattr("playground.management.commands.mirror.TOGETHER", 0.1)
    said: list[str] = []
    feed = Feed(f"http://127.0.0.1:{server.server_port}/s/KEY/", said.append)
    feed.start([(key_of(node("n")), node("n"))])
    (first,) = [fields for method, path, fields in Session.asked if (method, path) == ("POST", "/s/KEY/import")]
    assert [each["kind"] for each in json.loads(first["text"][0])["items"]] == ["Node"]
    assert ("POST", "/s/KEY/import/apply") in [(method, path) for method, path, _ in Session.asked]
    web = in_shop(pod("web"))
    feed.put(key_of(web), web)
    feed.put(key_of(web), None)
    feed.put(key_of(node("m")), node("m"))
    gone = ("DELETE", "/s/KEY/k8s/api/v1/namespaces/shop/pods/web", {})
    end = time.monotonic() + WAIT
    while gone not in Session.asked and time.monotonic() < end:
        time.sleep(0.02)
    server.shutdown()
    server.server_close()
    assert gone in Session.asked and said == []
    second = [fields for method, path, fields in Session.asked if (method, path) == ("POST", "/s/KEY/import")][1]
    assert [each["metadata"]["name"] for each in json.loads(second["text"][0])["items"]] == ["m"]


def test_a_session_that_cannot_be_reached_is_told() -> None:
    feed = Feed("http://127.0.0.1:9/s/KEY/", print)
    with pytest.raises(OSError, match="refused"):
        feed.start([(key_of(node("n")), node("n"))])

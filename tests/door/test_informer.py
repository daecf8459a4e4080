"""A shared informer of client-go over a session's kubeconfig: what it hears, and that it lists anew after 410."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from tests.browser.server import PlaygroundServer
from tests.door.test_api import LONG, MAP, Client, config_map
from tests.door.transcripts import new_session

SOURCE = Path(__file__).parent / "informer"
PODS, MERGE = "/api/v1/namespaces/default/pods", "application/merge-patch+json"
NODE = {"metadata": {"name": "n"}, "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "9"}}}


def make_pod(name: str) -> dict[str, Any]:
    return {"metadata": {"name": name}, "spec": {"containers": [{"name": "c", "image": "x"}]}}


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """The informer, built here."""
    go = shutil.which("go")
    if go is None:
        pytest.skip("go is not installed")
    shutil.copytree(SOURCE, tmp_path / "source")
    modules = subprocess.run(
        [go, "mod", "download"], cwd=tmp_path / "source", capture_output=True, text=True, check=False
    )
    if modules.returncode:
        pytest.skip(f"the modules of client-go are not available: {modules.stderr[-300:]}")
    subprocess.run([go, "build", "-o", tmp_path / "informer", "."], cwd=tmp_path / "source", check=True)
    return tmp_path / "informer"


class Informer:
    """The program at work."""

    def __init__(self, program: Path, kubeconfig: Path) -> None:
        self._said, self._log = kubeconfig.with_suffix(".said"), kubeconfig.with_suffix(".log")
        with self._said.open("wb") as said, self._log.open("wb") as log:
            command = [program, f"--kubeconfig={kubeconfig}", "-v=4"]
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=said, stderr=log)

    def hear(self, *lines: str) -> None:
        """Wait until it has said these lines."""
        self._wait(self._said, lines)

    def log(self, text: str) -> None:
        """Wait until its log has a text."""
        self._wait(self._log, [text])

    def _wait(self, path: Path, texts: Any) -> None:
        end = time.monotonic() + 60
        while missing := [each for each in texts if each not in path.read_text()]:
            assert time.monotonic() < end and self.process.poll() is None, (missing, path.read_text()[-3000:])
            time.sleep(0.05)


@pytest.mark.skipif(not LONG, reason="make test-long")
def test_a_shared_informer_hears_of_pods_and_nodes_and_lists_anew_after_410(tmp_path: Path, program: Path) -> None:
    server = PlaygroundServer(tmp_path, ENGINE_WORKERS="1", ENGINE_HEAVY_WORKERS="1")
    server.start()
    key = new_session(server.url, live="1", kubelet="runs")
    kubeconfig = tmp_path / "config"
    kubeconfig.write_bytes(urllib.request.urlopen(f"{server.url}/s/{key}/kubeconfig").read())
    client = Client(server, key)
    assert client.ask("POST", "/api/v1/nodes", NODE)[0] == 201
    informer = Informer(program, kubeconfig)
    try:
        informer.hear("add node n", "synced")
        for name in ("a", "b"):
            assert client.ask("POST", PODS, make_pod(name))[0] == 201
        seen = {"metadata": {"labels": {"seen": "yes"}}}
        assert client.ask("PATCH", f"{PODS}/a", seen, Content_Type=MERGE)[0] == 200
        assert client.ask("PATCH", "/api/v1/nodes/n", seen, Content_Type=MERGE)[0] == 200
        assert client.ask("DELETE", f"{PODS}/b")[0] == 200
        informer.hear("add pod a", "update pod a yes", "update node n yes", "delete pod b")
        os.kill(informer.process.pid, signal.SIGSTOP)
        assert client.ask("POST", PODS, make_pod("meanwhile"))[0] == 201
        for number in range(600):  # enough work for a checkpoint, before which no change is known after a start
            assert client.ask("POST", MAP, config_map(f"c{number}"))[0] == 201
        server.stop()
        server.start()
        assert client.ask("GET", PODS)[0] == 200
        os.kill(informer.process.pid, signal.SIGCONT)
        informer.log("too old resource version")
        informer.hear("add pod meanwhile")
        assert client.ask("POST", PODS, make_pod("last"))[0] == 201
        informer.hear("add pod last")
    finally:
        informer.process.kill()
        informer.process.wait()
        server.stop()

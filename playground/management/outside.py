"""A kube-scheduler of the user's own at work in a fork of a session, and a server for a session of files."""

import contextlib
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

import playground
from playground.management.terminal.feeding import WAIT, Pages
from playground.management.terminal.inputs import BadInput

START, END = 60.0, 10.0  # seconds for a server or a scheduler to start, and to end
LOOK = 0.5
CALM, PENDING = 3.0, 12.0  # seconds without a request that are rest; while pods wait, longer than the longest backoff
_SERVE = "from playground.management.program import main; main()"
_BOUNDARY = "scheduler-playground-trace"


def read_version(binary: str) -> str:
    """The version that a kube-scheduler says, such as v1.34.2. BadInput."""
    try:
        said = subprocess.run([binary, "--version"], capture_output=True, text=True, timeout=START, check=True).stdout  # noqa: S603
    except (OSError, subprocess.SubprocessError) as error:
        raise BadInput(f"--kube-scheduler {binary}: {error}") from None
    found = re.search(r"v1\.\d+\.\d+\S*", said)
    if found is None:
        raise BadInput(
            f"--kube-scheduler {binary}: expected Kubernetes and a version from --version; received {said!r}"
        )
    return found[0]


@contextlib.contextmanager
def serve(trace: bytes) -> Iterator[str]:
    """Serve a session of a trace on this machine alone, with data that goes at the end; its link. BadInput."""
    with tempfile.TemporaryDirectory() as folder, socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        probe.close()
        root = str(Path(playground.__file__).resolve().parents[1])
        limits = {"MAX_UPLOAD_BYTES": str(1 << 28), "ENGINE_WORKERS": "1", "ENGINE_HEAVY_WORKERS": "1"}
        environment = {**os.environ, **limits, "DATA_DIR": folder, "PYTHONPATH": root, "DEBUG": ""}
        command = [sys.executable, "-c", _SERVE, "serve", "--port", str(port)]
        with _process(command, Path(folder) / "server.log", env=environment) as process:
            base = f"http://127.0.0.1:{port}"
            _await_server(base, process, Path(folder) / "server.log")
            yield _bring(base, trace)


@contextlib.contextmanager
def _process(command: list[str], log: Path, **more: Any) -> Iterator[subprocess.Popen[bytes]]:
    """A program that ends with the block, and writes into a file."""
    with log.open("wb") as out, subprocess.Popen(command, stdout=out, stderr=out, **more) as process:  # noqa: S603
        try:
            yield process
        finally:
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(END)
            process.kill()


def _await_server(base: str, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + START
    while time.monotonic() < end and process.poll() is None:
        with contextlib.suppress(URLError, OSError), urlopen(f"{base}/healthz", timeout=WAIT):  # noqa: S310 - of this machine
            return
        time.sleep(0.05)
    raise BadInput(f"no session can be served here: {log.read_text()[-2000:]}")


def _bring(base: str, trace: bytes) -> str:
    """Make a session of a trace; its link."""
    pages = Pages(f"{base}/s/none/")
    _, page = pages.read(f"{base}/")
    token = re.search(rb'name="csrfmiddlewaretoken" value="([^"]+)"', page)
    fields = [("csrfmiddlewaretoken", "", token[1] if token else b""), ("file", '; filename="session.jsonl"', trace)]
    part = f'--{_BOUNDARY}\r\nContent-Disposition: form-data; name="%s"%s\r\n\r\n'
    body = b"".join((part % (name, more)).encode() + data + b"\r\n" for name, more, data in fields)
    headers = {"Content-Type": f"multipart/form-data; boundary={_BOUNDARY}"}
    _, page = pages.read(f"{base}/import-trace", body + f"--{_BOUNDARY}--\r\n".encode(), headers=headers)
    found = re.search(rb"/s/([\w-]{20,})/", page)
    if found is None:
        raise BadInput("the session cannot be made of this input")
    return f"{base}/s/{found[1].decode()}/"


class SecondOpinion:
    """A fork of a session for a kube-scheduler, and what its pages tell."""

    def __init__(self, link: str, version: str) -> None:
        there = Pages(link).post("second-opinion/begin", release=version)
        self.fork = Pages(there)

    def ask(self, page: str) -> Any:
        """The data of a page."""
        return json.loads(self.fork.ask(f"second-opinion/{page}"))

    def run(self, binary: str, content_type: str, patience: float) -> bool:
        """Let the scheduler work until it is at rest; False where that took too long. BadInput where it ends by itself."""
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "session.yaml").write_bytes(self.fork.ask("kubeconfig"))
            (folder / "config.yaml").write_bytes(self.fork.ask(f"second-opinion/config.yaml?type={content_type}"))
            command = [binary, "--config", "config.yaml", "--secure-port", "0"]
            if gates := self.ask("progress.json")["gates"]:
                command.append(f"--feature-gates={gates}")
            log = folder / "scheduler.log"
            with _process(command, log, cwd=folder) as process:
                rests = self._rest(process, patience)
                if process.poll() is not None:
                    raise BadInput(f"{binary} ended with {process.returncode}: {log.read_text()[-2000:]}")
                return rests

    def _rest(self, process: subprocess.Popen[bytes], patience: float) -> bool:
        """Wait until it asks for nothing any more, and has said something about each pod."""
        begun = since = time.monotonic()
        asked = first = self.ask("progress.json")["asked"]
        while process.poll() is None and (now := time.monotonic()) - begun < patience:
            time.sleep(LOOK)
            seen = self.ask("progress.json")
            if seen["asked"] != asked:
                asked, since = seen["asked"], now
            calm = PENDING if seen["waiting"] or asked == first else CALM
            if not seen["undecided"] and now - since > calm:
                return True
        return False

"""`scheduler-playground second-opinion`: compares the real kube-scheduler's decisions about a session's pods with ours."""

import contextlib
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

import playground
from playground.management.commands.mirror import WAIT, Pages
from playground.management.terminal.cluster import BadInput
from playground.management.terminal.command import Exit, TerminalCommand, add_options, leave
from playground.management.terminal.printing import write_answer
from playground.management.terminal.world import is_trace
from scheduler_core.scheduler.config import read_release

START, END = 60.0, 10.0  # seconds for a server or a scheduler to start, and to end
LOOK = 0.5
# Seconds without a request until the scheduler counts as at rest; PENDING exceeds the longest backoff; NEVER: some pods are undecided.
CALM, PENDING, NEVER = 3.0, 12.0, 30.0
_SERVE = "from playground.management.program import main; main()"
_BOUNDARY = "scheduler-playground-trace"


def read_version(binary: str) -> str:
    """Return a kube-scheduler's version, such as v1.34.2. Raise BadInput."""
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
    """Serve a session of a trace on this machine only, with temporary data; yield the session's link. Raise BadInput."""
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
    """Run a program, with its output in a file, until the block ends."""
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
    """Create a session from a trace. Return its link."""
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
    """A fork of a session for a kube-scheduler, and the data of its pages."""

    def __init__(self, link: str, version: str) -> None:
        there = Pages(link).post("second-opinion/begin", release=version)
        self.fork = Pages(there)

    def ask(self, page: str) -> Any:
        return json.loads(self.fork.ask(f"second-opinion/{page}"))

    def compare(self, seed: int | None, patience: float) -> Any:
        """Return opinion.json after the comparison has ended; `late` means a timeout."""
        end = time.monotonic() + patience
        while (found := self.ask("opinion.json" if seed is None else f"opinion.json?seed={seed}"))["late"]:
            if time.monotonic() > end:
                break
        return found

    def run(self, binary: str, content_type: str, patience: float) -> bool:
        """Run the scheduler until it is at rest. Return False on a timeout. Raise BadInput if the scheduler exits."""
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "session.yaml").write_bytes(self.fork.ask("kubeconfig"))
            (folder / "config.yaml").write_bytes(self.fork.ask(f"second-opinion/config.yaml?type={content_type}"))
            # With WatchListClient, initial objects arrive in random order, and so would pods of the same priority.
            gates = ",".join(filter(None, (self.ask("progress.json")["gates"], "WatchListClient=false")))
            command = [binary, "--config", "config.yaml", "--secure-port", "0", f"--feature-gates={gates}"]
            # The flush of pods after five minutes would depend on this machine's speed.
            command.append("--pod-max-in-unschedulable-pods-duration=24h")
            log = folder / "scheduler.log"
            with _process(command, log, cwd=folder) as process:
                rests = self._rest(process, patience)
                if process.poll() is not None:
                    raise BadInput(f"{binary} ended with {process.returncode}: {log.read_text()[-2000:]}")
                return rests

    def _rest(self, process: subprocess.Popen[bytes], patience: float) -> bool:
        """Wait until the scheduler sends no more requests, and has decided about each pod. Return whether it did."""
        begun = since = time.monotonic()
        asked = first = self.ask("progress.json")["asked"]
        while process.poll() is None and (now := time.monotonic()) - begun < patience:
            time.sleep(LOOK)
            seen = self.ask("progress.json")
            if seen["asked"] != asked:
                asked, since = seen["asked"], now
            calm = PENDING if seen["waiting"] or asked == first else CALM
            if now - since > (NEVER if seen["undecided"] else calm):
                return True
        return False


FIELDS = {
    "node": "node",
    "condition": "PodScheduled",
    "nominated": "nominated node",
    "events": "Events",
    "gone": "is gone",
}


class Command(TerminalCommand):
    """A command that forks a session, runs a kube-scheduler in the fork, and compares pod by pod."""

    help = (
        "Run a kube-scheduler of your own in a fork of a session, and compare its bindings, Events, conditions, and nominations with "
        "ours, pod by pod. Reads the link of a session, a trace, or what explain reads; without a link a local session is served "
        "meanwhile. Ties are compared as sets. Exit status: 0 the same, 1 something differs, 2 the input can't be used, 3 one of "
        "the two did not come to rest."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--kube-scheduler", required=True, metavar="PATH", help="the binary, of 1.34 to 1.37")
        parser.add_argument("--seed", type=int, metavar="N", help="the seed of our draws (the session's)")
        add_options(
            parser,
            ("--content-type", "", "TYPE", "what it sends, such as application/json (protobuf)"),
            ("--wait", 600.0, "S", "how long it may take to come to rest (600)"),
        )
        parser.add_argument("-o", "--output", choices=("text", "json", "yaml"), default="text")

    def handle(self, *args: Any, output: str, kube_scheduler: str, **options: Any) -> None:
        version = read_version(str(Path(kube_scheduler).resolve()))
        try:
            release = read_release(version)
        except ValueError as error:
            raise BadInput(f"--kube-scheduler {kube_scheduler}: {error}") from None
        with self._open(options, release) as link:
            try:
                opinion = SecondOpinion(link, version)
                rests = opinion.run(str(Path(kube_scheduler).resolve()), options["content_type"], options["wait"])
                found = opinion.compare(options["seed"], options["wait"])
            except OSError as error:
                raise BadInput(f"{link}: {error}") from None
            data = describe(found, version, rests, opinion.fork.link)
        write_answer(self.stdout, data, _lines(data), output)
        leave(_exits(data))

    @contextlib.contextmanager
    def _open(self, options: dict[str, Any], release: Any) -> Iterator[str]:
        """Yield the link of the session: the given one, or that of a local session of the input."""
        words = options["words"]
        if words and words[0].startswith(("http://", "https://")):
            yield words[0]
            return
        inputs, question = self.read(options)
        if question.names:
            raise BadInput(f"{question.names[0]}: no such file; second-opinion takes a link or files")
        if len(inputs) == 1 and is_trace(inputs[0][1]):
            trace = inputs[0][1]
        else:
            trace = self._make_trace(inputs, options, release)
        with serve(trace) as link:
            yield link

    def _make_trace(self, inputs: list[tuple[str, bytes]], options: dict[str, Any], release: Any) -> bytes:
        seed = options["seed"] or 0
        made = self.make(inputs, options["config"], options["release"] or release, seed=seed, acting=True)
        with tempfile.TemporaryDirectory() as folder:
            return made.make_cluster(seed).save(Path(folder) / "session.jsonl").read_bytes()


def describe(found: dict[str, Any], version: str, rests: bool, fork: str) -> dict[str, Any]:
    """Return the data of second-opinion/v1."""
    rows = found.get("pods") or []
    differ = [row for row in rows if row["different"]]
    return {
        "schema": "second-opinion/v1",
        "kubeScheduler": version,
        "release": found["release"],
        "fork": fork,
        "atRest": {"ours": found["atRest"] and not found["late"], "theirs": rests},
        "pods": len(rows),
        "bound": sum(bool(row["theirs"]["node"]) for row in rows),
        "tied": sum(bool(row["tied"]) for row in rows),
        "first": differ[0] if differ else None,
        "different": differ,
    }


def _exits(data: dict[str, Any]) -> Iterator[Exit]:
    if not all(data["atRest"].values()):
        yield Exit.FAILED
    if data["different"]:
        yield Exit.WAITS


def _lines(data: dict[str, Any]) -> Iterator[str]:
    yield (
        f"kube-scheduler {data['kubeScheduler']} and the model of {data['release']}: {data['pods']} pods, {data['bound']} bound, "
        f"{data['tied']} of them chosen among nodes that tie; {len(data['different'])} differ."
    )
    for name, side in (("ours", "the model"), ("theirs", "kube-scheduler")):
        if not data["atRest"][name]:
            yield f"{side} did not come to rest; more can follow."
    first = data["first"]
    if first is None:
        return
    yield f"The first difference is {first['pod']}:"
    for field in first["different"]:
        yield f"  {FIELDS[field]}: {_show(first['ours'][field])} here, {_show(first['theirs'][field])} there"
    if first["tied"]:
        yield f"  nodes that tie here: {', '.join(first['tied'])}"


def _show(value: Any) -> str:
    if isinstance(value, dict):
        return " ".join(filter(None, value.values())) or "none"
    if isinstance(value, list):
        return "; ".join(map(_show, value)) or "none"
    return str(value) or "none"

"""A watched live cluster: one kubectl for each kind, whose events arrive in a queue; nothing is ever written."""

import codecs
import json
import subprocess
import threading
import time
from collections.abc import Iterator
from queue import SimpleQueue
from typing import IO, Any, NamedTuple

from playground.management.terminal.cluster import Live, is_namespaced
from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.world.readonly import DECIDING, KINDS

Key = tuple[str, str, str]  # kind, namespace, name
PIECE = 1 << 16
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 30.0  # seconds before an ended watch restarts


class Event(NamedTuple):
    """A change of an object. `run`: the run of its kind's watch that reported it, or 0 for the first list."""

    kind: str
    run: int
    type: str
    object: Manifest


class ListedObjects(NamedTuple):
    """The objects of a kind that existed when a watch of it restarted."""

    kind: str
    run: int
    keys: frozenset[Key]


class TextLine(NamedTuple):
    """A line for users."""

    text: str


Report = Event | ListedObjects | TextLine | str  # a line of standard input


def key_of(manifest: Manifest) -> Key:
    """Return the key of an object that kubectl printed."""
    meta = manifest.get("metadata") or {}
    return str(manifest.get("kind")), str(meta.get("namespace") or ""), str(meta.get("name"))


def role() -> dict[str, Any]:
    """Return the sufficient ClusterRole: get, list, and watch of the relevant kinds, without Secrets and ConfigMaps."""
    groups: dict[str, list[str]] = {}
    for kind in DECIDING:
        groups.setdefault(KINDS[kind].group, []).append(KINDS[kind].plural)
    rules = [
        {"apiGroups": [group], "resources": names, "verbs": ["get", "list", "watch"]} for group, names in groups.items()
    ]
    meta = {"name": "scheduler-playground-mirror"}
    return {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": meta, "rules": rules}


class Watches:
    """The watches of all kinds, each in its own thread. `namespace`: the one to watch if all namespaces are forbidden."""

    def __init__(self, live: Live, namespace: str, reports: SimpleQueue[Report]) -> None:
        self._live, self._namespace, self._reports = live, namespace, reports
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self._ended = threading.Event()

    def start(self) -> None:
        for kind in DECIDING:
            threading.Thread(target=self._watch, args=(kind,), daemon=True).start()

    def stop(self) -> None:
        """Terminate all kubectl processes."""
        self._ended.set()
        for process in list(self._running.values()):
            process.terminate()

    def _watch(self, kind: str) -> None:
        where, pause, run = ["-A"], FIRST_PAUSE, 0
        while not self._ended.is_set():
            run += 1
            began = time.monotonic()
            said = self._run_once(kind, run, where)
            if "doesn't have a resource type" in said or "the server could not find the requested resource" in said:
                return
            if "(Forbidden)" in said:
                if where == ["-A"] and self._namespace and is_namespaced(KINDS[kind].resource):
                    where = ["-n", self._namespace]
                    continue
                self._reports.put(
                    TextLine(f"{said}\n{KINDS[kind].plural} take no part; --role prints the role that is needed")
                )
                return
            pause = FIRST_PAUSE if time.monotonic() - began > LONGEST_PAUSE else pause
            if said and not self._ended.is_set():
                self._reports.put(TextLine(f"the watch of {KINDS[kind].plural} ended, and begins anew: {said}"))
            self._ended.wait(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    def _run_once(self, kind: str, run: int, where: list[str]) -> str:
        """Watch until kubectl ends. Return its error output."""
        asked = ["get", KINDS[kind].resource, *where, "-o", "json"]
        try:
            process = self._live.open([*asked, "--watch", "--output-watch-events"])
        except OSError as error:
            return str(error)
        self._running[kind] = process
        with process:
            assert process.stdout and process.stderr
            if run > 1:
                threading.Thread(target=self._list_again, args=(kind, run, asked), daemon=True).start()
            for value in read_values(process.stdout):
                for change, manifest in list_changes(value):
                    self._reports.put(Event(kind, run, change, manifest))
            return process.stderr.read().decode(errors="replace").strip()

    def _list_again(self, kind: str, run: int, asked: list[str]) -> None:
        """Report the existing objects; the watch, which has started already, reports later deletions."""
        with self._live.open(asked) as process:
            data, _ = process.communicate()
        if not process.returncode:
            self._reports.put(ListedObjects(kind, run, frozenset(key_of(each) for each in json.loads(data)["items"])))


def list_changes(value: Manifest) -> Iterator[tuple[str, Manifest]]:
    """Yield the type and the object of an event; or ADDED for each object of a list, or MODIFIED for a single object."""
    if isinstance(value.get("object"), dict):
        yield str(value.get("type")), value["object"]
    elif isinstance(value.get("items"), list):
        yield from (("ADDED", each) for each in value["items"] if isinstance(each, dict))
    elif isinstance(value.get("metadata"), dict):
        yield "MODIFIED", value


def read_values(stream: IO[bytes]) -> Iterator[Manifest]:
    """Yield the JSON objects of a stream as they arrive."""
    text, decoder, characters = "", json.JSONDecoder(), codecs.getincrementaldecoder("utf-8")("replace")
    while piece := stream.read1(PIECE):  # type: ignore[attr-defined]
        text += characters.decode(piece)
        while text := text.lstrip():
            try:
                value, end = decoder.raw_decode(text)
            except ValueError:
                break
            text = text[end:]
            if isinstance(value, dict):
                yield value

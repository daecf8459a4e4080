"""A live cluster, read by the user's own kubectl with get only, and a command's files and standard input."""

import os
import re
import shlex
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from scheduler_core.analysis.explain import explain
from scheduler_core.formats.manifests import join_inputs, pack_files, read
from scheduler_core.world.readonly import DECIDING, KINDS, InvalidObject
from scheduler_core.world.simulation import Simulation

STDIN = "-"
SUFFIXES = (".json", ".yaml", ".yml")  # of the files read in a folder
_OTHERS = (".md", ".txt", ".jsonl", ".ndjson", ".tar", ".tgz", ".gz", ".zip")


class BadInput(Exception):
    """An unusable input; the text has its place."""


def is_file(word: str) -> bool:
    """Return True if a word of the command line means a file or a folder (existing or not), rather than an object."""
    return (
        word == STDIN
        or word.startswith(("/", "./", "../", "~"))
        or word.endswith((*SUFFIXES, *_OTHERS))
        or os.path.exists(word)
    )


def list_inputs(files: Sequence[str], elsewhere: bool) -> list[tuple[str, bytes]]:
    """Return the files with their contents; without files, non-empty standard input from a pipe or a file.

    `elsewhere`: an option names the cluster, so that standard input is not read.
    """
    if files or elsewhere:
        return [(file, read_file(file)) for file in files]
    data = read_file(STDIN) if _is_piped() else b""
    return [(STDIN, data)] if data else []


def _is_piped() -> bool:
    try:
        mode = os.fstat(sys.stdin.fileno()).st_mode
    except (OSError, ValueError, AttributeError):
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISREG(mode)


def read_file(name: str) -> bytes:
    """Return a file's bytes, those of standard input for "-", or a folder's files as an archive. Raise BadInput."""
    path = Path(name)
    try:
        if name == STDIN:
            return sys.stdin.buffer.read()
        return _folder(path) if path.is_dir() else path.read_bytes()
    except OSError as error:
        raise BadInput(f"{name}: {error.strerror}") from None


def _folder(folder: Path) -> bytes:
    """Return all files of a folder and its subfolders, without hidden ones and links, as an archive."""
    found = [
        path
        for path in sorted(folder.rglob("*"))
        if path.suffix in SUFFIXES and path.is_file() and not path.is_symlink()
        if not any(part.startswith(".") for part in path.relative_to(folder).parts)
    ]
    if not found:
        raise BadInput(f"{folder}: no file in this folder ends in {', '.join(SUFFIXES)}")
    return pack_files([(path.relative_to(folder).as_posix(), path.read_bytes()) for path in found])


def read_objects(name: str) -> list[dict[str, Any]]:
    """Return the manifests of a file, of a folder, or of standard input. Raise BadInput."""
    try:
        objects = read(join_inputs([(name, read_file(name))])).objects
    except InvalidObject as error:
        raise BadInput(f"{name}: {error}") from None
    return [each.manifest for each in objects if isinstance(each.manifest, dict)]


KUBECTL = "KUBECTL"  # the environment variable for a program other than kubectl
RESOURCES = [KINDS[kind].resource for kind in DECIDING]
_NO_SUCH = re.compile(r'the server doesn\'t have a resource type "(?P<name>[^"]+)"')
_LOGGED = re.compile(r"[EWI]\d{4} ")  # kubectl logs each try before it prints the error
_FORBIDDEN = re.compile(r"Error from server \(Forbidden\): (?P<resource>[a-z]+)\S* is forbidden")
_WORDS = (
    "po:Pod deploy:Deployment rs:ReplicaSet rc:ReplicationController sts:StatefulSet ds:DaemonSet cj:CronJob no:Node"
)
_SHORT = dict(
    each.split(":") for each in f"{_WORDS} ns:Namespace pvc:PersistentVolumeClaim pv:PersistentVolume job:Job".split()
)
_NAMED = tuple(_SHORT.values())
_OF_PODS = ("Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "ReplicationController", "Job", "CronJob")
_ALONE = ("Node", "Namespace", "PersistentVolume")  # kinds without a namespace


def find_kind(word: str) -> str:
    """Return the kind of a word as kubectl reads it: po, pod, pods, deployments.apps; "" if the commands do not support the kind."""
    word = word.partition(".")[0].lower()
    return _SHORT.get(word) or next((k for k in _NAMED if word in (k.lower(), KINDS[k].plural)), "")


@dataclass(slots=True)
class Question:
    """Names of pods and workloads (`NAME`, `KIND/NAME`), and their namespace ("" if not given)."""

    names: list[str]
    namespace: str
    everywhere: bool = False
    pods: list[str] = field(default_factory=list)  # of --pod: `NS/NAME`, `KIND/NS/NAME`

    def find_objects(self, world: Simulation) -> list[str]:
        """Return the named objects for scheduler_core.analysis.explain: NS/NAME of a pod, or KIND/NS/NAME. Raise BadInput."""
        return [self._find(world, name, False) for name in self.names] + [
            self._find(world, name, True) for name in self.pods
        ]

    def covers(self, key: str) -> bool:
        """Return True if an object, NS/NAME or KIND/NS/NAME, is in the namespace that is asked about."""
        return self.everywhere or not self.namespace or key.split("/")[-2] in (self.namespace, *_ALONE)

    def _find(self, world: Simulation, name: str, option: bool) -> str:
        readings = list(self._list_readings(name, option))
        for kind, namespace, last in readings:
            key = f"{namespace}/{last}"
            if world.store.get(kind, "" if kind in _ALONE else namespace, last) is not None:
                return key if kind == "Pod" else f"{kind}/{last}" if kind in _ALONE else f"{kind}/{key}"
            if kind == "Pod" and explain(world, key) is not None:  # the pod is gone, or does not exist yet
                return key
        kind, namespace, last = readings[0]
        if kind == "Pod":  # a workload of this name, or a pod of a pattern: pods without a node first
            for other in _OF_PODS:
                if world.store.get(other, namespace, last) is not None:
                    return f"{other}/{namespace}/{last}"
            matching = [pod for pod in world.store.pods() if fnmatchcase(pod.key, f"{namespace}/{last}")]
            if matching:
                return min(matching, key=lambda pod: (bool(pod.node_name), pod.key)).key
        there = sorted(
            (str(each["metadata"]["name"]), each["metadata"].get("namespace", namespace))
            for each in world.store.list(kind)
        )
        alike = get_close_matches(last, [one for one, _ in there], 3)
        near = [one if space == namespace else f"{space}/{one}" for one, space in there if one in alike][:3]
        hint = f"; did you mean {', '.join(near)}?" if near else f"; there are {len(there)} of this kind"
        raise BadInput(f"{name}: there is no such {kind.lower() if kind else 'pod'} in namespace {namespace}{hint}")

    def _list_readings(self, name: str, option: bool) -> Iterator[tuple[str, str, str]]:
        """Yield kind, namespace and name for each way to read a name, the likeliest first."""
        default = self.namespace or "default"
        match name.split("/"):
            case [one]:
                yield "Pod", default, one
            case [first, last]:
                kind = find_kind(first)
                ways = [("Pod", first, last), *([(kind, default, last)] if kind else [])]
                yield from ways if option else reversed(ways)
            case [word, namespace, last] if kind := find_kind(word):
                yield kind, namespace, last
            case _:
                raise BadInput(
                    f"{name}: expected NAME, KIND/NAME or KIND/NS/NAME, with a KIND of {', '.join(_NAMED)}; --pod takes NS/NAME, too"
                )


class Live:
    """The cluster of the user's kubectl. `options` are passed on; `say` gets each command before it runs."""

    OPTIONS = ("kubeconfig", "context", "cluster", "user", "as", "request-timeout")

    def __init__(self, options: Mapping[str, str], say: Callable[[str], object]) -> None:
        self._given = [f"--{name}={value}" for name, value in options.items() if value]
        self._say = say

    @property
    def _program(self) -> str:
        return os.environ.get(KUBECTL) or "kubectl"

    @property
    def is_meant(self) -> bool:
        """True if an option names the cluster."""
        return bool(self._given)

    def read(self, question: Question) -> list[tuple[str, bytes]]:
        """Return the cluster's objects as kubectl prints them. A question without a namespace gets the context's."""
        if not question.namespace and not question.everywhere:
            shown = self._run(["config", "view", "--minify", "-o", "jsonpath={..namespace}"], quiet=True)
            question.namespace = shown.stdout.decode(errors="replace").strip() or "default"
        data, forbidden = self._get(RESOURCES, ["-A"])
        if "pods" in forbidden and question.namespace:
            mine = [each for each in RESOURCES if each.partition(".")[0] in forbidden and is_namespaced(each)]
            more, _ = self._get(mine, ["-n", question.namespace])
            return (
                [("kubectl get -A", data), (f"kubectl get -n {question.namespace}", more)]
                if data
                else [("kubectl get", more)]
            )
        return [("kubectl get", data)]

    def _get(self, resources: Sequence[str], where: Sequence[str]) -> tuple[bytes, set[str]]:
        """Return kubectl's output, and the resources that the user may not list. Raise BadInput if there is no output."""
        wanted, again = list(resources), False
        while True:
            done = self._run(["get", ",".join(wanted), *where, "-o", "json"], quiet=again)
            lines = done.stderr.decode(errors="replace").strip().split("\n")
            said = "\n".join([each for each in lines if not _LOGGED.match(each)] or lines)
            missing = {match["name"].partition(".")[0] for match in _NO_SUCH.finditer(said)}
            left = [each for each in wanted if each.partition(".")[0] not in missing]
            if not done.returncode or not missing or not left or len(left) == len(wanted):
                break
            wanted, again = left, True
            self._say(f"again without {', '.join(sorted(missing))}, which this cluster does not have")
        forbidden = {match["resource"] for match in _FORBIDDEN.finditer(said)}
        if not done.stdout.strip() or (done.returncode and not forbidden):
            raise BadInput(said or f"kubectl ended with status {done.returncode} and printed nothing")
        if said:
            self._say(said)
        return done.stdout, forbidden

    def open(self, arguments: Sequence[str]) -> subprocess.Popen[bytes]:
        """Start kubectl. Raise OSError if it is not installed."""
        return subprocess.Popen(  # noqa: S603
            [self._program, *arguments, *self._given],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def _run(self, arguments: Sequence[str], quiet: bool = False) -> subprocess.CompletedProcess[bytes]:
        if not quiet:
            self._say(f"$ {shlex.join([self._program, *arguments, *self._given])}")
        try:
            with self.open(arguments) as process:
                out, err = process.communicate()
            return subprocess.CompletedProcess(process.args, process.returncode, out, err)
        except OSError as error:
            raise BadInput(
                f"no input: name a file, pipe one in, or install kubectl to ask a cluster ({self._program}: {error.strerror})"
            ) from None


def is_namespaced(resource: str) -> bool:
    """Return True if a resource as kubectl names it (`deployments.apps`) is in namespaces."""
    return any(kind.resource == resource and kind.namespaced for kind in KINDS.values())

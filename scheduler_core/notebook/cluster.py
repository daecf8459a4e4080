"""Cluster: a simulated cluster with its scheduler, to change, step, and inspect."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import orjson
from msgspec import UNSET

from scheduler_core.analysis.capacity import Going, Help, find_going, find_help, price_nodes
from scheduler_core.analysis.whatif import finish, read_types, settle, types_of_nodes
from scheduler_core.base.releases import NEWEST, OLDEST, read_release
from scheduler_core.base.trace.records import Record
from scheduler_core.formats.export import ReadLog, continuation_of, export_lines
from scheduler_core.formats.indication import Indication, find_release
from scheduler_core.formats.manifests import NotObjects, read
from scheduler_core.formats.unsupported import notes
from scheduler_core.notebook.attempt import Attempt
from scheduler_core.notebook.cluster_html import cluster_html
from scheduler_core.notebook.history import History
from scheduler_core.world import simulation
from scheduler_core.world.commands import ApplyObjects, Command, DeleteObjects, Ref, SetConfiguration, SetSettings
from scheduler_core.world.readonly import LoadedObject, Place, load_manifests

MOST_STEPS = 1_000_000
_TRIED_AGAIN = (Place.BACKOFF, Place.UNSCHEDULABLE)  # even without an event, after some time


class ManifestBuilder(Protocol):
    """A builder of a manifest, such as make_pod returns."""

    def manifest(self) -> dict[str, Any]: ...


Object = Mapping[str, Any] | ManifestBuilder
Configuration = Mapping[str, Any] | str | Path | None
"""A KubeSchedulerConfiguration: a mapping, YAML text, the path of a file; None is kube's default."""


class Cluster:
    """A cluster and its kube-scheduler, on virtual time. Equal objects, configuration, and seed give equal decisions on any machine.

    ```python
    cluster = Cluster(make_node("a"), make_pod("web").requests(cpu="1"))
    attempt = cluster.schedule("web")
    attempt.node, attempt.scores
    ```
    """

    def __init__(
        self, *objects: Object, configuration: Configuration = None, seed: int = 0, release: str = NEWEST
    ) -> None:
        """Create a cluster. `release`: the release of kube-scheduler, such as "1.36". Raise ValueError if it is not modeled."""
        self._history = History(seed)
        if read_release(release) != OLDEST:
            self.apply(SetSettings({"release": read_release(release)}))
        if configuration is not None:
            self.configure(configuration)
        if objects:
            self.add(*objects)

    @classmethod
    def from_yaml(
        cls, text: str | bytes, configuration: Configuration = None, seed: int = 0, release: str = ""
    ) -> Cluster:
        """Create a cluster from manifests or the output of `kubectl get ... -o yaml` or `-o json`.

        Raise ValueError with the problem and its place. Objects that the API server would refuse are left out;
        `left_out` lists them with the reasons. `without_effect` lists what is loaded but changes nothing here.
        Without `release` the cluster has the release that the text indicates, else the newest; `release_why` says which.
        """
        data = text.encode() if isinstance(text, str) else text
        indication = Indication(read_release(release)) if release else find_release(data)
        made = cls(configuration=configuration, seed=seed, release=indication.release)
        made.release_why = f"kube {indication.release}" if release else indication.sentence
        made._bring(data)
        return made

    @classmethod
    def of_history(cls, history: History) -> Cluster:
        """Return a cluster with an existing history."""
        made = cls.__new__(cls)
        made._history = history
        return made

    release_why: str = ""

    @property
    def release(self) -> str:
        """The release of kube that the schedulers run."""
        return self._history.world.settings.release

    left_out: tuple[str, ...] = ()
    without_effect: tuple[str, ...] = ()
    """The loaded or added objects and fields without an effect here."""

    def _bring(self, data: bytes) -> None:
        world = self._history.world
        try:
            brought = read(data)
        except NotObjects as error:
            raise ValueError(str(error)) from None
        intake = simulation.take_in(world.store, world.now, [each.manifest for each in brought.objects])
        located = [
            LoadedObject(manifest, each.index, each.locate, each.file)
            for each, manifest in zip(brought.objects, intake.objects, strict=True)
        ]
        planned = simulation.plan_import(world.api, located)
        refused = tuple(str(error) for item in planned.items for error in item.errors)
        if not planned.accepted:
            raise ValueError("; ".join(refused) or "it contains no objects")
        self.left_out += refused
        going_on = continuation_of(brought.text)
        objects = tuple(simulation.in_creation_order(planned.accepted))
        stopped = simulation.list_silent_nodes(objects)
        self.apply(ApplyObjects(objects, continues=going_on or UNSET, stopped=stopped, taken=intake.taken or UNSET))
        self._note(objects)

    def _note(self, manifests: Sequence[Mapping[str, Any]]) -> None:
        self.without_effect = tuple(dict.fromkeys((*self.without_effect, *notes(manifests))))

    # Commands

    def apply(self, command: Command) -> list[Record]:
        """Apply a command of scheduler_core.world.commands. Raise Refused, without any change, if the command is invalid."""
        return self._history.apply(command)

    def add(self, *objects: Object) -> Cluster:
        """Create objects, or replace objects of the same names. Accepts builders and manifests."""
        manifests = tuple(_manifest(each) for each in objects)
        self.apply(ApplyObjects(manifests))
        self._note(manifests)
        return self

    def delete(self, kind: str, name: str, namespace: str | None = None) -> Cluster:
        """Delete an object, as kubectl delete does."""
        cluster_wide = kind in ("Node", "Namespace", "PersistentVolume", "PriorityClass", "StorageClass")
        namespace = namespace if namespace is not None else "" if cluster_wide else "default"
        self.apply(DeleteObjects((Ref(kind, namespace, name),)))
        return self

    def configure(self, configuration: Configuration) -> Cluster:
        """Restart the scheduler with a KubeSchedulerConfiguration."""
        self.apply(SetConfiguration(_configuration(configuration)))
        return self

    def schedule(self, pod: str) -> Attempt:
        """Run until the pod's next attempt ends, including its binding, and return it. Pods ahead of it in the queue run first.

        Raise KeyError for an unknown pod, and LookupError if the pod has a node or is not attempted.
        """
        key = _key(pod)
        found = self._history.world.store.pod_at(key)
        if found is None:
            raise KeyError(f"no pod {key} exists")
        if found.node_name:
            raise LookupError(f"{key} is already on {found.node_name}")
        known = len(self._of(key))
        for _ in range(MOST_STEPS):
            attempts = self._of(key)
            if len(attempts) > known and (not attempts[-1].node or attempts[-1].bound):
                return attempts[-1]
            if self._history.world.idle and self.place(key) not in _TRIED_AGAIN:
                break
            self._history.advance()
        raise LookupError(f"{key} is not attempted: {self.place(key) or 'no scheduler has this pod'}")

    def schedule_all(self) -> tuple[Attempt, ...]:
        """Run until the cluster is idle, and return the new attempts."""
        known = len(self._history.attempts)
        for _ in range(MOST_STEPS):
            if self._history.world.idle:
                break
            self._history.advance()
        return self.attempts[known:]

    def step(self, grain: str = "plugin") -> list[Record]:
        """Advance by one plugin, extension point (point), attempt (pod), or event. Return the records; none if the cluster is idle."""
        return self._history.step(simulation.Grain(grain))

    def fork(self) -> Cluster:
        """Return an independent copy of the cluster."""
        made = Cluster.of_history(self._history.fork())
        made.left_out, made.without_effect = self.left_out, self.without_effect
        return made

    # State

    @property
    def world(self) -> simulation.Simulation:
        """The world itself, which changes with the cluster."""
        return self._history.world

    @property
    def now(self) -> int:
        """Virtual time in nanoseconds since the cluster's start."""
        return self._history.world.now

    @property
    def position(self) -> int:
        """The number of transitions so far, which is also the number of the step in the studio."""
        return self._history.world.position

    @property
    def nodes(self) -> tuple[str, ...]:
        return tuple(node["metadata"]["name"] for node in self._history.world.store.list("Node"))

    @property
    def pods(self) -> Mapping[str, str]:
        """Each pod's node by namespace/name, or "" for a pending pod."""
        return {pod.key: pod.node_name for pod in self._history.world.store.pods()}

    @property
    def pending(self) -> tuple[str, ...]:
        return tuple(key for key, node in self.pods.items() if not node)

    @property
    def attempts(self) -> tuple[Attempt, ...]:
        """The attempts that have ended, oldest first."""
        return tuple(self._history.attempts[number] for number in sorted(self._history.attempts))

    def attempt(self, pod: str) -> Attempt:
        """Return a pod's last attempt. Raise LookupError if the pod has none."""
        attempts = self._of(_key(pod))
        if not attempts:
            raise LookupError(f"{_key(pod)} has not been attempted")
        return attempts[-1]

    def place(self, pod: str) -> str:
        """Return a pod's place: active, backoff, unschedulable, gated, bound, running ... (docs/queue.md)."""
        return self._history.world.journal.place(_key(pod))

    def _of(self, key: str) -> list[Attempt]:
        return [attempt for attempt in self.attempts if attempt.pod == key]

    def nodes_that_help(self, *pods: str, types: str = "") -> Help:
        """Return the cheapest nodes found, of existing types and of those in a YAML text, for pods that wait.

        `pods`: NS/NAME, or KIND/NS/NAME for those of a workload; none: all.
        """
        world = self._at_rest()
        named = [_key(pod) for pod in pods] if pods else None
        return finish(find_help(world, named, read_types(types, types_of_nodes(world.store))[0]))

    def nodes_that_can_go(self, types: str = "") -> Going:
        """Return the effect of removing each node on its pods, and the nodes that can be removed together. `types` may have prices."""
        world = self._at_rest()
        known = read_types(types, types_of_nodes(world.store))[0]
        return finish(find_going(world, price_nodes(world.store, {each.name: each for each in known})))

    def _at_rest(self) -> simulation.Simulation:
        world = self._history.world.fork()
        settle(world)
        return world

    def save(self, path: str | Path) -> Path:
        """Write the history as a trace, which the studio imports and `Session.from_trace` reads (docs/trace.md)."""
        world, path = self._history.world, Path(path)
        lines = export_lines(world.seed, self._history.log, world.position)
        path.write_bytes(b"".join(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE) for line in lines))
        return path

    def __repr__(self) -> str:
        pods = self.pods
        parts = f"{len(self.nodes)} nodes, {len(pods)} pods, {len(self.pending)} pending"
        return f"<Cluster of {parts}, kube {self.release}>"

    def _repr_html_(self) -> str:
        messages = {attempt.pod: attempt.message for attempt in self.attempts}
        return cluster_html(self._history.world, messages)


def load(*paths: str | Path, configuration: Configuration = None, seed: int = 0) -> Cluster:
    """Build a cluster from files as kubectl prints them (YAML, JSON, or an archive), or from manifests."""
    if not paths:
        raise ValueError("expected at least one file")
    first, *others = [Path(path).read_bytes() for path in paths]
    cluster = Cluster.from_yaml(first, configuration, seed)
    for data in others:
        cluster._bring(data)
    return cluster


def replay_trace(trace: ReadLog, position: int) -> Cluster:
    """Return a trace's cluster at a position."""
    history = History(trace.seed)
    history.go_to(trace, position)
    return Cluster.of_history(history)


def _manifest(each: Object) -> Mapping[str, Any]:
    return each if isinstance(each, Mapping) else each.manifest()


def _key(pod: str) -> str:
    return pod if "/" in pod else f"default/{pod}"


def _configuration(given: Configuration) -> Mapping[str, Any] | None:
    if given is None or isinstance(given, Mapping):
        return given
    text = given.read_text() if isinstance(given, Path) else given
    if "\n" not in text and not text.lstrip().startswith("{"):
        text = Path(text).read_text()
    manifests = [each.manifest for each in load_manifests(text)]
    if len(manifests) != 1 or not isinstance(manifests[0], Mapping):
        raise ValueError(f"received {len(manifests)} objects; expected one KubeSchedulerConfiguration")
    return manifests[0]

"""Runs a scenario of the worlds: creates its objects and applies its steps on the virtual clock. Every verb is a command."""

import json
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from scheduler_core.apimachinery.objects import InvalidObject, LabelSelector
from scheduler_core.apimachinery.objects.typed import convert_data
from scheduler_core.apiserver.status import Answer, Refused
from scheduler_core.controllers.kubelet.eviction.observations import capacity_of
from scheduler_core.controllers.kubelet.out_of_memory import oom_score_adj
from scheduler_core.scheduler.config.cluster import ClusterSettings
from scheduler_core.testing.conformance.worlds import compare
from scheduler_core.testing.conformance.worlds.compare import History, Item, target
from scheduler_core.testing.conformance.worlds.paths import look_up, of_apiserver, of_controller_manager
from scheduler_core.testing.differences import Difference
from scheduler_core.world import commands
from scheduler_core.world.commands import DEFAULT_SCHEDULER_NAME, Command, SetConfiguration, command_from_json
from scheduler_core.world.simulation import Simulation

_MOST_TRANSITIONS = 200_000
_CREATED = ("create", "evict", "bind")


class NotSupported(Exception):
    """An error of a scenario that needs an unmodeled feature, which the text names."""


def run_world(scenario: Mapping[str, Any]) -> Difference | None:
    """Run a scenario up to its first difference. Raise NotSupported."""
    return _Run(scenario).difference()


class _Run:
    def __init__(self, scenario: Mapping[str, Any]) -> None:
        self.scenario = scenario
        settings = scenario.get("settings") or {}
        self.sim = Simulation()
        self.drains: list[tuple[str, Item]] = []
        # The cluster's settings of a scenario. NotSupported where a flag is not known.
        kubelet = dict(settings.get("kubelet") or {})
        per_node = kubelet.pop("perNode", {})
        cluster = {
            "apiserver": of_apiserver(settings.get("apiserver") or {}),
            "controller_manager": of_controller_manager(settings.get("controllerManager") or {}),
            "kubelet": kubelet,
            "kubelets": per_node,
            "controllers": settings.get("controllers"),
            "provisioners": settings.get("provisioners") or [],
        }
        try:
            convert_data(cluster, ClusterSettings)
        except InvalidObject as problem:
            raise NotSupported(f"settings: {problem}") from problem
        self._apply(commands.SetSettings({"cluster": cluster}))
        if settings.get("scheduler") is False:
            self.sim.change(lambda: self.sim.stop_scheduler(DEFAULT_SCHEDULER_NAME))
        elif settings.get("scheduler"):
            self._apply(SetConfiguration(settings["scheduler"]))
        if scenario.get("programs"):
            self._apply(_command("SetPrograms", rules=scenario["programs"]))
        if scenario.get("usage"):
            self._apply(_command("SetUsage", entries=scenario["usage"]))
        items = [item for step in scenario["steps"] for item in step.get("expect") or ()]
        self.temporal = compare.temporal_items(items)
        self.history = {id(item): History() for item in self.temporal}

    def difference(self) -> Difference | None:
        for manifest in self.scenario["objects"]:
            try:
                self._apply(commands.ApplyObjects((self._resolve(manifest),)))
            except Refused as refused:
                return compare.differ(-1, "0s", f"{manifest['kind']} is created", str(refused))
        self._sample()
        for number, step in enumerate(self.scenario["steps"]):
            # Lets all happen that is due up to a time, and sets the clock to it.
            until = compare.seconds(step["at"])
            if until > self.sim.now:
                for _ in range(_MOST_TRANSITIONS):
                    if not self.sim.due(until):
                        break
                    self.sim.advance()
                    self._sample()
                else:
                    raise RuntimeError(f"more than {_MOST_TRANSITIONS} transitions up to {until} ns")
                self.sim.agenda.now = until
            problem = self._check_drains(step) or (self._act(step) if "do" in step else None)
            if problem is not None:
                return compare.differ(number, step["at"], *problem)
            for i, item in enumerate(step.get("expect") or ()):
                received = compare.judge(self, item, self.history)
                if received:
                    return compare.differ(number, step["at"], json.dumps(item), received, i)
        return None

    # time

    def _sample(self) -> None:
        for item in self.temporal:
            self.history[id(item)].note(self.sim.now, compare.find_difference(self, item) == "")

    def _apply(self, command: Command) -> None:
        self.sim.apply(command)

    # what is done

    def _act(self, step: Item) -> tuple[str, str] | None:
        (verb,) = step["do"]
        if verb not in _VERBS:
            raise NotSupported(f"verb {verb}")
        answer = Answer()
        try:
            command = _VERBS[verb](self, step["do"][verb])
            if step.get("as"):
                command = command_from_json({**msgspec.to_builtins(command), "user": step["as"]})
            self._apply(command)
        except Refused as refused:
            answer = refused.answer
            texts = [answer.message, *answer.causes, *map(str, refused.errors)]
        else:
            texts = []
        self._sample()
        if verb == "drain" and answer.ok:
            self.drains.append((step["do"][verb]["node"], step.get("answer") or {}))
            return None
        return _unlike(step.get("answer") or {}, verb, answer, texts)

    def _check_drains(self, step: Item) -> tuple[str, str] | None:
        """Return the first unexpected answer of a drain; answers are checked only before a step that expects something."""
        drains, self.drains = (self.drains, []) if "expect" in step else ([], self.drains)
        for node, wanted in drains:
            drain = self.sim.surroundings.nodes.drains[node]
            said = "it goes on" if drain.ended is None else drain.outcome
            answer = Answer(message=said, status=500) if said else Answer()
            problem = _unlike(wanted, "drain", answer, [said])
            if problem is not None:
                return problem
        return None

    def patch(self, given: Item) -> Command:
        more = {name: given[name] for name in ("type", "subresource") if name in given}
        ref = self._refs(given["object"])[0]
        return _command("PatchObject", ref=ref, patch=self._resolve(given["patch"]), **more)

    def delete(self, given: Item) -> Command:
        names = {"gracePeriodSeconds": "grace_period_seconds", "propagationPolicy": "propagation_policy"}
        more = {ours: given[theirs] for theirs, ours in names.items() if theirs in given}
        return _command("DeleteObjects", refs=self._refs(given["object"]), **more)

    def evict(self, given: Item) -> Command:
        pod = given["pod"] if isinstance(given["pod"], str) else self._first(given["pod"])
        options = given.get("deleteOptions") or {}
        grace = options.get("gracePeriodSeconds")
        dry_run = bool(given.get("dryRun") or options.get("dryRun"))
        wanted = self._resolve(options.get("preconditions") or {})
        return _command(
            "EvictPod",
            pod=pod,
            grace_period_seconds=grace,
            dry_run=dry_run,
            uid=wanted.get("uid") or "",
            resource_version=wanted.get("resourceVersion") or "",
        )

    def drain(self, given: Item) -> Command:
        return _command(
            "DrainNode",
            node=given["node"],
            ignore_daemon_sets=bool(given.get("ignoreDaemonSets")),
            force=bool(given.get("force")),
            delete_empty_dir_data=bool(given.get("deleteEmptyDirData")),
            grace_period_seconds=given.get("gracePeriodSeconds"),
        )

    def start_scheduler(self, given: Item) -> Command:
        return _command(
            "StartScheduler",
            name=given["name"],
            configuration=given.get("configuration"),
            clock_offset=compare.seconds(given.get("clockOffset") or "0s"),
        )

    # objects

    def _node(self, given: Any) -> str:
        if isinstance(given, str):
            return given
        key = given["nodeOf"] if isinstance(given["nodeOf"], str) else self._first(given["nodeOf"])
        pod = self.sim.store.pod_at(key.removeprefix("Pod/"))
        return "" if pod is None else pod.node_name

    def _first(self, selection: Item) -> str:
        """Return the key of the first pod of a selection, or a key without a pod if the selection is empty."""
        return next(iter(self._select(selection)), "default/")

    def _select(self, selection: Item) -> list[str]:
        """Keys of the pods of a selection, by name."""
        selector = LabelSelector.of(compare.selector_of(selection.get("labelSelector")))
        return [
            pod.key
            for pod in self.sim.store.pods()
            if pod.namespace == "default"
            and not pod.deleting
            and selector.matches(pod.labels)
            and all(
                compare.holds(look_up(pod.manifest, path), value)
                for path, value in (selection.get("where") or {}).items()
            )
        ]

    def _refs(self, given: Any) -> list[dict[str, str]]:
        if isinstance(given, str):
            kind, namespace, name = target(given)
            return [{"kind": compare.key_of(self.sim, kind), "namespace": namespace, "name": name}]
        keys = [key.split("/", 1) for key in self._select(given)]
        return [{"kind": "Pod", "namespace": namespace, "name": name} for namespace, name in keys]

    def _resolve(self, value: Any) -> Any:
        """Replace {"uidOf": ...} with the UID of the object."""
        if isinstance(value, Mapping):
            if set(value) == {"uidOf"}:
                manifest = compare.get(self.sim, value["uidOf"])
                return manifest["metadata"]["uid"] if manifest else ""
            return {key: self._resolve(inner) for key, inner in value.items()}
        return [self._resolve(inner) for inner in value] if isinstance(value, list) else value

    # what expectations ask for

    def oom_score_adj(self, pod: str, container: str) -> int | None:
        found = self.sim.store.pod_at(pod)
        node = None if found is None else self.sim.store.node(found.node_name)
        if found is None or node is None:
            return None
        try:
            return oom_score_adj(found, container, capacity_of(node, "memory"))
        except KeyError:
            return None

    def scheduler_runs(self, name: str) -> bool:
        return any(scheduler.name == name for scheduler in self.sim.schedulers)


_VERBS: Mapping[str, Callable[[_Run, Any], Command]] = {
    "create": lambda run, manifest: _command("CreateObject", manifest=run._resolve(manifest)),
    "patch": _Run.patch,
    "delete": _Run.delete,
    "scale": lambda run, to: _command("ScaleObject", ref=run._refs(to["object"])[0], replicas=to["replicas"]),
    "evict": _Run.evict,
    "bind": lambda _, given: _command("BindPod", pod=given["pod"], node=given["node"]),
    "drain": _Run.drain,
    "stopKubelet": lambda run, node: _command("SetKubelet", node=run._node(node), running=False),
    "startKubelet": lambda run, node: _command("SetKubelet", node=run._node(node), running=True),
    "reportCondition": lambda _, given: _command("ReportCondition", **given),
    "startScheduler": _Run.start_scheduler,
    "stopScheduler": lambda _, it: _command("StopScheduler", name=it["name"], signal=it.get("signal") or "SIGTERM"),
    "partition": lambda _, given: _command("PartitionScheduler", name=_name(given), partitioned=True),
    "heal": lambda _, given: _command("PartitionScheduler", name=_name(given), partitioned=False),
}


def _name(given: Any) -> str:
    return given if isinstance(given, str) else str(given.get("scheduler") or given["name"])


def _command(kind: str, **fields: Any) -> Command:
    if kind not in commands.KINDS:
        raise NotSupported(f"command {kind}")
    return command_from_json({"kind": kind, **fields})


def _unlike(wanted: Item, verb: str, answer: Answer, texts: list[str]) -> tuple[str, str] | None:
    """Return the expected and the received answer if they differ, else None."""
    code = (201 if verb in _CREATED else 200) if answer.ok else answer.code
    received = f"{code} {answer.reason}: {answer.message}".rstrip(": ")
    fine = (
        wanted.get("code", code) == code
        and wanted.get("reason", answer.reason) == answer.reason
        and wanted.get("refused", not answer.ok) is (not answer.ok)
        and all(any(text in said for said in texts) for text in wanted.get("messageContains") or ())
        and all(any(cause in said for said in texts) for cause in wanted.get("causes") or ())
    )
    return None if fine else (f"the answer {json.dumps(wanted)}", received)

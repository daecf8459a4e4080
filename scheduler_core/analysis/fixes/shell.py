"""The shell of proofs: a fix's printed calls are parsed, and carried out on a fork as kubectl carries them out.

Each call becomes requests to the API server. A waiting call (delete, replace --force) ends before the next one begins.
"""

import copy
import json
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

from scheduler_core.apimachinery.dra.claims import FINALIZER, KIND
from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apimachinery.objects.storage.volumes import CLAIM, VOLUME, name_of, volume_name
from scheduler_core.apiserver.kinds import KINDS
from scheduler_core.apiserver.registry.strategies import apply_patch
from scheduler_core.scheduler.plugins.helper.fixes import OF_CONTROLLERS
from scheduler_core.world import commands
from scheduler_core.world.simulation import Simulation

_HEREDOC = " <<'EOF'"
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
WEBHOOKS = ("ValidatingWebhookConfiguration", "MutatingWebhookConfiguration")
_SHORT = {
    "po": "Pod",
    "no": "Node",
    "deploy": "Deployment",
    "rs": "ReplicaSet",
    "sts": "StatefulSet",
    "ds": "DaemonSet",
}
KINDS_BY_WORD = {
    **{kind.partition(".")[0].lower(): kind for kind in KINDS},
    **{kind.plural: name for name, kind in KINDS.items()},
    **_SHORT,
}
_FLAGS = {"-n": "namespace", "-p": "patch", "-c": "container", "-f": "filename", "-l": "selector"}
_REVISION = "deployment.kubernetes.io/revision"
_CORDON = "node.kubernetes.io/unschedulable"


@dataclass(frozen=True, slots=True)
class Call:
    """One call: its words, its flags, and the objects on its standard input."""

    words: tuple[str, ...]
    flags: Mapping[str, str] = field(default_factory=dict)
    objects: tuple[Manifest, ...] = ()

    @property
    def refs(self) -> tuple[commands.Ref, ...]:
        """The objects that `KIND NAME...` names, or those of the standard input."""
        if self.words[0] == "cat":  # a file of the scheduler's, no object
            return ()
        if self.objects:
            return tuple(_ref(each) for each in self.objects if "metadata" in each)  # a configuration has none
        kind = KINDS_BY_WORD.get(self.words[1]) or KINDS_BY_WORD.get(
            self.words[1].partition(".")[0].lower(), self.words[1]
        )
        namespaced = kind in KINDS and KINDS[kind].namespaced
        namespace = self.flags.get("namespace", "default") if namespaced else ""
        return tuple(commands.Ref(kind, namespace, name) for name in self.words[2:] if not _is_pair(name))

    @property
    def waits(self) -> bool:
        """Return whether kubectl returns only after its deletions are finished."""
        return self.flags.get("wait") != "false"


def read_calls(text: str) -> Iterator[Call]:
    """Yield the calls in a fix's printed text."""
    lines = iter(text.splitlines())
    for line in lines:
        body: list[str] = []
        if line.endswith(_HEREDOC):
            line = line.removesuffix(_HEREDOC)
            for each in lines:
                if each == "EOF":
                    break
                body.append(each)
        if line.strip() and not line.startswith("#"):
            yield _read_call(line, "\n".join(body))


def _read_call(line: str, body: str) -> Call:
    objects = tuple(yaml.load_all(body, Loader=_LOADER)) if body else ()
    given = shlex.split(line, comments=True)
    if given[0] == "cat":
        return Call(("cat", given[2].removesuffix(".yaml")), {}, objects)
    if given[0] != "kubectl":
        raise ValueError(f"received {given[0]}, expected kubectl")
    words, flags = [], {}
    rest = iter(given[1:])
    for each in rest:
        if each in _FLAGS:
            flags[_FLAGS[each]] = next(rest)
        elif each.startswith("--"):
            name, _, value = each.removeprefix("--").partition("=")
            flags[name] = value
        else:
            words.append(each)
    if flags.get("filename", "-") != "-":
        raise ValueError("expected -f - with the manifests in a heredoc")
    pair = " ".join(words[:2])
    verb = pair if pair in _VERBS else words[0]
    kind, *names = words[len(verb.split()) :] or [""]
    return Call((verb, *kind.split("/", 1), *names) if kind else (verb,), flags, objects)


def _ref(manifest: Manifest) -> commands.Ref:
    kind, meta = manifest["kind"], manifest["metadata"]
    namespaced = KINDS[kind].namespaced if kind in KINDS else "namespace" in meta
    return commands.Ref(kind, str(meta.get("namespace") or "default") if namespaced else "", meta["name"])


def _is_pair(word: str) -> bool:
    return "=" in word or word.endswith("-")


def run_call(world: Simulation, call: Call) -> Iterator[tuple[commands.Command, tuple[commands.Ref, ...]]]:
    """Yield a call's requests, each with the objects that must be gone before the next one. Raise Refused if kubectl would fail."""
    made = _VERBS.get(call.words[0])
    if made is None:
        raise commands.refuse("command", call.words[0], "one of " + ", ".join(_VERBS))
    yield from made(world, call)


Requests = Iterator[tuple[commands.Command, tuple[commands.Ref, ...]]]


def _found(world: Simulation, ref: commands.Ref) -> Manifest:
    manifest = world.store.get(ref.kind, ref.namespace, ref.name)
    if manifest is None:
        raise commands.refuse("name", f"{ref.kind} {ref.name}", "an object that exists")
    return manifest


def _apply(world: Simulation, call: Call) -> Requests:
    """Yield the requests that create new objects, or that set an existing object's fields in the text. No field is removed."""
    for each, ref in zip(call.objects, call.refs, strict=True):
        if world.store.get(ref.kind, ref.namespace, ref.name) is None:
            yield commands.ApplyObjects((each,)), ()
        else:
            yield commands.PatchObject(ref, {k: v for k, v in each.items() if k != "status"}, type="strategic"), ()


def _replace(world: Simulation, call: Call) -> Requests:
    there = [r for r in call.refs if world.store.get(r.kind, r.namespace, r.name) is not None]
    if there:
        yield commands.DeleteObjects(tuple(there), propagation_policy="Background"), tuple(there)
    yield commands.ApplyObjects(call.objects), ()


def _delete(world: Simulation, call: Call) -> Requests:
    refs = call.refs
    options: dict[str, Any] = {"propagation_policy": "Background"}  # kubectl's; the server would leave a Job's pods
    if "grace-period" in call.flags:
        options["grace_period_seconds"] = int(call.flags["grace-period"])
    if "cascade" in call.flags:
        options["propagation_policy"] = call.flags["cascade"].capitalize()
    yield commands.DeleteObjects(refs, **options), refs if call.waits else ()


def _patch(world: Simulation, call: Call) -> Requests:
    options = {"subresource": call.flags["subresource"]} if "subresource" in call.flags else {}
    kind: Any = call.flags.get("type", "strategic")
    for ref in call.refs:
        yield commands.PatchObject(ref, json.loads(call.flags["patch"]), type=kind, **options), ()


def _scale(world: Simulation, call: Call) -> Requests:
    for ref in call.refs:
        yield commands.ScaleObject(ref, int(call.flags["replicas"])), ()


def _set_resources(world: Simulation, call: Call) -> Requests:
    """Yield the request that sets single amounts. Amounts that are not named stay, limits included."""
    (ref,) = call.refs
    patch = _build_amounts(_found(world, ref)["spec"]["template"]["spec"], call)
    yield commands.PatchObject(ref, {"spec": {"template": {"spec": patch}}}, type="strategic"), ()


def _build_amounts(spec: Manifest, call: Call) -> Manifest:
    given = {
        part: dict(each.split("=", 1) for each in call.flags[part].split(","))
        for part in ("requests", "limits")
        if part in call.flags
    }
    patch = {
        name: [
            {"name": each["name"], "resources": given}
            for each in spec.get(name) or ()
            if each["name"] == call.flags["container"]
        ]
        for name in ("containers", "initContainers")
    }
    patch = {name: each for name, each in patch.items() if each}
    if not patch:
        raise commands.refuse("container", call.flags["container"], f"a container of {call.words[2]}")
    return patch


def change_template(pod: Manifest, call: Call) -> Manifest:
    """Return a pod with the changes that `kubectl patch` or `set resources` makes to a workload's template."""
    if call.words[0] == "patch":
        patch, how = json.loads(call.flags["patch"])["spec"]["template"], call.flags.get("type", "strategic")
    else:
        patch, how = {"spec": _build_amounts(pod["spec"], call)}, "strategic"
    made: Manifest = apply_patch(KINDS["Pod"], pod, patch, how)
    return made


def _resume(world: Simulation, call: Call) -> Requests:
    for ref in call.refs:
        yield commands.PatchObject(ref, {"spec": {"paused": None}}, type="merge"), ()


def _undo(world: Simulation, call: Call) -> Requests:
    """Yield the requests that restore the previous revision's template, without the label pod-template-hash."""
    for ref in call.refs:
        deployment = _found(world, ref)
        keys = world.store.controlled("ReplicaSet", str(deployment["metadata"]["uid"]))
        sets = [found for key in keys if (found := world.store.get("ReplicaSet", *key)) is not None]
        sets.sort(key=lambda each: int((each["metadata"].get("annotations") or {}).get(_REVISION, 0)))
        if len(sets) < 2:
            raise commands.refuse("revision", "undo", f"an older revision of {ref.name}")
        template = copy.deepcopy(dict(sets[-2]["spec"]["template"]))
        template["metadata"]["labels"].pop("pod-template-hash", None)
        yield commands.ApplyObjects(({**deployment, "spec": {**deployment["spec"], "template": template}},)), ()


def _metadata(section: str) -> Callable[[Simulation, Call], Requests]:
    def set_pairs(world: Simulation, call: Call) -> Requests:
        pairs: dict[str, str | None] = {}
        for word in filter(_is_pair, call.words[2:]):
            key, equals, value = word.partition("=")
            pairs[key if equals else word.removesuffix("-")] = value if equals else None
        for ref in call.refs:
            yield commands.PatchObject(ref, {"metadata": {section: pairs}}, type="merge"), ()

    return set_pairs


def _taint(world: Simulation, call: Call) -> Requests:
    ref = commands.Ref("Node", "", call.words[2])
    taints = list((_found(world, ref).get("spec") or {}).get("taints") or ())
    for word in call.words[3:]:
        pair, _, effect = word.removesuffix("-").rpartition(":")
        key, _, value = pair.partition("=")
        left = [each for each in taints if (each["key"], each["effect"]) != (key, effect)]
        if not word.endswith("-"):
            left.append({"key": key, "effect": effect, **({"value": value} if value else {})})
        elif len(left) == len(taints):
            raise commands.refuse("taint", word, f"a taint of {ref.name}")
        taints = left
    yield commands.PatchObject(ref, {"spec": {"taints": taints or None}}, type="merge"), ()


def _cordon(unschedulable: bool) -> Callable[[Simulation, Call], Requests]:
    def cordon(world: Simulation, call: Call) -> Requests:
        spec = {"unschedulable": unschedulable or None}
        yield commands.PatchObject(commands.Ref("Node", "", call.words[1]), {"spec": spec}, type="merge"), ()

    return cordon


def _drain(world: Simulation, call: Call) -> Requests:
    flags = call.flags
    yield (
        commands.DrainNode(
            call.words[1], "ignore-daemonsets" in flags, "force" in flags, None, "delete-emptydir-data" in flags
        ),
        (),
    )


def _mend(world: Simulation, call: Call) -> Requests:
    """Yield the requests that repair a node, for which `describe node` stands: its kubelet runs, and reports a healthy node."""
    ref = commands.Ref("Node", "", call.words[2])
    node = _found(world, ref)
    if ref.name in world.surroundings.inputs.stopped:
        yield commands.SetKubelet(ref.name, running=True), ()
    now = {"lastTransitionTime": world.store.timestamp(world.now)}
    conditions = [
        {**each, **now, "status": "True" if each.get("type") == "Ready" else "False"}
        for each in (node.get("status") or {}).get("conditions") or ()
    ]
    yield commands.PatchObject(ref, {"status": {"conditions": conditions}}, type="merge", subresource="status"), ()
    taints = (node.get("spec") or {}).get("taints") or ()
    left = [each for each in taints if each["key"] == _CORDON or not each["key"].startswith(OF_CONTROLLERS)]
    yield commands.PatchObject(ref, {"spec": {"taints": left or None}}, type="merge"), ()


def _wait(world: Simulation, call: Call) -> Requests:
    """Yield no requests."""
    yield from ()


def is_met(world: Simulation, call: Call) -> bool:
    """Return whether the quota of a `kubectl wait` has its spec's limits in its status. Return True for all other calls."""
    refs = [ref for ref in call.refs if ref.kind == "ResourceQuota"] if call.words[0] == "wait" else []
    return all(each["status"]["hard"] == each["spec"]["hard"] for each in (_found(world, ref) for ref in refs))


def _configure(world: Simulation, call: Call) -> Requests:
    yield commands.SetConfiguration(call.objects[0], call.words[1]), ()


_VERBS: Mapping[str, Callable[[Simulation, Call], Requests]] = {
    "apply": _apply,
    "replace": _replace,
    "delete": _delete,
    "patch": _patch,
    "scale": _scale,
    "set resources": _set_resources,
    "rollout resume": _resume,
    "rollout undo": _undo,
    "label": _metadata("labels"),
    "annotate": _metadata("annotations"),
    "taint": _taint,
    "cordon": _cordon(True),
    "uncordon": _cordon(False),
    "drain": _drain,
    "describe": _mend,
    "wait": _wait,
    "get": _wait,
    "cat": _configure,
}

# Controllers that a proof starts

VOLUMES = (
    "persistentvolume-binder-controller",
    "csi-provisioner",
    "persistentvolumeclaim-protection-controller",
    "persistentvolume-protection-controller",
    "ephemeral-volume-controller",
)
CLAIMS = ("resourceclaim-controller",)


def start_controllers(world: Simulation, more: Iterable[str], makers: Iterable[tuple[str, str]] = ()) -> None:
    """Start these controllers, too, and `makers` for one object each: other objects may have lost their pods in the dump."""
    running = world.settings.cluster.controllers
    if running is None:
        return
    acting = dict.fromkeys((*running, *more))
    names = list({**acting, **dict.fromkeys(name for name, _ in makers)})
    if names != list(running):
        world.apply(commands.SetSettings({"cluster": {"controllers": names}}))
    for controller in (world.controller(name) for name in names if name not in acting):
        for key in [key for key in controller.queue(world).due if (controller.name, key) not in makers]:
            controller.forget(world, key)
    if VOLUMES[0] in more:
        complete_references(world)
    if CLAIMS[0] in more:
        for claim in world.store.list(KIND):
            held = list(claim["metadata"].get("finalizers") or ())
            if (claim.get("status") or {}).get("allocation") and FINALIZER not in held:
                ref = commands.Ref(KIND, claim["metadata"]["namespace"], claim["metadata"]["name"])
                world.apply(commands.PatchObject(ref, {"metadata": {"finalizers": [*held, FINALIZER]}}, type="merge"))


def complete_references(world: Simulation) -> None:
    """Write the uids of bound claims into their volumes. Without uids, as in some dumps, the binder would treat the claims as lost."""
    for volume in world.store.list(VOLUME):
        reference = (volume.get("spec") or {}).get("claimRef") or {}
        claim = world.store.get(CLAIM, str(reference.get("namespace") or ""), str(reference.get("name") or ""))
        if claim is not None and not reference.get("uid") and volume_name(claim) == name_of(volume):
            named = {**reference, "uid": claim["metadata"]["uid"]}
            world.store.replace({**volume, "spec": {**volume["spec"], "claimRef": named}}, VOLUME)

"""An import: its sources, and its plan, which describes the outcome for each object before the import."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from scheduler_core.apimachinery.objects import FieldError, LabelSelector, Manifest
from scheduler_core.apimachinery.objects.names import read_words
from scheduler_core.apimachinery.objects.pod import TERMINAL_PHASES
from scheduler_core.apiserver.kinds import KINDS, find_kind
from scheduler_core.apiserver.store import Store

# Objects that an import refers to and that are missing: owners, claims, volumes, classes, nodes, the pods of a budget.
#
# References are resolved in the cluster after the import. Each finding has the kubectl command that gets the objects.

Target = tuple[str, str, str]  # kind, namespace, name
NAMED = 5  # the most names in a command; for more, the command gets all objects of the kind

# All kinds that affect scheduling or the set of pods, referenced ones first.
DECIDING = read_words("""
    Namespace Node PriorityClass RuntimeClass StorageClass CSINode CSIDriver CSIStorageCapacity VolumeAttachment
    PersistentVolume PersistentVolumeClaim DeviceClass ResourceSlice DeviceTaintRule ResourceClaimTemplate
    ResourceClaim ResourceQuota LimitRange PodDisruptionBudget Service Deployment ReplicaSet ReplicationController
    StatefulSet DaemonSet CronJob Job Pod
""")


@dataclass(frozen=True, slots=True)
class MissingReference:
    """Missing objects of a kind. `of` is the first object that refers to them, of `count`."""

    kind: str
    names: tuple[str, ...]
    of: str
    count: int
    command: str


def snapshot_command() -> str:
    """Return sh code that prints all deciding kinds, one call each: kubectl prints nothing if one of several is absent."""
    kinds = " ".join(KINDS[kind].resource for kind in DECIDING)
    return f"for kind in {kinds}; do\n  echo ---; kubectl get $kind -A -o yaml\ndone > cluster.yaml"


def missing(store: Store, manifests: Iterable[Manifest]) -> tuple[MissingReference, ...]:
    """Return the objects that these manifests refer to and that are absent after the import."""
    found: dict[str, dict[Target, None]] = {}
    referring: dict[str, dict[str, None]] = {}
    for manifest in manifests:
        for target in _list_references(store, manifest):
            if not _is_there(store, target):
                found.setdefault(target[0], {})[target] = None
                referring.setdefault(target[0], {})[_name(manifest)] = None
    return tuple(
        MissingReference(
            kind,
            tuple("/".join(part for part in target[1:] if part) for target in sorted(targets)),
            next(iter(referring[kind])),
            len(referring[kind]),
            _command(kind, sorted(targets)),
        )
        for kind, targets in sorted(found.items())
    )


def _is_there(store: Store, target: Target) -> bool:
    kind, namespace, name = target
    return bool(name) and store.get(kind, namespace, name) is not None


def _name(manifest: Manifest) -> str:
    meta = manifest["metadata"]
    return "/".join(str(meta[part]) for part in ("namespace", "name") if meta.get(part))


def _command(kind: str, targets: list[Target]) -> str:
    found = KINDS.get(kind)
    resource = found.resource if found is not None else kind.lower()
    namespaces = {target[1] for target in targets}
    names = [target[2] for target in targets]
    if len(names) > NAMED or len(namespaces) > 1 or not all(names):
        where = "" if namespaces == {""} else f" -n {targets[0][1]}" if len(namespaces) == 1 else " -A"
        return f"kubectl get {resource}{where} -o yaml"
    where = f" -n {targets[0][1]}" if targets[0][1] else ""
    return f"kubectl get {resource} {' '.join(names)}{where} -o yaml"


def _list_references(store: Store, manifest: Manifest) -> Iterator[Target]:
    meta, kind = manifest.get("metadata") or {}, manifest.get("kind")
    namespace = str(meta.get("namespace") or "default")
    for owner in meta.get("ownerReferences") or ():
        yield from _owner(owner, namespace)
    spec = manifest.get("spec")
    if not isinstance(spec, Mapping):
        return
    if kind == "Pod":
        yield from _of_pod(spec, namespace)
    elif kind == "PersistentVolumeClaim":
        yield from _some("StorageClass", "", spec.get("storageClassName"))
        yield from _some("PersistentVolume", "", spec.get("volumeName"))
    elif kind == "ResourceClaim":
        for request in (spec.get("devices") or {}).get("requests") or ():
            yield from _some("DeviceClass", "", (request.get("exactly") or request).get("deviceClassName"))
    elif kind == "PodDisruptionBudget" and not _has_pods(store, spec, namespace):
        yield "Pod", namespace, ""


def _of_pod(spec: Manifest, namespace: str) -> Iterator[Target]:
    yield from _some("Node", "", spec.get("nodeName"))
    yield from _some("PriorityClass", "", spec.get("priorityClassName"))
    for volume in spec.get("volumes") or ():
        claim = volume.get("persistentVolumeClaim") or {}
        yield from _some("PersistentVolumeClaim", namespace, claim.get("claimName"))
    for claim in spec.get("resourceClaims") or ():
        yield from _some("ResourceClaim", namespace, claim.get("resourceClaimName"))
        yield from _some("ResourceClaimTemplate", namespace, claim.get("resourceClaimTemplateName"))


def _owner(owner: Manifest, namespace: str) -> Iterator[Target]:
    kind = find_kind(str(owner.get("apiVersion") or ""), str(owner.get("kind") or ""))
    if kind is not None and owner.get("name"):
        yield kind.key, namespace if kind.namespaced else "", str(owner["name"])


def _some(kind: str, namespace: str, name: object) -> Iterator[Target]:
    if isinstance(name, str) and name:
        yield kind, namespace, name


def _has_pods(store: Store, spec: Manifest, namespace: str) -> bool:
    selector = LabelSelector.of(spec.get("selector"))
    return any(selector.matches(pod.labels) for pod in store.pods() if pod.namespace == namespace)


Locate = Callable[[str], tuple[int, int] | None]
CREATED, CHANGED, UNCHANGED, IGNORED, REFUSED = "created", "changed", "unchanged", "ignored", "refused"


class LocatedManifest(Protocol):
    """A manifest from a text, such as loading.Loaded."""

    @property
    def manifest(self) -> Any: ...

    @property
    def locate(self) -> Locate: ...


@dataclass(frozen=True, slots=True)
class Item:
    """One object of the import. `changed` are the paths that differ."""

    action: str
    kind: str
    namespace: str
    name: str
    index: int
    manifest: Manifest
    changed: tuple[str, ...] = ()
    reason: str = ""
    errors: tuple[FieldError, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """The outcome for each object. `missing`: objects that others refer to and that the cluster does not have."""

    items: tuple[Item, ...] = ()
    warnings: tuple[str, ...] = ()
    missing: tuple[MissingReference, ...] = ()

    @property
    def accepted(self) -> list[Manifest]:
        """The submitted manifests that would change something, for the command that applies the import."""
        return [item.manifest for item in self.items if item.action in (CREATED, CHANGED)]


@dataclass(slots=True)
class Source:
    """A manifest of the import, and its place in the text."""

    manifest: Any
    index: int
    locate: Locate | None = None
    file: str = ""


def source_of(index: int, source: Any) -> Source:
    """Return a source of an import with its place in the text."""
    if isinstance(source, Mapping) or not hasattr(source, "locate"):
        return Source(source, index)
    return Source(source.manifest, index, source.locate, file=getattr(source, "file", ""))


def notes(store: Store, items: tuple[Item, ...]) -> list[str]:
    """Return notes on accepted objects: pods of absent nodes, pods that have ended."""
    nodes = {item.name for item in items if item.kind == "Node" and item.action != REFUSED}
    absent: dict[str, int] = {}
    ended = 0
    for item in items:
        if item.kind != "Pod" or item.action not in (CREATED, CHANGED):
            continue
        node = (item.manifest.get("spec") or {}).get("nodeName")
        if node and node not in nodes and store.node(node) is None:
            absent[node] = absent.get(node, 0) + 1
        ended += (item.manifest.get("status") or {}).get("phase") in TERMINAL_PHASES
    said = [
        f'node "{name}" is not in the cluster: {_pods(count)} bound to it' for name, count in sorted(absent.items())
    ]
    if ended:
        which = "1 pod has" if ended == 1 else f"{ended} pods have"
        said.append(f"{which} terminated (Succeeded or Failed): kept, but not scheduled")
    return said


def _pods(count: int) -> str:
    return f"{count} pod is" if count == 1 else f"{count} pods are"

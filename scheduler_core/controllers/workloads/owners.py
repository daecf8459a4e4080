"""Owners and their objects: references, adoption, and release.

kube: pkg/controller/controller_ref_manager.go @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scheduler_core.apimachinery.objects import Manifest, Pod, controller_of, controller_reference
from scheduler_core.apimachinery.objects.labels import Labels, LabelSelector
from scheduler_core.apimachinery.objects.spec import canonical
from scheduler_core.apiserver import Refused, WatchEvent
from scheduler_core.apiserver.workload_defaults import apply_workload_defaults
from scheduler_core.controllers.contract import World
from scheduler_core.controllers.memory.workloads import Selectors

# Numbers or percentages, and hashes of templates.
# kube: apimachinery/pkg/util/intstr/intstr.go, pkg/controller/controller_utils.go (ComputeHash) @ v1.34.1

_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"  # kube's, which spells no words
_OFFSET, _PRIME = 2166136261, 16777619


def resolve_percentage(value: int | str | None, total: int, up: bool) -> int:
    """Return a number, or that percentage of a total, rounded up or down; 0 for None and for invalid values."""
    if value is None or isinstance(value, int):
        return value or 0
    number = value.removesuffix("%")
    if number == value or not number.isdecimal():
        return 0
    product = int(number) * total
    return -(-product // 100) if up else product // 100


def template_hash(template: Mapping[str, Any], collisions: int | None = None) -> str:
    """Return the hash of a template: FNV-1a, in kube's alphabet; `collisions` yields another one after a collision.

    DEVIATION: kube hashes Go's dump of the struct; here it is the canonical JSON. So the letters differ, but not the alphabet.
    """
    data = canonical(template).encode()
    if collisions is not None:
        data += collisions.to_bytes(8, "little")
    number = _OFFSET
    for byte in data:
        number = ((number ^ byte) * _PRIME) & 0xFFFFFFFF
    return "".join(_ALPHABET[ord(digit) % len(_ALPHABET)] for digit in str(number))


Patch = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Owner:
    """A workload as its controller uses it: with defaults, and a compiled selector."""

    manifest: Manifest
    kind: str
    namespace: str
    name: str
    uid: str
    selector: LabelSelector
    deleting: bool

    @classmethod
    def of(cls, manifest: Manifest) -> Owner:
        full = apply_workload_defaults(manifest)
        meta, spec = full["metadata"], full.get("spec") or {}
        given = spec.get("selector")
        if full["kind"] == "ReplicationController" and given is not None:
            given = {"matchLabels": given}
        return cls(
            full,
            full["kind"],
            meta.get("namespace") or "default",
            meta["name"],
            meta.get("uid") or "",
            LabelSelector.of(given),
            bool(meta.get("deletionTimestamp")),
        )

    @classmethod
    def found(cls, world: World, kind: str, key: str) -> Owner | None:
        """Return the workload of a key "namespace/name", or None."""
        namespace, _, name = key.partition("/")
        manifest = world.store.get(kind, namespace, name)
        return None if manifest is None else cls.of(manifest)

    @property
    def key(self) -> str:
        return f"{self.namespace}/{self.name}"

    @property
    def target(self) -> tuple[str, str, str]:
        """Kind, namespace and name, for requests to the API server."""
        return self.kind, self.namespace, self.name

    @property
    def spec(self) -> Manifest:
        return self.manifest.get("spec") or {}

    @property
    def status(self) -> Manifest:
        return self.manifest.get("status") or {}

    @property
    def annotations(self) -> Manifest:
        return self.manifest["metadata"].get("annotations") or {}

    @property
    def generation(self) -> int:
        return int(self.manifest["metadata"].get("generation") or 0)

    @property
    def template(self) -> Manifest:
        return self.spec.get("template") or {}

    def number(self, field: str) -> int:
        """Return a number of the spec; 0 if it is missing."""
        return int(self.spec.get(field) or 0)

    def counted(self, field: str) -> int:
        """Return a number of the status; 0 if it is missing."""
        return int(self.status.get(field) or 0)

    def reference(self) -> Patch:
        """Return the owner reference that makes the workload the controller of an object."""
        return controller_reference(self.manifest["apiVersion"], self.kind, self.name, self.uid)

    def owns(self, manifest: Manifest) -> bool:
        """Return whether the owner is the controller of an object."""
        reference = controller_of(manifest)
        return reference is not None and reference.get("uid") == self.uid


def resolve(world: World, kind: str, manifest: Manifest | None) -> str:
    """Return the key of the workload of a kind that controls an object; "" if there is none, or only another of the same name."""
    reference = controller_of(manifest)
    if reference is None or manifest is None or reference.get("kind") != kind:
        return ""
    namespace, name = manifest["metadata"].get("namespace") or "default", reference["name"]
    found = world.store.get(kind, namespace, name)
    return f"{namespace}/{name}" if found and found["metadata"].get("uid") == reference.get("uid") else ""


def selecting(world: World, kind: str, namespace: str, labels: Labels) -> list[str]:
    """Return the keys of the workloads of a kind whose selector matches these labels."""
    if not labels or not world.store.count(kind):
        return []
    known = world.surroundings.workloads.selectors
    if kind not in known:
        owners = map(Owner.of, world.store.list(kind))
        known[kind] = Selectors((owner.namespace, owner.key, owner.selector) for owner in owners)
    return known[kind].matching(namespace, labels)


def note_selectors(world: World, event: WatchEvent) -> None:
    """Drop the cached selectors of a kind after a change of one of them."""
    if event.old is None or event.new is None or _selector(event.old) != _selector(event.new):
        world.surroundings.workloads.selectors.pop(event.kind, None)


def _selector(manifest: Manifest) -> Any:
    return (manifest.get("spec") or {}).get("selector")


def claim_pods(
    world: World,
    owner: Owner,
    wanted: Callable[[Pod], bool],
    match: Callable[[Pod], bool] = lambda pod: True,
    finalizers: Sequence[str] = (),
) -> list[Pod]:
    """Adopt matching pods and release others. Return the owner's wanted pods, by name."""
    pods = []
    for key in _candidates(world, owner, "Pod"):
        pod = world.store.pod(*key)
        if pod is None or not wanted(pod):
            continue
        fits = owner.selector.matches(pod.labels) and match(pod)
        if _claim(world, owner, "Pod", pod.manifest, fits, finalizers):
            pods.append(world.store.pod(*key) or pod)
    return pods


def claim_objects(world: World, owner: Owner, kind: str) -> list[Manifest]:
    """Adopt and release objects of another kind, like claim_pods. Return the owner's."""
    found = []
    for namespace, name in _candidates(world, owner, kind):
        manifest = world.store.get(kind, namespace, name)
        if manifest is None:
            continue
        fits = owner.selector.matches(manifest["metadata"].get("labels") or {})
        if _claim(world, owner, kind, manifest, fits, ()):
            found.append(world.store.get(kind, namespace, name) or manifest)
    return found


def _candidates(world: World, owner: Owner, kind: str) -> list[tuple[str, str]]:
    own = [key for key in world.store.controlled(kind, owner.uid) if key[0] == owner.namespace]
    return own + world.store.uncontrolled(kind, owner.namespace)


def _claim(world: World, owner: Owner, kind: str, manifest: Manifest, fits: bool, finalizers: Sequence[str]) -> bool:
    reference = controller_of(manifest)
    if reference is not None:
        if reference.get("uid") != owner.uid:
            return False
        if not fits and not owner.deleting:
            _patch(world, kind, manifest, build_release_patch(manifest, owner.uid, finalizers))
        return fits
    if owner.deleting or not fits or manifest["metadata"].get("deletionTimestamp"):
        return False
    meta = manifest["metadata"]
    others = [ref for ref in meta.get("ownerReferences") or () if ref.get("uid") != owner.uid]
    patch: Patch = {"ownerReferences": [*others, owner.reference()]}
    if finalizers:
        kept = [name for name in meta.get("finalizers") or () if name not in finalizers]
        patch["finalizers"] = [*kept, *finalizers]
    return _patch(world, kind, manifest, patch)


def build_release_patch(manifest: Manifest, uid: str, finalizers: Sequence[str] = ()) -> Patch:
    """Build the metadata patch that removes an owner's reference and its finalizers."""
    meta = manifest["metadata"]
    kept = [ref for ref in meta.get("ownerReferences") or () if ref.get("uid") != uid]
    patch: Patch = {"ownerReferences": kept or None}
    if finalizers:
        left = [name for name in meta.get("finalizers") or () if name not in finalizers]
        patch["finalizers"] = left or None
    return patch


def _patch(world: World, kind: str, manifest: Manifest, metadata: Patch) -> bool:
    meta = manifest["metadata"]
    try:
        world.api.patch((kind, meta.get("namespace") or "default", meta["name"]), {"metadata": metadata})
    except Refused as refused:
        if refused.answer.reason == "NotFound":
            return False
        raise
    return True

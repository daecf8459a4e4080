"""The API calls of VolumeBinding: writes Reserve's decision, and checks whether the claims are bound.

kube: plugins/volumebinding/binder.go (BindPodVolumes, bindAPIUpdate, checkBindings) @ v1.34.1
"""

from collections.abc import Sequence
from dataclasses import dataclass

from scheduler_core.apimachinery.objects import Manifest, NodeSelector, Pod
from scheduler_core.apimachinery.objects.manifest import version_of
from scheduler_core.apimachinery.objects.storage import volumes as storage
from scheduler_core.apimachinery.objects.storage.csi_migration import in_tree_plugin, is_migrated_on, translate_affinity
from scheduler_core.apimachinery.objects.storage.volumes import CLAIM, VOLUME, class_of, name_of
from scheduler_core.scheduler.framework.plugin import Handle

# Claims and volumes from the view of a scheduler: the API server's, overlaid with the scheduler's own decisions.
#
# A decision of Reserve is assumed until the API server has a newer version of the object. The assumptions are the scheduler's
# (`Handle.assumed`), so that a copy of it has them too.
#
# kube: scheduler/util/assumecache/assume_cache.go @ v1.34.1


@dataclass(frozen=True, slots=True)
class AssumedObjects:
    """A view of claims and volumes with assumed changes."""

    _handle: Handle

    def claim(self, namespace: str, name: str) -> Manifest | None:
        return self._read(CLAIM, self._handle.get(CLAIM, namespace, name))

    def volume(self, name: str) -> Manifest | None:
        return self._read(VOLUME, self._handle.get(VOLUME, "", name))

    def volumes(self, class_name: str) -> list[Manifest]:
        """Return the volumes of a class, by name."""
        volumes = (self._read(VOLUME, volume) for volume in self._handle.list(VOLUME))
        return [volume for volume in volumes if volume is not None and class_of(volume) == class_name]

    def assume(self, kind: str, manifest: Manifest) -> str:
        """Assume a manifest in place of the API server's. Return the error, or ""."""
        key = _key(kind, manifest)
        stored = self._read(kind, self._handle.get(*key))
        name = "/".join(part for part in key[1:] if part)
        if stored is None:
            return f'could not find v1.{kind} "{name}"'
        if version_of(manifest) < version_of(stored):
            stored_version, assumed_version = version_of(stored), version_of(manifest)
            return f'v1.{kind} "{name}" is out of sync (stored: {stored_version}, assume: {assumed_version})'
        self._handle.assumed[key] = manifest
        return ""

    def restore(self, kind: str, manifest: Manifest) -> None:
        """Forget an assumed manifest."""
        self._handle.assumed.pop(_key(kind, manifest), None)

    def _read(self, kind: str, stored: Manifest | None) -> Manifest | None:
        if stored is None or not self._handle.assumed:
            return stored
        assumed = self._handle.assumed.get(_key(kind, stored))
        return stored if assumed is None or version_of(stored) > version_of(assumed) else assumed


def _key(kind: str, manifest: Manifest) -> tuple[str, str, str]:
    return kind, str(manifest["metadata"].get("namespace") or ""), name_of(manifest)


SECOND = 1_000_000_000

Bindings = Sequence[tuple[Manifest, Manifest]]


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """The planned writes for a pod: volumes in their new form, each with its claim, and claims with a selected node."""

    static: tuple[tuple[Manifest, Manifest], ...] = ()
    dynamic: tuple[Manifest, ...] = ()
    all_bound: bool = False


@dataclass(frozen=True, slots=True)
class Binder:
    """The writer of plans. Methods return kube's error, or "" for success."""

    _handle: Handle
    _objects: AssumedObjects

    def revert(self, static: Bindings, dynamic: Sequence[Manifest]) -> None:
        for volume, _ in static:
            self._objects.restore(storage.VOLUME, volume)
        for claim in dynamic:
            self._objects.restore(storage.CLAIM, claim)

    def write(self, plan: Plan, pod: Pod) -> str:
        """Write the volumes, then the claims; objects that could not be written are no longer assumed."""
        for i, (volume, _) in enumerate(plan.static):
            mark = storage.annotation(volume, storage.BOUND_BY_CONTROLLER)
            patch: dict[str, Manifest] = {"spec": {"claimRef": storage.claim_ref(volume)}}
            if mark is not None:
                patch["metadata"] = {"annotations": {storage.BOUND_BY_CONTROLLER: mark}}
            problem = self._update(storage.VOLUME, volume, patch, pod)
            if problem:
                self.revert(plan.static[i:], plan.dynamic)
                return problem
        for i, claim in enumerate(plan.dynamic):
            chosen = {
                "metadata": {"annotations": {storage.SELECTED_NODE: storage.annotation(claim, storage.SELECTED_NODE)}}
            }
            problem = self._update(storage.CLAIM, claim, chosen, pod)
            if problem:
                self.revert((), plan.dynamic[i:])
                return problem
        return ""

    def _update(self, kind: str, manifest: Manifest, patch: Manifest, pod: Pod) -> str:
        """Update an object as kube does. Return a conflict if another client has changed the object."""
        namespace, name = str(manifest["metadata"].get("namespace") or ""), storage.name_of(manifest)
        stored = self._handle.get(kind, namespace, name)
        resource = f"{kind.lower()}s"
        if stored is None:
            return storage.not_found(resource, name)
        if version_of(stored) != version_of(manifest):
            changed = "the object has been modified; please apply your changes to the latest version and try again"
            return f'Operation cannot be fulfilled on {resource} "{name}": {changed}'
        status = self._handle.patch(kind, namespace, name, patch, pod)
        return "" if status.ok else status.message

    def check(self, plan: Plan, pod: Pod, node_name: str) -> tuple[bool, str]:
        """Return whether all claims are bound, and the error if they no longer can be."""
        node = self._handle.get("Node", "", node_name)
        if node is None:
            return False, f'failed to get node "{node_name}": {storage.not_found("node", node_name)}'
        if self._handle.get("Pod", pod.namespace, pod.name) is None:
            return False, f"pod does not exist any more: {storage.not_found('pod', pod.name)}"
        for volume, claim in plan.static:
            bound, problem = self._check_static(node, volume, claim)
            if problem or not bound:
                return False, problem
        for claim in plan.dynamic:
            bound, problem = self._check_dynamic(node, claim)
            if problem or not bound:
                return False, problem
        return True, ""

    def _check_static(self, node: Manifest, volume: Manifest, claim: Manifest) -> tuple[bool, str]:
        name = storage.name_of(volume)
        stored = self._handle.get(storage.VOLUME, "", name)
        if stored is None:
            return False, f'failed to check binding: could not find v1.{storage.VOLUME} "{name}"'
        if self._handle.behind(storage.VOLUME, "", name):
            return False, ""  # the informer lags behind this plugin's write: check again later
        mine = self._claim(claim)
        if mine is None:
            return False, f"failed to check binding: {_claim_gone(claim)}"
        if problem := self._affinity_problem(node, stored):
            return False, problem
        if not (storage.claim_ref(stored) or {}).get("uid"):
            return False, f'ClaimRef got reset for pv "{name}"'
        return storage.fully_bound(mine), ""

    def _check_dynamic(self, node: Manifest, claim: Manifest) -> tuple[bool, str]:
        stored = self._claim(claim)
        if stored is None:
            return False, f"failed to check provisioning pvc: {_claim_gone(claim)}"
        if self._handle.behind(storage.CLAIM, str(claim["metadata"].get("namespace") or ""), storage.name_of(claim)):
            return False, ""
        if stored["metadata"].get("annotations") is None:
            return False, f'selectedNode annotation reset for PVC "{storage.name_of(claim)}"'
        if storage.annotation(stored, storage.SELECTED_NODE) != storage.name_of(node):
            # A provisioner that fails removes the annotation, so that the scheduler retries the pod.
            return False, f'provisioning failed for PVC "{storage.name_of(claim)}"'
        if storage.volume_name(stored):
            volume = self._handle.get(storage.VOLUME, "", storage.volume_name(stored))
            if volume is None:
                return False, ""
            if problem := self._affinity_problem(node, volume):
                return False, problem
        return storage.fully_bound(stored), ""

    def _claim(self, claim: Manifest) -> Manifest | None:
        return self._handle.get(storage.CLAIM, str(claim["metadata"].get("namespace") or ""), storage.name_of(claim))

    def _affinity_problem(self, node: Manifest, volume: Manifest) -> str:
        plugin = in_tree_plugin(volume.get("spec") or {})
        if plugin is not None and is_migrated_on(self._handle.get("CSINode", "", storage.name_of(node)), plugin):
            volume = translate_affinity(plugin, volume)
        required = ((volume.get("spec") or {}).get("nodeAffinity") or {}).get("required")
        labels = node["metadata"].get("labels") or {}
        if required is None or NodeSelector.of(required).matches(labels, ""):
            return ""
        names = f'pv "{storage.name_of(volume)}" node affinity doesn\'t match node "{storage.name_of(node)}"'
        return f"{names}: no matching NodeSelectorTerms"


def _claim_gone(claim: Manifest) -> str:
    namespace = claim["metadata"].get("namespace") or ""
    return f'could not find v1.{storage.CLAIM} "{namespace}/{storage.name_of(claim)}"'

"""The world of a scenario: its objects, a cache, and the nominator. Outcomes are applied as in the corpus.

README-cycle.md, "Applying the outcome".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from scheduler_core.apimachinery.dra.claims import FINALIZER, KIND, MAX_CONSUMERS
from scheduler_core.apimachinery.objects import Manifest, Node, Pod, parse_time
from scheduler_core.apimachinery.objects.storage import volumes
from scheduler_core.base.releases import Behavior
from scheduler_core.scheduler.cache.cache import Cache
from scheduler_core.scheduler.cache.table import NodeTable
from scheduler_core.scheduler.config.settings import WorldSettings
from scheduler_core.scheduler.core.cycles.scheduling_cycle import SchedulingCycle
from scheduler_core.scheduler.framework.claims import ClaimTracker, ObjectCalls, Reply
from scheduler_core.scheduler.framework.plugin import Assumptions, Point, PostFilterResult
from scheduler_core.scheduler.framework.runtime.framework import Framework, Trial
from scheduler_core.scheduler.framework.runtime.points import run_reserve, run_unreserve
from scheduler_core.scheduler.framework.status import SUCCESS, Status
from scheduler_core.scheduler.plugins.volumebinding.binder import Plan
from scheduler_core.scheduler.plugins.volumebinding.plugin import PLAN, VolumeBinding
from scheduler_core.scheduler.queue.nominator import Nominator
from scheduler_core.testing.conformance.corpus.observe import without_empty
from scheduler_core.testing.differences import NobodyWaits

Key = tuple[str, str]
_WALL_TIME = "2026-12-31T00:00:00Z"


class CorpusWorld(NobodyWaits):
    """Live objects by kind. Answers the plugins' requests through their handle, but binds nothing."""

    def __init__(
        self, objects: Iterable[Manifest], pending: Iterable[Manifest], settings: WorldSettings | None = None
    ) -> None:
        settings = settings or WorldSettings()
        self.features, self.reading = settings.features, settings.reading
        self.device_cost = settings.device_cost
        self.now = parse_time(_WALL_TIME)
        self.claims = ClaimTracker()
        self.claims.connect(lambda: self, settings.dra_consumable_capacity, lambda old, new: None)
        self.device_conditions: Mapping[str, Any] = {}
        self.timestamps: set[str] = set()  # of claims that were allocated before the first attempt
        self.created = 0  # claims for extended resources
        self.version = 0
        self.objects: dict[str, dict[Key, Manifest]] = {}
        self.pods: dict[str, Pod] = {}
        self.assumed: Assumptions = {}
        self.preempting: Mapping[str, int] | None = {}
        self.cache = Cache()
        self.snapshot = NodeTable()
        self.nominator = Nominator(self.pods.get)
        self.bound = 0
        for manifest in objects:
            self.put(manifest)
            if manifest["kind"] == "Node":
                self.cache.add_node(Node.from_manifest(manifest))
            elif manifest["kind"] == "Pod":
                metadata = manifest["metadata"]
                self.cache.add_pod(self.pods[f"{metadata.get('namespace') or 'default'}/{metadata['name']}"])
        for manifest in pending:
            self.put(manifest)

    def nominate_from_the_start(self, gated: Iterable[str]) -> None:
        """Pods that come with a nomination are in the nominator, by namespace and name, unless they are gated."""
        held_back = set() if Behavior.GATED_NOMINATIONS in self.features.behaviors else set(gated)
        for key in sorted(self.pods, key=lambda key: key.split("/")):
            pod = self.pods[key]
            if pod.nominated_node_name and not pod.node_name and key not in held_back:
                self.nominator.add(pod, None)

    def note_timestamps(self) -> None:
        """Record the allocation times of claims so far; later ones are the scheduler's."""
        claims = self.list(KIND)
        allocations = ((claim.get("status") or {}).get("allocation") or {} for claim in claims)
        self.timestamps = {at for each in allocations if (at := each.get("allocationTimestamp"))}

    # The plugins' handle

    def get(self, kind: str, namespace: str, name: str) -> Manifest | None:
        return self.objects.get(kind, {}).get((namespace, name))

    def list(self, kind: str) -> list[Manifest]:
        return [manifest for _, manifest in sorted(self.objects.get(kind, {}).items())]

    def patch(self, kind: str, namespace: str, name: str, patch: Mapping[str, Any], pod: Pod) -> Status:
        return SUCCESS

    def held_up(self, pod: Pod, tries: int, calls: int, of: str = "") -> int:
        return 0

    def calls(self, pod: Pod) -> ObjectCalls:
        return ClaimCalls(self, pod)

    def note(self, pod: Pod, reason: str, message: str, action: str) -> None:
        """Ignore an event."""

    def behind(self, kind: str, namespace: str, name: str) -> bool:
        return False

    def bind(self, pod: Pod, node_name: str) -> Status:
        return SUCCESS

    # Outcomes

    def take_snapshot(self) -> NodeTable:
        self.snapshot = self.cache.update_snapshot(self.snapshot)
        return self.snapshot

    def bind_pod(self, pod: Pod, node: str) -> None:
        """Bind a pod as the API server does afterwards: bound, running, and started one minute after the previous pod."""
        pod = self.pods[pod.key]
        self.bound += 1
        hours, minutes = divmod(self.bound, 60)
        days, hours = divmod(hours, 24)
        started = f"2026-06-{1 + days:02}T{hours:02}:{minutes:02}:00Z"
        bound = self._replace(pod, spec={"nodeName": node}, status={"phase": "Running", "startTime": started})
        self.nominator.delete(pod)
        self.cache.add_pod(bound)

    def preempt(self, result: PostFilterResult) -> None:
        """Remove the victims at once, in order, and clear the nominations of lower-priority pods on the node."""
        for victim in result.victims:
            self.cache.remove_pod(victim)
            del self.objects["Pod"][(victim.namespace, victim.name)]
            del self.pods[victim.key]
        for pod in result.cleared:
            self.nominator.delete(pod)
            self._replace(self.pods[pod.key], status={"nominatedNodeName": ""})

    def remove(self, kind: str, namespace: str, name: str) -> None:
        """Remove an object."""
        old = self.objects[kind].pop((namespace, name))
        if kind == KIND:
            self.claims.observe(old, None)

    def patch_pod(self, pod: Pod, status: Manifest) -> Manifest:
        """Set fields of a pod's status."""
        return self._replace(self.pods[pod.key], status=status).manifest

    def fail(self, pod: Pod, nomination: str | None) -> None:
        """Set the pod's nomination after a failed attempt (None leaves it unchanged)."""
        if nomination is not None:
            pod = self._replace(pod, status={"nominatedNodeName": nomination})
        self.nominator.add(pod, nomination or None)

    def _replace(self, pod: Pod, **sections: Mapping[str, Any]) -> Pod:
        manifest = dict(pod.manifest)
        for name, fields in sections.items():
            manifest[name] = {**(manifest.get(name) or {}), **fields}
        self.put(manifest)
        return self.pods[pod.key]

    def put(self, manifest: Manifest) -> Manifest:
        """Store an object, new or in place of the object of the same name. Return the stored object."""
        metadata = manifest.get("metadata") or {}
        key = metadata.get("namespace", ""), metadata.get("name", "")
        if manifest["kind"] == KIND:
            self.version += 1
            manifest = {**manifest, "metadata": {**metadata, "resourceVersion": str(self.version)}}
        kept = self.objects.setdefault(manifest["kind"], {})
        old, kept[key] = kept.get(key), manifest
        self.claims.note_device_change()
        if manifest["kind"] == KIND:
            self.claims.observe(old, manifest)
        if manifest["kind"] == "Pod":
            pod = Pod.from_manifest(manifest, None, self.reading)
            self.pods[pod.key] = pod
        return manifest


# What becomes of a pod's claims once it has a node, as the corpus applies it: everything that Reserve decided is bound at once.

Effect = dict[str, str]

HOSTNAME = "kubernetes.io/hostname"


def bind_claims(world: CorpusWorld, framework: Framework, cycle: SchedulingCycle) -> list[Effect]:
    """Run VolumeBinding's Reserve for the chosen node and carry out its plan. Return the bindings by claim."""
    plugin = next((p for p in framework.at(Point.RESERVE) if isinstance(p, VolumeBinding)), None)
    if plugin is None:
        return []
    trial = Trial(cycle.pod, cycle.nodes, cycle.state, cycle.node)
    run_reserve(plugin, trial)
    plan: Plan = cycle.state.get(PLAN) or Plan()
    run_unreserve(plugin, trial)
    effects = []
    for volume, claim in plan.static:
        _bind(world, volume, claim)
        effects.append({"pvc": volumes.key_of(claim), "pv": volumes.name_of(volume), "kind": "static"})
    for claim in plan.dynamic:
        volume = _build_provisioned_volume(claim, world.get("Node", "", cycle.node))
        _bind(world, volume, claim)
        effects.append({"pvc": volumes.key_of(claim), "pv": volumes.name_of(volume), "kind": "dynamic"})
    return sorted(effects, key=lambda effect: effect["pvc"])


def _bind(world: CorpusWorld, volume: Manifest, claim: Manifest) -> None:
    namespace, name = str(claim["metadata"].get("namespace") or ""), volumes.name_of(claim)
    stored = world.get(volumes.CLAIM, namespace, name) or claim
    bound = volumes.with_annotation(stored, volumes.BIND_COMPLETED, "yes")
    spec = {**bound["spec"], "volumeName": volumes.name_of(volume)}
    world.put({**bound, "spec": spec, "status": {"phase": "Bound"}})
    world.put({**volumes.bind_volume_to_claim(volume, stored), "status": {"phase": "Bound"}})


def _build_provisioned_volume(claim: Manifest, node: Manifest | None) -> Manifest:
    """Build the volume that the corpus provisions for a claim."""
    meta, spec = claim["metadata"], claim.get("spec") or {}
    name = f"dyn-{meta.get('namespace') or ''}-{volumes.name_of(claim)}"
    labels = ({} if node is None else node["metadata"].get("labels")) or {}
    host = labels.get(HOSTNAME) or (meta.get("annotations") or {}).get(volumes.SELECTED_NODE)
    here = {"key": HOSTNAME, "operator": "In", "values": [host]}
    return {
        "apiVersion": "v1",
        "kind": volumes.VOLUME,
        "metadata": {"name": name, "uid": f"pv-{name}"},
        "spec": {
            "accessModes": spec.get("accessModes") or [],
            "capacity": (spec.get("resources") or {}).get("requests") or {},
            "csi": {"driver": "csi.example.com", "volumeHandle": name},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [here]}]}},
            "persistentVolumeReclaimPolicy": "Delete",
            "storageClassName": spec.get("storageClassName") or "",
            "volumeMode": spec.get("volumeMode") or "Filesystem",
        },
    }


# The API server as the corpus of devices has it: it refuses stale versions and too many consumers, and takes all else.
# README-dra.md, "Applying the outcome".

_RESOURCE = "resourceclaims.resource.k8s.io"
_CHANGED = "the object has been modified; please apply your changes to the latest version and try again"


@dataclass(frozen=True, slots=True)
class ClaimCalls:
    """Calls of one pod."""

    world: CorpusWorld
    pod: Pod

    def read(self, kind: str, namespace: str, name: str) -> Reply:
        found = self.world.get(kind, namespace, name)
        return Reply(error=f'{_RESOURCE} "{name}" not found') if found is None else Reply(found)

    def create(self, manifest: Manifest) -> Reply:
        self.world.created += 1
        metadata = manifest["metadata"]
        name = f"{metadata['generateName']}{self.world.created}"
        uid = f"claim-{metadata['namespace']}-{name}"
        return Reply(self.world.put({**manifest, "metadata": {**metadata, "name": name, "uid": uid}}))

    def update(self, manifest: Manifest, subresource: str = "") -> Reply:
        metadata = manifest["metadata"]
        found = self.read(manifest["kind"], metadata["namespace"], metadata["name"])
        stored = found.manifest
        if stored is None:
            return found
        if metadata.get("resourceVersion") != stored["metadata"]["resourceVersion"]:
            refused = f'Operation cannot be fulfilled on {_RESOURCE} "{metadata["name"]}": {_CHANGED}'
            return Reply(error=refused, conflict=True)
        if not subresource:
            return Reply(self.world.put({**manifest, "status": stored.get("status") or {}}))
        status = manifest.get("status") or {}
        consumers = len(status.get("reservedFor") or ())
        if consumers > MAX_CONSUMERS:
            why = f"Too many: {consumers}: must have at most {MAX_CONSUMERS} items"
            text = f'ResourceClaim.resource.k8s.io "{metadata["name"]}" is invalid: status.reservedFor: {why}'
            return Reply(error=text)
        return Reply(self.world.put({**stored, "status": self._driven(status)}))

    def change(self, kind: str, namespace: str, name: str, how: Callable[[Manifest], Manifest | None]) -> Reply:
        found = self.read(kind, namespace, name)
        wanted = None if found.manifest is None else how(found.manifest)
        return found if wanted is None else self.update(wanted, "status")

    def delete(self, kind: str, namespace: str, name: str) -> Reply:
        self.world.remove(kind, namespace, name)
        return Reply()

    def patch_pod_status(self, fields: Manifest) -> Reply:
        return Reply(self.world.patch_pod(self.pod, fields))

    def _driven(self, status: Manifest) -> Manifest:
        """Return the status with the drivers' immediate answers: conditions of the allocated devices."""
        devices = list(status.get("devices") or ())
        results = ((status.get("allocation") or {}).get("devices") or {}).get("results") or ()
        for result in results:
            device = {name: result[name] for name in ("driver", "pool", "device")}
            conditions = self.world.device_conditions.get("/".join(device.values()))
            said = any(all(each[name] == device[name] for name in device) for each in devices)
            if conditions and not said:
                devices.append({**device, "conditions": conditions})
        return {**status, "devices": devices} if devices else status


def release_claims(world: CorpusWorld, victims: tuple[Pod, ...]) -> dict[str, Manifest | None]:
    """Act as the claim controller after a preemption. Return the new state of the claims of removed pods."""
    gone = {pod.uid for pod in victims}
    released: dict[str, Manifest | None] = {}
    for claim in world.list(KIND):
        metadata, status = claim["metadata"], claim.get("status") or {}
        key = f"{metadata['namespace']}/{metadata['name']}"
        consumers = status.get("reservedFor") or ()
        left = [consumer for consumer in consumers if consumer["uid"] not in gone]
        owned = any(owner.get("controller") and owner["uid"] in gone for owner in metadata.get("ownerReferences") or ())
        if not left and owned:
            world.remove(KIND, metadata["namespace"], metadata["name"])
            released[key] = None
        elif len(left) < len(consumers):
            world.put(_release_claim(claim, left))
            released[key] = without_empty({**status, "reservedFor": left} if left else _free(claim))
    return released


def _release_claim(claim: Manifest, left: list[Manifest]) -> Manifest:
    if left:
        return {**claim, "status": {**claim["status"], "reservedFor": left}}
    finalizers = [each for each in claim["metadata"].get("finalizers") or () if each != FINALIZER]
    metadata = {**claim["metadata"], "finalizers": finalizers}
    return {**claim, "metadata": metadata, "status": _free(claim)}


def _free(claim: Manifest) -> dict[str, Any]:
    """Return the status of a claim without consumers. A claim without the finalizer keeps its allocation."""
    status = {name: value for name, value in claim["status"].items() if name != "reservedFor"}
    if FINALIZER in (claim["metadata"].get("finalizers") or ()):
        return {name: value for name, value in status.items() if name not in ("allocation", "devices")}
    return status

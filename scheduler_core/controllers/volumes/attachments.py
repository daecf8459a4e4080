"""Attachments of volumes to nodes: wanted ones, existing ones, and until when a kubelet reports a volume as in use.

kube: pkg/controller/volume/attachdetach/{cache,util}, pkg/volume/util/util.go (IsMultiAttachAllowed, IsPodTerminated),
pkg/volume/csi/{csi_attacher,csi_plugin}.go, pkg/kubelet/nodestatus/setters.go (VolumesInUse) @ v1.34.1
"""

import re
from collections.abc import Iterable
from hashlib import sha256

from scheduler_core.apimachinery.objects import Manifest, Pod, is_owned_by
from scheduler_core.apimachinery.objects.storage import volumes
from scheduler_core.apimachinery.objects.storage.csi_migration import handle_of, in_tree_plugin
from scheduler_core.apiserver import Store, with_section
from scheduler_core.base.clock.agenda import FOREVER
from scheduler_core.controllers.contract import Controller, World

ATTACHMENT = "VolumeAttachment"
CONTROLLER = "persistentvolume-attach-detach-controller"
_SHARED = ("ReadWriteMany", "ReadOnlyMany")


def find_driver(store: Store, volume: Manifest) -> tuple[str, str]:
    """Return the CSI driver and handle of a volume; "" if it does not need an attachment."""
    spec = volume.get("spec") or {}
    csi, plugin = spec.get("csi"), in_tree_plugin(spec)
    if csi is not None:
        driver, handle = str(csi.get("driver") or ""), str(csi.get("volumeHandle") or "")
    elif plugin is not None:
        try:
            handle = handle_of(plugin, spec[plugin.source], volume["metadata"].get("labels") or {})
        except ValueError:
            return "", ""
        driver = plugin.driver
    else:
        return "", ""
    known = store.get("CSIDriver", "", driver)
    needed = known is None or (known.get("spec") or {}).get("attachRequired") is not False
    return (driver, handle) if needed else ("", "")


def name_attachment(driver: str, handle: str, node: str) -> str:
    """Build the name of a VolumeAttachment."""
    return f"csi-{sha256(f'{handle}{driver}{node}'.encode()).hexdigest()}"


def get_node(attachment: Manifest) -> str:
    return str((attachment.get("spec") or {}).get("nodeName") or "")


def get_volume(attachment: Manifest) -> str:
    """Return the name of an attachment's PersistentVolume."""
    source = (attachment.get("spec") or {}).get("source") or {}
    return str(source.get("persistentVolumeName") or "")


def is_attached(attachment: Manifest) -> bool:
    return bool((attachment.get("status") or {}).get("attached"))


def can_be_shared(volume: Manifest) -> bool:
    """Return whether a volume may be attached to several nodes."""
    modes = volumes.access_modes(volume)
    return not modes or any(mode in _SHARED for mode in modes)


def lacks_attachment(world: World, claim: Manifest, node: str) -> bool:
    """Return whether a claim's volume must still be attached to a node. Without the controller, no volume must."""
    running = world.cluster.controllers
    volume = world.store.get("PersistentVolume", "", volumes.volume_name(claim))
    if volume is None or (running is not None and CONTROLLER not in running):
        return False
    driver, handle = find_driver(world.store, volume)
    if not driver:
        return False
    found = world.store.get(ATTACHMENT, "", name_attachment(driver, handle, node))
    return found is None or volumes.deleting(found) or not is_attached(found)


def find_claim(world: World, volume: Manifest) -> Manifest | None:
    """Return the claim that a volume is bound to, if the claim agrees."""
    ref = volumes.claim_ref(volume)
    if ref is None:
        return None
    claim = world.store.get(volumes.CLAIM, str(ref.get("namespace") or ""), str(ref.get("name") or ""))
    if claim is None or volumes.phase(claim) != "Bound" or volumes.volume_name(claim) != volumes.name_of(volume):
        return None
    return claim if claim["metadata"].get("uid") == ref.get("uid") else None


def find_wanted(world: World, volume: Manifest | None) -> dict[str, list[Pod]]:
    """Return the nodes whose pods use a volume, each with these pods, the oldest first."""
    claim = None if volume is None or not find_driver(world.store, volume)[0] else find_claim(world, volume)
    wanted: dict[str, list[Pod]] = {}
    for pod in [] if claim is None else sorted(list_users(world, claim), key=lambda pod: pod.creation_time or 0):
        if pod.node_name and not _is_over(pod):
            wanted.setdefault(pod.node_name, []).append(pod)
    return wanted


def list_users(world: World, claim: Manifest) -> Iterable[Pod]:
    """Yield the pods that use a claim. A generic ephemeral volume counts only if its pod owns the claim."""
    key = f"{claim['metadata'].get('namespace') or ''}/{volumes.name_of(claim)}"
    for pod in world.surroundings.volumes.users.of(world.store, key):
        uses = [use for use in volumes.volumes_of(pod.spec).claims if use.name(pod) == volumes.name_of(claim)]
        if any(not use.ephemeral or is_owned_by(claim, pod) for use in uses):
            yield pod


def _is_over(pod: Pod) -> bool:
    """Return whether a pod no longer needs its volumes: it has ended, or is being deleted and no container runs."""
    if pod.terminal:
        return True
    return pod.deleting and not any((each.get("state") or {}).get("running") for each in pod.container_statuses)


def find_end_of_use(world: World, volume: str, claim: Manifest | None, node: str) -> int:
    """Return the time (ns) until which a node reports a volume as in use; 0: it does not, FOREVER: until something happens.

    If a kubelet does not run, or its node is gone, its last report remains valid.
    """
    kubelet = world.surroundings.kubelet
    for pod in [] if claim is None else list_users(world, claim):
        run = kubelet.pods.get(pod.key)
        if run is not None and run.node == node:
            return FOREVER
    left, since = world.surroundings.volumes.left.get(f"{volume}/{node}"), kubelet.since.get(node)
    if left is None:
        return 0
    if since is None:
        return FOREVER
    interval = world.cluster.kubelet_of(node).status_interval
    tick = since + max(-(-(left - since) // interval), 0) * interval
    if node in kubelet.stopped and tick > kubelet.stopped[node]:
        return FOREVER
    return tick if tick > world.now else 0


# The attachers of CSI drivers: they attach the volume of a VolumeAttachment, and detach it when the object is deleted.
#
# DEVIATION: every driver has one, which never fails, and neither needs the node's CSINode nor puts its finalizer on volumes.
# kube: github.com/kubernetes-csi/external-attacher (what v1.34.1 is used with)


class Attacher(Controller):
    """All attachers. Keys are names of VolumeAttachments."""

    name = "csi-attacher"
    watches = (ATTACHMENT,)
    always_on = True

    def ask(self, world: World, manifest: Manifest) -> None:
        if volumes.deleting(manifest) or not is_attached(manifest):
            self.enqueue(world, volumes.name_of(manifest))

    def sync(self, world: World, key: str) -> str:
        attachment = world.store.get(ATTACHMENT, "", key)
        if attachment is None:
            return ""
        name = re.sub(r"[^A-Za-z0-9-]", "-", str((attachment.get("spec") or {}).get("attacher") or ""))
        own = f"external-attacher/{name}X" if name.endswith("-") else f"external-attacher/{name}"
        finalizers = list(attachment["metadata"].get("finalizers") or ())
        what = f"{get_volume(attachment)} {{}} {get_node(attachment)}"
        if volumes.deleting(attachment):
            kept = [finalizer for finalizer in finalizers if finalizer != own]
            if kept == finalizers:
                return ""
            world.api.update(with_section(attachment, "metadata", {"finalizers": kept}))
            return what.format("is detached from")
        if is_attached(attachment):
            return ""
        if own not in finalizers:
            world.api.update(with_section(attachment, "metadata", {"finalizers": [*finalizers, own]}))
        world.api.patch_status((ATTACHMENT, "", key), {"attached": True})
        return what.format("is attached to")

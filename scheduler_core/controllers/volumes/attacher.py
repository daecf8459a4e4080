"""The attachers of CSI drivers: they attach what a VolumeAttachment asks for, and let it go when it is deleted.

DEVIATION: there is one for every driver, which never fails, and asks neither for the node's CSINode nor puts its finalizer on volumes.

kube: github.com/kubernetes-csi/external-attacher (what v1.34.1 is used with)
"""

from __future__ import annotations

import re

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apimachinery.objects.storage.volumes import deleting, name_of
from scheduler_core.apiserver.rewriting import with_section
from scheduler_core.apiserver.watch import WatchEvent
from scheduler_core.controllers.contract import Controller, World
from scheduler_core.controllers.volumes.attachments import ATTACHMENT, get_node, get_volume, is_attached


class Attacher(Controller):
    """All attachers. Keys are names of VolumeAttachments."""

    name = "csi-attacher"
    component = "csi-attacher"
    watches = (ATTACHMENT,)
    always_on = True

    def on_start(self, world: World) -> None:
        for attachment in world.store.list(ATTACHMENT):
            self._ask(world, attachment)

    def on_watch(self, world: World, event: WatchEvent) -> None:
        if event.new is not None:
            self._ask(world, event.new)

    def _ask(self, world: World, attachment: Manifest) -> None:
        if deleting(attachment) or not is_attached(attachment):
            self.enqueue(world, name_of(attachment))

    def sync(self, world: World, key: str) -> str:
        attachment = world.store.get(ATTACHMENT, "", key)
        if attachment is None:
            return ""
        own = _name_finalizer(str((attachment.get("spec") or {}).get("attacher") or ""))
        finalizers = list(attachment["metadata"].get("finalizers") or ())
        what = f"{get_volume(attachment)} {{}} {get_node(attachment)}"
        if deleting(attachment):
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


def _name_finalizer(driver: str) -> str:
    name = re.sub(r"[^A-Za-z0-9-]", "-", driver)
    return f"external-attacher/{name}X" if name.endswith("-") else f"external-attacher/{name}"

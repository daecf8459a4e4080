"""Admission plugins of a few lines, all off by default: AlwaysAdmit, AlwaysDeny, NamespaceExists, AlwaysPullImages, DenyServiceExternalIPs.

kube: plugin/pkg/admission/{admit,deny,namespace/exists,alwayspullimages,network/denyserviceexternalips}/admission.go @ v1.34.1
"""

from __future__ import annotations

from typing import Any

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apiserver.admission.plugin import AdmissionPlugin, Request
from scheduler_core.apiserver.rewriting import with_section
from scheduler_core.apiserver.status import Refused, not_found

_CONTAINERS = ("containers", "initContainers", "ephemeralContainers")


class AlwaysAdmit(AdmissionPlugin):
    """Has nothing to say."""

    name = "AlwaysAdmit"
    on_by_default = False
    pods_by_spec = True


class AlwaysDeny(AdmissionPlugin):
    """Refuses every write."""

    name = "AlwaysDeny"
    on_by_default = False

    def admit(self, request: Request, manifest: Manifest) -> Manifest:
        raise request.refuse("admission control is denying all modifications")

    def validate(self, request: Request, manifest: Manifest) -> None:
        raise request.refuse("admission control is denying all modifications")


class NamespaceExists(AdmissionPlugin):
    """Refuses what is in no namespace that is there, deletions as well."""

    name = "NamespaceExists"
    on_by_default = False
    pods_by_spec = True
    of_restored = True

    def validate(self, request: Request, manifest: Manifest) -> None:
        name = request.namespace
        if name and request.kind.key != "Namespace" and request.store.get("Namespace", "", name) is None:
            raise Refused.because(not_found("namespaces", name), request.what)


class AlwaysPullImages(AdmissionPlugin):
    """Has the images of every new pod pulled, there or not."""

    name = "AlwaysPullImages"
    on_by_default = False
    pods_by_spec = True

    def admit(self, request: Request, manifest: Manifest) -> Manifest:
        if request.kind.key != "Pod" or request.subresource or not _new_images(request, manifest):
            return manifest
        spec = manifest["spec"]
        changes: dict[str, Any] = {
            field: [{**each, "imagePullPolicy": "Always"} for each in spec[field]]
            for field in _CONTAINERS
            if spec.get(field)
        }
        if any(volume.get("image") for volume in spec.get("volumes") or ()):
            changes["volumes"] = [_set_pull_policy(volume) for volume in spec["volumes"]]
        return with_section(manifest, "spec", changes)


class DenyServiceExternalIPs(AdmissionPlugin):
    """Refuses external addresses of Services, but for those that were there."""

    name = "DenyServiceExternalIPs"
    on_by_default = False

    def validate(self, request: Request, manifest: Manifest) -> None:
        if request.kind.key != "Service" or request.operation == "DELETE" or request.subresource:
            return
        known = ((request.old or {}).get("spec") or {}).get("externalIPs") or ()
        given = (manifest.get("spec") or {}).get("externalIPs") or ()
        if any(address not in known for address in given):
            raise request.refuse("Use of external IPs is denied by admission control")


def _new_images(request: Request, manifest: Manifest) -> bool:
    if request.old is None:
        return True
    known = _images(request.old)
    return any(image not in known for image in _images(manifest))


def _images(pod: Manifest) -> list[Any]:
    return [each.get("image") for field in _CONTAINERS for each in pod["spec"].get(field) or ()]


def _set_pull_policy(volume: Manifest) -> Manifest:
    return {**volume, "image": {**volume["image"], "pullPolicy": "Always"}} if volume.get("image") else volume

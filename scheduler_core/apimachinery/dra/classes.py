"""DeviceClasses: the kinds of devices that claims may request.

kube: api/resource/v1/types.go @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from scheduler_core.apimachinery.dra.features import IdentityCache
from scheduler_core.apimachinery.objects.manifest import Manifest

KIND = "DeviceClass"
IMPLICIT_RESOURCE = "deviceclass.resource.kubernetes.io/"
_NOTHING: Mapping[str, Any] = {}


def expressions(selectors: Any) -> tuple[str | None, ...]:
    """Return the CEL expressions of selectors; None for a selector without one."""
    found = []
    for selector in selectors or ():
        cel = selector.get("cel")
        found.append(None if cel is None else str(cel.get("expression") or ""))
    return tuple(found)


@dataclass(frozen=True, slots=True, eq=False)
class DeviceClass:
    """A DeviceClass. `selectors` are CEL expressions; `configs` are the manifest's."""

    manifest: Manifest
    name: str
    selectors: tuple[str | None, ...]
    configs: tuple[Manifest, ...]
    extended_resource: str

    @classmethod
    def of(cls, manifest: Manifest) -> DeviceClass:
        """Read once per manifest."""
        return _CLASSES.of(manifest, cls.from_manifest)

    @classmethod
    def from_manifest(cls, manifest: Manifest) -> DeviceClass:
        spec = manifest.get("spec") or _NOTHING
        return cls(
            manifest,
            (manifest.get("metadata") or _NOTHING).get("name") or "",
            expressions(spec.get("selectors")),
            tuple(spec.get("config") or ()),
            spec.get("extendedResourceName") or "",
        )


def classes_by_resource(manifests: Iterable[Manifest]) -> dict[str, str]:
    """Return the class of each extended resource. A class without an explicit name has an implicit one.

    kube: plugins/dynamicresources/extended/util.go (DeviceClassMapping)
    """
    found: dict[str, str] = {}
    for manifest in manifests:
        name = manifest["metadata"]["name"]
        resource = (manifest.get("spec") or _NOTHING).get("extendedResourceName")
        found[IMPLICIT_RESOURCE + name if resource is None else resource] = name
    return found


_CLASSES: IdentityCache[DeviceClass] = IdentityCache(1024)

"""Claims and volumes as a scheduler believes them to be: the API server's, with its own decisions laid over them.

A decision of Reserve is assumed until the API server has a newer version of the object. The assumptions are the scheduler's
(`Handle.assumed`), so that a copy of it has them too.

kube: scheduler/util/assumecache/assume_cache.go @ v1.34.1
"""

from __future__ import annotations

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apimachinery.objects.storage.volumes import CLAIM, VOLUME, class_of, name_of
from scheduler_core.scheduler.framework.plugin import Handle


class AssumedObjects:
    """A view of claims and volumes."""

    __slots__ = ("_handle",)

    def __init__(self, handle: Handle) -> None:
        self._handle = handle

    def claim(self, namespace: str, name: str) -> Manifest | None:
        return self._seen(CLAIM, self._handle.get(CLAIM, namespace, name))

    def volume(self, name: str) -> Manifest | None:
        return self._seen(VOLUME, self._handle.get(VOLUME, "", name))

    def volumes(self, class_name: str) -> list[Manifest]:
        """The volumes of a class, by name."""
        volumes = (self._seen(VOLUME, volume) for volume in self._handle.list(VOLUME))
        return [volume for volume in volumes if volume is not None and class_of(volume) == class_name]

    def assume(self, kind: str, manifest: Manifest) -> str:
        """Lays a manifest over the API server's; the text says why it can't be, "" where it can."""
        key = _key(kind, manifest)
        stored = self._seen(kind, self._handle.get(*key))
        name = "/".join(part for part in key[1:] if part)
        if stored is None:
            return f'could not find v1.{kind} "{name}"'
        if version(manifest) < version(stored):
            stored_version, assumed_version = version(stored), version(manifest)
            return f'v1.{kind} "{name}" is out of sync (stored: {stored_version}, assume: {assumed_version})'
        self._handle.assumed[key] = manifest
        return ""

    def restore(self, kind: str, manifest: Manifest) -> None:
        """Takes an assumption back."""
        self._handle.assumed.pop(_key(kind, manifest), None)

    def _seen(self, kind: str, stored: Manifest | None) -> Manifest | None:
        if stored is None or not self._handle.assumed:
            return stored
        assumed = self._handle.assumed.get(_key(kind, stored))
        return stored if assumed is None or version(stored) > version(assumed) else assumed


def version(manifest: Manifest) -> int:
    """The resourceVersion; 0 where there is none."""
    return int(manifest["metadata"].get("resourceVersion") or 0)


def _key(kind: str, manifest: Manifest) -> tuple[str, str, str]:
    return kind, str(manifest["metadata"].get("namespace") or ""), name_of(manifest)

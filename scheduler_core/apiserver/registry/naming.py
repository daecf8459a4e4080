"""Names: where an object is placed, and the name that generateName makes.

kube: apiserver/pkg/storage/names/generate.go, apimachinery/pkg/util/rand/rand.go @ v1.34.1
"""

from __future__ import annotations

import hashlib

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apiserver.kinds import Kind, namespace_of
from scheduler_core.apiserver.store import Store

_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
_LONGEST = 58


def apply_default_namespace(manifest: Manifest, kind: Kind) -> Manifest:
    """Return the manifest with the default namespace if the kind is namespaced and no namespace is given."""
    namespace = namespace_of(kind, manifest)
    meta = manifest.get("metadata") or {}
    if (meta.get("namespace") or "") == namespace:
        return manifest
    return {**manifest, "metadata": {**meta, "namespace": namespace}}


def key_of(manifest: Manifest) -> tuple[str, str]:
    """Namespace and name."""
    meta = manifest["metadata"]
    return str(meta.get("namespace") or ""), str(meta.get("name") or "")


def apply_generated_name(manifest: Manifest, kind: Kind, store: Store) -> Manifest:
    """Return the manifest with a name generated from generateName if it has no name."""
    meta = manifest["metadata"]
    base = meta.get("generateName")
    if meta.get("name") or not base:
        return manifest
    tries = 0
    while True:
        name = base[:_LONGEST] + suffix(f"{kind.key}/{base}/{store.created}/{tries}")
        if store.get(kind.key, meta.get("namespace") or "", name) is None:
            return {**manifest, "metadata": {**meta, "name": name}}
        tries += 1


def suffix(text: str, length: int = 5) -> str:
    """Letters that depend on nothing but the text, of kube's alphabet, which spells no words."""
    number = int.from_bytes(hashlib.sha256(text.encode()).digest()[:16], "big")
    letters = []
    for _ in range(length):
        number, rest = divmod(number, len(_ALPHABET))
        letters.append(_ALPHABET[rest])
    return "".join(letters)

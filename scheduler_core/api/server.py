"""The API server of worlds whose cluster is modelled: requests through admission and validation, as kube-apiserver takes them.

create: defaults, mutating admission, validation, validating admission, storage. update and patch: the same, with the fields that may
not change. delete: grace of pods, finalizers. Every verb raises Refused, with the answer that a client would get, and changes nothing
then.

kube: apiserver/pkg/registry/generic/registry/store.go, apiserver/pkg/endpoints/handlers @ v1.34.1
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from scheduler_core.api import deletion, strategies
from scheduler_core.api.admission.catalogue import plugins_of
from scheduler_core.api.admission.plugin import ADMIN, Operation, Request
from scheduler_core.api.kinds import Kind, kind_of, known, namespace_of, reference
from scheduler_core.api.options import APIServerOptions
from scheduler_core.api.reapplying import reapplied
from scheduler_core.api.rewriting import merge_patch, with_section
from scheduler_core.api.status import Answer, Refused, already_exists, conflict, not_found
from scheduler_core.api.store import Store
from scheduler_core.api.validation.cluster import validate, validate_update
from scheduler_core.api.validation.objects import describe, structure
from scheduler_core.objects.errors import FieldError, invalid

Manifest = Mapping[str, Any]
_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
_SUBRESOURCES = {"Pod": ("status", "resize"), "Namespace": ("status", "finalize")}
_FIRST = ("Namespace", "CustomResourceDefinition", "PriorityClass", "StorageClass", "RuntimeClass", "Node")
_RANK = {kind: rank for rank, kind in enumerate(_FIRST)} | {"Pod": len(_FIRST) + 1}


@dataclass(frozen=True, slots=True)
class Preconditions:
    """What must hold for a deletion."""

    uid: str = ""
    resource_version: str = ""


@dataclass(frozen=True, slots=True)
class APIServer:
    """The door to a store. `now` is virtual time (ns). It keeps nothing: make one whenever it is needed."""

    store: Store
    options: APIServerOptions
    now: int

    # writing

    def create(
        self, manifest: Manifest, user: str = ADMIN, dry_run: bool = False, imported: bool = False
    ) -> Manifest:
        """POST. The object as it was stored. `imported`: it is said to be there, and keeps what its cluster made of it."""
        kind = self._read(manifest)
        manifest = self._named(_placed(manifest, kind), kind)
        namespace, name = _key(manifest)
        request = replace(
            self._request("CREATE", kind, namespace, name, user=user), dry_run=dry_run, imported=imported
        )
        if kind.key == "Job" and not manifest["metadata"].get("uid"):  # its selector will name it
            uid = self.store.next_uid(namespace, name)
            manifest = {**manifest, "metadata": {**manifest["metadata"], "uid": uid}}
        manifest = strategies.prepare_for_create(kind, manifest)
        for plugin in plugins_of(self.options):
            manifest = plugin.admit(request, manifest)
        manifest = strategies.complete(kind, manifest, self.store.timestamp(self.now), imported)
        self._check(kind, name, validate(manifest, kind))
        for plugin in plugins_of(self.options):
            plugin.validate(request, manifest)
        if self.store.get(kind.key, namespace, name) is not None:
            raise Refused.because(already_exists(kind.resource, name), reference(kind.key, namespace, name))
        if dry_run:
            return manifest
        for plugin in plugins_of(self.options):
            plugin.commit(request, manifest)
        stored = self.store.create(manifest, kind.key, self.now).new
        assert stored is not None
        return stored

    def update(
        self, manifest: Manifest, subresource: str = "", user: str = ADMIN, imported: bool = False
    ) -> Manifest:
        """PUT. The object as it is stored now; a resourceVersion that is given must be the present one. `imported`: see create."""
        kind = self._read(manifest)
        if subresource and subresource not in _SUBRESOURCES.get(kind.key, ("status",)):
            answer = Answer("NotFound", "the server could not find the requested resource")
            raise Refused.because(answer, reference(kind.key, *_key(manifest)))
        namespace, name = _key(_placed(manifest, kind))
        old = self._found(kind, namespace, name)
        given = manifest["metadata"].get("resourceVersion")
        if given and given != old["metadata"].get("resourceVersion"):
            why = (
                "the object has been modified; please apply your changes to the latest version and try again"
            )
            raise Refused.because(conflict(kind.resource, name, why), reference(kind.key, namespace, name))
        request = replace(
            self._request("UPDATE", kind, namespace, name, user=user),
            old=old,
            subresource=subresource,
            imported=imported,
        )
        new = strategies.prepare_for_update(kind, old, manifest, subresource, imported)
        for plugin in plugins_of(self.options):
            new = plugin.admit(request, new)
        errors = [*validate(new, kind), *validate_update(old, new, kind, subresource)]
        self._check(kind, name, errors)
        for plugin in plugins_of(self.options):
            plugin.validate(request, new)
        for plugin in plugins_of(self.options):
            plugin.commit(request, new)
        return self._written(kind, old, new)

    def patch(
        self,
        target: tuple[str, str, str],
        patch: Any,
        type_: str = "merge",
        subresource: str = "",
        user: str = ADMIN,
    ) -> Manifest:
        """PATCH of kind, namespace, name; `type_`: merge (RFC 7396) or strategic."""
        kind = _kind(*target)
        old = self._found(kind, *target[1:])
        new = strategies.strategic_patch(old, patch) if type_ == "strategic" else merge_patch(old, patch)
        fixed = {"name": target[2], **({"namespace": target[1]} if target[1] else {})}
        if not isinstance(new, Mapping) or not isinstance(new.get("metadata"), Mapping):
            raise Refused([invalid("metadata", None, "an object is expected").of(reference(*target))])
        if kind_of(new) != kind:
            raise Refused([invalid("kind", new.get("kind"), "field is immutable").of(reference(*target))])
        return self.update({**new, "metadata": {**new["metadata"], **fixed}}, subresource, user)

    def patch_status(self, target: tuple[str, str, str], status: Mapping[str, Any]) -> Manifest:
        """A controller's update of fields of the status: nothing is written where all is so."""
        old = self._found(_kind(*target), *target[1:])
        new = with_section(old, "status", status)
        new["status"] = {name: value for name, value in new["status"].items() if value is not None}
        return old if new.get("status") == old.get("status") else self._written(_kind(*target), old, new)

    def delete(
        self,
        target: tuple[str, str, str],
        grace: int | None = None,
        propagation: str = "",
        preconditions: Preconditions | None = None,
        user: str = ADMIN,
    ) -> None:
        """DELETE of kind, namespace, name. `grace`: seconds for a pod (None: its own). What has finalizers stays until they are gone."""
        kind = _kind(*target)
        old = self._found(kind, *target[1:])
        self._demand(kind, old, preconditions)
        request = replace(self._request("DELETE", kind, target[1], target[2], user=user), old=old)
        strategies.refuse_deletion(kind, target[2])
        for plugin in plugins_of(self.options):
            plugin.validate(request, old)
        deletion.delete(self.store, kind, old, self.now, grace, propagation)

    def bind(self, pod: str, uid: str, node: str) -> None:
        """POST of pods/binding."""
        answer = self.store.bind(pod, uid, node, self.now)
        if not answer.ok:
            raise Refused.because(answer, f"Pod {pod}")

    def scale(self, target: tuple[str, str, str], replicas: int) -> None:
        """PUT of the scale subresource."""
        self.patch(target, {"spec": {"replicas": replicas}})

    def apply(self, manifests: Sequence[Manifest], user: str = ADMIN, create_only: bool = False) -> None:
        """Creates what is new and updates what is there, what others refer to first; all or none: Refused tells the errors of all.

        `create_only` refuses names that are taken.
        """
        ordered = sorted(manifests, key=rank)
        if len(ordered) > 1:
            trial = APIServer(self.store.replica(), self.options, self.now)
            errors: list[FieldError] = []
            answers: list[Answer] = []
            for manifest in ordered:
                try:
                    trial._apply(manifest, user, create_only)
                except Refused as refused:
                    errors += refused.errors
                    answers.append(refused.answer)
            if errors:
                raise Refused(errors, answers[0])
        for manifest in ordered:
            self._apply(manifest, user, create_only)

    def _apply(self, manifest: Manifest, user: str, create_only: bool) -> None:
        try:
            self._put(manifest, user, create_only)
        except Refused as refused:
            name = describe(manifest)
            raise Refused([error.of(name) for error in refused.errors], refused.answer) from refused

    def _put(self, manifest: Manifest, user: str, create_only: bool) -> None:
        kind = self._read(manifest)
        placed = _placed(manifest, kind)
        old = self.store.get(kind.key, *_key(placed))
        if old is None or create_only:
            self.create(placed, user, imported=True)
        else:
            given = {k: v for k, v in reapplied(old, placed).items() if k != "resourceVersion"}
            self.update(given, user=user, imported=True)

    def found(self, target: tuple[str, str, str]) -> Manifest:
        """The object of kind, namespace, name. Refused: 404."""
        return self._found(_kind(*target), *target[1:])

    def demand(self, target: tuple[str, str, str], preconditions: Preconditions | None) -> None:
        """Refused: 409 where an object is not the one that is meant."""
        self._demand(_kind(*target), self.found(target), preconditions)

    # what all of them need

    def _read(self, manifest: Any) -> Kind:
        errors = structure(manifest)
        if errors:
            answer = Answer("BadRequest", "; ".join(map(str, errors)), tuple(map(str, errors)))
            raise Refused(errors, answer)
        kind = kind_of(manifest)
        assert kind is not None
        return kind

    def _check(self, kind: Kind, name: str, errors: Sequence[FieldError]) -> None:
        if errors:
            text = f"{kind.key}.{kind.group}" if kind.group and "." not in kind.key else kind.key
            raise Refused.invalid(text, name, errors)

    def _found(self, kind: Kind, namespace: str, name: str) -> Manifest:
        old = self.store.get(kind.key, namespace, name)
        if old is None:
            raise Refused.because(not_found(kind.resource, name), reference(kind.key, namespace, name))
        return old

    def _demand(self, kind: Kind, old: Manifest, wanted: Preconditions | None) -> None:
        meta = old["metadata"]
        if wanted is not None and (
            (wanted.uid and wanted.uid != meta.get("uid"))
            or (wanted.resource_version and wanted.resource_version != meta.get("resourceVersion"))
        ):
            why = f"Precondition failed: UID in precondition: {wanted.uid}, UID in object meta: {meta.get('uid')}"
            raise Refused.because(conflict(kind.resource, meta["name"], why))

    def _request(
        self,
        operation: Operation,
        kind: Kind,
        namespace: str,
        name: str,
        user: str = ADMIN,
    ) -> Request:
        return Request(self.store, self.options, self.now, operation, kind, namespace, name, user=user)

    def _named(self, manifest: Manifest, kind: Kind) -> Manifest:
        """With a name made of generateName, where there is none."""
        meta = manifest["metadata"]
        base = meta.get("generateName")
        if meta.get("name") or not base:
            return manifest
        tries = 0
        while True:
            name = base[:58] + suffix(f"{kind.key}/{base}/{self.store.created}/{tries}")
            if self.store.get(kind.key, meta.get("namespace") or "", name) is None:
                return {**manifest, "metadata": {**meta, "name": name}}
            tries += 1

    def _written(self, kind: Kind, old: Manifest, new: Manifest) -> Manifest:
        event = self.store.replace(new, kind.key)
        if event is None:
            return old
        stored = event.new
        assert stored is not None
        deletion.collect(self.store, kind, stored)
        return stored


def suffix(text: str, length: int = 5) -> str:
    """Letters that depend on nothing but the text, of kube's alphabet, which spells no words."""
    number = int.from_bytes(hashlib.sha256(text.encode()).digest()[:16], "big")
    letters = []
    for _ in range(length):
        number, rest = divmod(number, len(_ALPHABET))
        letters.append(_ALPHABET[rest])
    return "".join(letters)


def _kind(key: str, namespace: str, name: str) -> Kind:
    """The kind of a target. Refused: nobody knows it."""
    try:
        return known(key)
    except KeyError:
        raise Refused.because(not_found(key.lower(), name), reference(key, namespace, name)) from None


def rank(manifest: Any) -> int:
    """Where an object stands among those that are applied together: what others refer to comes first."""
    kind = manifest.get("kind") if isinstance(manifest, Mapping) else None
    return _RANK.get(kind, len(_FIRST)) if isinstance(kind, str) else 0


def _placed(manifest: Manifest, kind: Kind) -> Manifest:
    """With the default namespace where the kind lives in one and none is said."""
    namespace = namespace_of(kind, manifest)
    meta = manifest.get("metadata") or {}
    if (meta.get("namespace") or "") == namespace:
        return manifest
    return {**manifest, "metadata": {**meta, "namespace": namespace}}


def _key(manifest: Manifest) -> tuple[str, str]:
    meta = manifest["metadata"]
    return str(meta.get("namespace") or ""), str(meta.get("name") or "")

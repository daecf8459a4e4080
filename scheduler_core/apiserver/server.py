"""The API server: requests pass admission and validation, as in kube-apiserver.

create: defaults, mutating admission, validation, validating admission, storage. update and patch: the same, and a check of immutable
fields. delete: grace of pods, finalizers. Each verb raises Refused, with the client's answer, and then changes nothing.

kube: apiserver/pkg/registry/generic/registry/store.go, apiserver/pkg/endpoints/handlers @ v1.34.1
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from scheduler_core.apimachinery.objects import FieldError, Manifest, invalid
from scheduler_core.apiserver import deletion
from scheduler_core.apiserver.admission.catalogue import plugins_of
from scheduler_core.apiserver.admission.plugin import ADMIN, Operation, Request
from scheduler_core.apiserver.admission.plugins.simple import PodTopologyLabels, labels_at
from scheduler_core.apiserver.kinds import SYSTEM_CLASSES, Kind, get_kind_by_key, has_uid, key_of, kind_of, reference
from scheduler_core.apiserver.object_defaults import with_object_defaults
from scheduler_core.apiserver.options import APIServerOptions
from scheduler_core.apiserver.pod_memo import PodMemo
from scheduler_core.apiserver.registry import strategies
from scheduler_core.apiserver.registry.devices import strategy as devices
from scheduler_core.apiserver.registry.devices.defaults import DEFAULT_GATES, DeviceGates, apply_device_defaults
from scheduler_core.apiserver.registry.devices.versions import convert_to_v1
from scheduler_core.apiserver.registry.releases import apply_release_defaults, judge_by_release, update_rules
from scheduler_core.apiserver.registry.strategies import apply_default_namespace, apply_generated_name
from scheduler_core.apiserver.rewriting import Writing, with_section
from scheduler_core.apiserver.schema.reading import is_newer_value, read, read_patched
from scheduler_core.apiserver.status import Answer, Refused, already_exists, conflict, not_found
from scheduler_core.apiserver.store import Store
from scheduler_core.apiserver.validation.checks import IMMUTABLE
from scheduler_core.apiserver.validation.cluster import validate, validate_update
from scheduler_core.apiserver.validation.updates import CHANGES_FIRST, is_new_generation, select_judged

DEFAULTING = "defaults"
_SUBRESOURCES = {"Pod": ("status", "resize", "ephemeralcontainers"), "Namespace": ("status", "finalize")}


@dataclass(frozen=True, slots=True)
class Preconditions:
    """The preconditions of a deletion."""

    uid: str = ""
    resource_version: str = ""


@dataclass(frozen=True, slots=True)
class APIServer:
    """The API of a store. `now` is virtual time (ns). It has no state: create one when it is needed."""

    store: Store
    options: APIServerOptions
    now: int
    memo: PodMemo | None = None  # of an import
    devices: DeviceGates = DEFAULT_GATES
    typed: bool = False  # its clients are components, which preserve stored fields that their types do not have
    # The last step that changes an object before it is stored.
    finish: Callable[[Manifest | None, Manifest], Manifest] | None = None
    warnings: list[str] | None = None  # collects the warnings of admission
    scales: bool = False  # the subresource scale is written

    # writing

    def create(self, manifest: Manifest, user: str = ADMIN, dry_run: bool = False, imported: bool = False) -> Manifest:
        """POST: create an object and return its stored form. `imported`: the object existed, and keeps the fields that its cluster set."""
        recalled = None if self.memo is None else self.memo.recall(manifest)
        if recalled is None:
            kind, manifest = self.read(manifest, imported)
        else:
            kind = get_kind_by_key("Pod")
        manifest = apply_generated_name(apply_default_namespace(manifest, kind), kind, self.store)
        namespace, name = key_of(manifest)
        request = self._request("CREATE", kind, namespace, name, user=user)
        request.dry_run, request.imported = dry_run, imported
        request.restored = imported and bool(manifest["metadata"].get("uid"))
        given, like = manifest, None
        written: Sequence[Manifest] = ()
        if recalled is None:
            manifest, written = self._admitted(request, manifest)
        else:
            manifest, like = recalled
            for plugin in plugins_of(self.options).others:
                plugin.validate(request, manifest)
        if self.store.get(kind.key, namespace, name) is not None:
            raise self._exists(kind, namespace, name)
        if dry_run:
            return manifest
        for plugin in () if request.restored else plugins_of(self.options).writers:
            plugin.commit(request, manifest)
        if self.finish is not None:
            manifest = self.finish(None, manifest)
        event = self.store.create(manifest, kind.key, self.now, like, () if request.restored else written)
        assert event.new is not None
        if self.memo is not None and recalled is None and event.new_pod is not None:
            self.memo.learn(given, event.new_pod)
        return event.new

    def update(self, manifest: Manifest, subresource: str = "", user: str = ADMIN, imported: bool = False) -> Manifest:
        """PUT: return the stored form. A resourceVersion in the manifest must be the current one. `imported`: see create."""
        kind, manifest = self.read(manifest, imported, self._stored(manifest))
        return self._update(kind, manifest, subresource, user, imported)

    def _update(self, kind: Kind, manifest: Manifest, subresource: str, user: str, imported: bool = False) -> Manifest:
        """Update an object that was decoded."""
        if subresource and subresource not in self._subresources(kind):
            answer = Answer("NotFound", "the server could not find the requested resource")
            raise Refused.because(answer, reference(kind.key, *key_of(manifest)))
        namespace, name = key_of(apply_default_namespace(manifest, kind))
        old = self._found(kind, namespace, name)
        given = manifest["metadata"].get("resourceVersion")
        if given and given != old["metadata"].get("resourceVersion"):
            why = "the object has been modified; please apply your changes to the latest version and try again"
            raise Refused.because(conflict(kind.resource, name, why), reference(kind.key, namespace, name))
        request = replace(
            self._request("UPDATE", kind, namespace, name, user=user),
            old=old,
            subresource=subresource,
            imported=imported,
        )
        writing = Writing(manifest)
        new = writing.take(DEFAULTING, self._with_defaults(kind, manifest, old))
        for plugin in plugins_of(self.options).all:
            new = writing.take(plugin.name, plugin.admit(request, new))
        rules = update_rules(self.devices)
        sent = strategies.prepare_for_update(kind, old, new, subresource, imported, rules)
        new = devices.prepare_updated_object(kind, old, sent, subresource, self.devices, imported)
        errors = select_judged(kind.key, validate(new, kind))
        changes = validate_update(old, new, kind, subresource, rules)
        errors = changes + errors if kind.key in CHANGES_FIRST else errors + changes
        if devices.are_about(kind):
            errors += devices.update_errors(kind, old, new, subresource, self.devices, self.store)
        errors = judge_by_release(kind, new, errors, self.devices, subresource not in ("", "resize"))
        newer = {each.path for each in errors if is_newer_value(each)}
        if newer and not self.typed:
            # A stored value that only newer releases know may stay, but an update cannot add one.
            newer &= {each.path for each in validate(old, kind)}
        self._check(kind, name, [each for each in errors if each.path not in newer])
        for plugin in plugins_of(self.options).all:
            plugin.validate(request, new)
        for plugin in plugins_of(self.options).writers:
            plugin.commit(request, new)
        self.store.note_written(str(old["metadata"].get("uid") or ""), writing.written)
        counts = not (subresource or self.typed) and is_new_generation(kind.key, old, new)
        return self._replace(kind, old, new, counts, sent)

    def patch(
        self, target: tuple[str, str, str], patch: Any, type_: str = "merge", subresource: str = "", user: str = ADMIN
    ) -> Manifest:
        """PATCH kind, namespace, name; `type_`: merge (RFC 7396) or strategic."""
        kind = _kind(*target)
        old = self._found(kind, *target[1:])
        new = strategies.apply_patch(kind, old, patch, type_)
        fixed = {"name": target[2], **({"namespace": target[1]} if target[1] else {})}
        if not isinstance(new, Mapping) or not isinstance(new.get("metadata"), Mapping):
            raise Refused([invalid("metadata", None, "an object is expected").of(reference(*target))])
        if kind_of(new) != kind:
            raise Refused([invalid("kind", new.get("kind"), IMMUTABLE).of(reference(*target))])
        read_patched(new, patch, self.typed, old, self.devices.release)
        # A patch must not rename or move an object.
        meta = new["metadata"]
        name, why = meta.get("name") or "", ""
        if name != target[2]:
            why = f"the name of the object ({name}) does not match the name on the URL ({target[2]})"
        if (meta.get("namespace") or target[1]) != target[1]:
            why = "the namespace of the provided object does not match the namespace sent on the request"
        if why:
            raise Refused.because(Answer("BadRequest", why), reference(*target))
        return self._update(kind, {**new, "metadata": {**new["metadata"], **fixed}}, subresource, user)

    def patch_status(self, target: tuple[str, str, str], status: Mapping[str, Any]) -> Manifest:
        """Set fields of the status for a controller (None removes a field). Write nothing if nothing changes."""
        old = self._found(_kind(*target), *target[1:])
        new = with_section(old, "status", status)
        new["status"] = {name: value for name, value in new["status"].items() if value is not None}
        return old if new.get("status") == old.get("status") else self._replace(_kind(*target), old, new)

    def delete(
        self,
        target: tuple[str, str, str],
        grace: int | None = None,
        propagation: str = "",
        preconditions: Preconditions | None = None,
        user: str = ADMIN,
    ) -> None:
        """DELETE kind, namespace, name. `grace`: seconds for a pod (None: its own). Finalizers delay the removal."""
        kind = _kind(*target)
        old = self._found(kind, *target[1:])
        self._demand(kind, old, preconditions)
        request = replace(self._request("DELETE", kind, target[1], target[2], user=user), old=old)
        strategies.refuse_deletion(kind, target[2])
        for plugin in plugins_of(self.options).all:
            plugin.validate(request, old)
        deletion.delete(self.store, kind, old, self.now, grace, propagation)

    def bind(self, pod: str, uid: str, node: str) -> None:
        """POST pods/binding. Raise Refused."""
        answer = self.answer_binding(pod, uid, node)
        if not answer.ok:
            raise Refused.because(answer, f"Pod {pod}")

    def answer_binding(self, pod: str, uid: str, node: str) -> Answer:
        """POST pods/binding for a scheduler, and return the answer."""
        off = PodTopologyLabels.name in self.options.disable_admission_plugins or not self.devices.topology_labels
        labels = {} if off else labels_at(self.store, node)
        return self.store.bind(pod, uid, node, self.now, labels)

    def scale(self, target: tuple[str, str, str], replicas: int) -> None:
        """PUT the scale subresource."""
        replace(self, scales=True).patch(target, {"spec": {"replicas": replicas}})

    def found(self, target: tuple[str, str, str]) -> Manifest:
        """Return the object of kind, namespace, name. Raise Refused (404)."""
        return self._found(_kind(*target), *target[1:])

    # shared by all verbs

    def _stored(self, manifest: Any) -> Manifest | None:
        """Return the stored object of a manifest's name, or None. Malformed manifests are accepted."""
        if not isinstance(manifest, Mapping) or not isinstance(manifest.get("metadata"), Mapping):
            return None
        kind = kind_of(manifest)
        return None if kind is None else self.store.get(kind.key, *key_of(apply_default_namespace(manifest, kind)))

    def read(self, manifest: Any, imported: bool = False, old: Manifest | None = None) -> tuple[Kind, Manifest]:
        """Return the kind of an object, and the object in the stored version. Raise Refused (400) if it cannot be decoded.

        An imported object with a uid keeps unknown fields, because its cluster is newer.
        """
        kind, manifest = read(manifest, self.typed or (imported and has_uid(manifest)), old, self.devices.release)
        return kind, convert_to_v1(manifest)

    def _subresources(self, kind: Kind) -> tuple[str, ...]:
        if devices.are_about(kind) and kind.key != devices.CLAIM:
            return ()
        return _SUBRESOURCES.get(kind.key, ("status",))

    def _with_defaults(self, kind: Kind, manifest: Manifest, old: Manifest | None = None) -> Manifest:
        meta = manifest["metadata"]
        if kind.key == "Job" and old is not None:  # its selector is generated only at creation
            manifest = {**manifest, "metadata": {name: value for name, value in meta.items() if name != "uid"}}
        manifest = strategies.with_defaults(kind, manifest, self.devices.release)
        if "uid" in meta and "uid" not in manifest["metadata"]:
            manifest = with_section(manifest, "metadata", {"uid": meta["uid"]})
        if self.store.calendar:
            manifest = apply_release_defaults(kind, with_object_defaults(kind.key, manifest, old), self.devices)
        if not devices.are_about(kind):
            return manifest
        return apply_device_defaults(manifest, kind.key, self.store.timestamp(self.now))

    def _admitted(self, request: Request, manifest: Manifest) -> tuple[Manifest, Sequence[Manifest]]:
        """Return a new object after admission, and the fields written into it. Raise Refused."""
        kind = request.kind
        if kind.key == "Job" and not manifest["metadata"].get("uid"):  # its generated selector contains the uid
            uid = self.store.next_uid(request.namespace, request.name)
            manifest = {**manifest, "metadata": {**manifest["metadata"], "uid": uid}}
        plugins = plugins_of(self.options).all
        if request.restored:
            plugins = tuple(plugin for plugin in plugins if plugin.of_restored)
        writing = Writing(manifest)
        manifest = writing.take(
            DEFAULTING,
            self._with_defaults(
                kind, strategies.prepare_for_create(kind, manifest, request.restored, self.devices.release)
            ),
        )
        for plugin in plugins:
            manifest = writing.take(plugin.name, plugin.admit(request, manifest))
        timestamp, gates = self.store.timestamp(self.now), self.devices
        if kind.key == "PodGroup" and not (gates.generic_workload or request.restored):
            text = "the server could not find the requested resource: PodGroup needs kube 1.37 and the gate GenericWorkload"
            raise Refused.because(Answer("NotFound", text), reference(kind.key, request.namespace, request.name))
        manifest = strategies.complete(kind, manifest, timestamp, request.imported)
        manifest = writing.take(
            DEFAULTING, devices.prepare_new_object(kind, manifest, gates, request.imported, request.restored)
        )
        errors = validate(manifest, kind, not request.restored)
        if devices.are_about(kind):
            errors += devices.create_errors(kind, manifest, gates, self.store, request.restored)
        errors = judge_by_release(kind, manifest, errors, gates, request.restored)
        if request.restored or self.typed:
            errors = [each for each in errors if not is_newer_value(each)]
        self._check(kind, request.name, errors)
        for plugin in plugins:
            plugin.validate(request, manifest)
        return manifest, writing.written

    def _check(self, kind: Kind, name: str, errors: Sequence[FieldError]) -> None:
        if errors:
            text = f"{kind.key}.{kind.group}" if kind.group and "." not in kind.key else kind.key
            raise Refused.invalid(text, name, errors)

    def _found(self, kind: Kind, namespace: str, name: str) -> Manifest:
        old = self.store.get(kind.key, namespace, name)
        if old is None:
            raise Refused.because(not_found(kind.resource, name), reference(kind.key, namespace, name))
        return old

    def _exists(self, kind: Kind, namespace: str, name: str) -> Refused:
        """Return the refusal for an object that exists already, even one that is being deleted."""
        there = already_exists(kind.resource, name)
        if self._found(kind, namespace, name)["metadata"].get("deletionTimestamp"):
            there = replace(there, message=f"object is being deleted: {there.message}")
        return Refused.because(there, reference(kind.key, namespace, name))

    def _demand(self, kind: Kind, old: Manifest, wanted: Preconditions | None) -> None:
        meta = old["metadata"]
        if wanted is not None and (
            (wanted.uid and wanted.uid != meta.get("uid"))
            or (wanted.resource_version and wanted.resource_version != meta.get("resourceVersion"))
        ):
            why = f"Precondition failed: UID in precondition: {wanted.uid}, UID in object meta: {meta.get('uid')}"
            raise Refused.because(conflict(kind.resource, meta["name"], why))

    def _request(self, operation: Operation, kind: Kind, namespace: str, name: str, user: str = ADMIN) -> Request:
        request = Request(self.store, self.options, self.now, operation, kind, namespace, name, user=user)
        request.release, request.topology_labels = self.devices.release, self.devices.topology_labels
        request.warnings, request.scales = self.warnings, self.scales
        return request

    def _replace(
        self, kind: Kind, old: Manifest, new: Manifest, counts: bool = False, sent: Manifest | None = None
    ) -> Manifest:
        """Store an object. `sent`: the object with its dropped fields, which get managers nevertheless."""
        if self.finish is not None:
            marked = self.finish(old, sent or new)
            managers = marked["metadata"].get("managedFields")
            new = marked if sent in (None, new) else with_section(new, "metadata", {"managedFields": managers})
        event = self.store.replace(new, kind.key, counts)
        if event is None:
            return old
        stored = event.new
        assert stored is not None
        # An update that removes the last finalizer completes the deletion.
        deletion.collect(self.store, kind, stored)
        return stored


def _kind(key: str, namespace: str, name: str) -> Kind:
    """Return the kind of a target. Raise Refused if it is unknown."""
    try:
        return get_kind_by_key(key)
    except KeyError:
        raise Refused.because(not_found(key.lower(), name), reference(key, namespace, name)) from None


# The initial objects of each cluster: kube's own namespaces and priority classes.
# kube: pkg/controlplane/controller/systemnamespaces, pkg/registry/scheduling/rest/storage_scheduling.go,
# pkg/apis/scheduling/v1/helpers.go @ v1.34.1

NAMESPACES = ("default", "kube-node-lease", "kube-public", "kube-system")
_STANDING: Mapping[str, Collection[str]] = {"Namespace": NAMESPACES, "PriorityClass": SYSTEM_CLASSES}
_DESCRIPTIONS = {
    "system-node-critical": "Used for system critical pods that must not be moved from their current node.",
    "system-cluster-critical": (
        "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary."
    ),
}


def make_standing_objects(api: APIServer) -> None:
    """Create the missing initial objects of a cluster, with the default admission plugins."""
    api = replace(api, options=APIServerOptions())
    for manifest in _standing():
        if api.store.get(manifest["kind"], "", manifest["metadata"]["name"]) is None:
            api.create(manifest)


def is_standing(manifest: Mapping[str, Any]) -> bool:
    """Return whether an object is one of the cluster's initial objects, unchanged."""
    meta = manifest["metadata"]
    if meta.get("annotations") or len(meta.get("labels") or ()) > 1:
        return False
    return meta["name"] in _STANDING.get(str(manifest.get("kind")), ())


def count_standing(store: Store) -> int:
    """Return how many of the cluster's initial objects exist unchanged."""
    found = (store.get(kind, "", name) for kind, names in _STANDING.items() for name in names)
    return sum(manifest is not None and is_standing(manifest) for manifest in found)


def _standing() -> list[dict[str, Any]]:
    namespaces = [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}} for name in NAMESPACES]
    classes = [
        {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": name},
            "value": value,
            "description": _DESCRIPTIONS[name],
        }
        for name, value in SYSTEM_CLASSES.items()
    ]
    return [*namespaces, *classes]

"""Requests that change objects: create, update, patch, and delete, with their options.

kube: apiserver/pkg/endpoints/handlers/{create,update,patch,delete}.go @ v1.34.1
"""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from scheduler_core.apimachinery.objects.errors import (
    FieldError,
    build_required_error,
    encode,
    invalid,
    quote,
    too_long,
)
from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apiserver.door import subresources
from scheduler_core.apiserver.door.answers import (
    Failure,
    Reply,
    bad_request,
    causes_of,
    invalid_options,
    no_resource,
    not_allowed,
)
from scheduler_core.apiserver.door.bodies.decoding import Decoder, DecodingError
from scheduler_core.apiserver.door.bodies.internal import describe_change
from scheduler_core.apiserver.door.bodies.versions import is_old, to_kept, to_served
from scheduler_core.apiserver.door.context import Context
from scheduler_core.apiserver.door.custom import crds, definitions
from scheduler_core.apiserver.door.events import check_event, convert_back, remove_event
from scheduler_core.apiserver.door.managed import Manager, apply, finish, note_phase, typed_of
from scheduler_core.apiserver.door.patching import STRATEGIC, change
from scheduler_core.apiserver.door.reading import all_of, find_object, list_objects, pick, present, read_number, show
from scheduler_core.apiserver.door.resources import CUSTOM, EVENTS, Resource, find_by_kind
from scheduler_core.apiserver.door.scales import make_scale, with_replicas
from scheduler_core.apiserver.door.selectors import make_test
from scheduler_core.apiserver.kinds import find_kind, get_kind_by_key
from scheduler_core.apiserver.object_defaults import TEMPLATE_GENERATION, with_object_defaults, without_allocations
from scheduler_core.apiserver.registry.strategies import apply_generated_name, with_defaults
from scheduler_core.apiserver.schema.go_values import go_map
from scheduler_core.apiserver.schema.zeros import fill, keep_form, order
from scheduler_core.apiserver.server import Preconditions
from scheduler_core.apiserver.status import Refused, already_exists, conflict, not_found
from scheduler_core.apiserver.validation.checks import IMMUTABLE

_MODIFIED = "the object has been modified; please apply your changes to the latest version and try again"
_APPLY = "application/apply-patch"
_OPTIONS = {"POST": "CreateOptions", "PUT": "UpdateOptions", "PATCH": "PatchOptions", "DELETE": "DeleteOptions"}
_LONGEST_MANAGER = 128  # bytes
_POLICIES = ("Background", "Foreground", "Orphan")


def check_options(method: str, query: Mapping[str, str], content_type: str = "") -> None:
    """Raise Failure (422) for invalid options of a request."""
    kind, errors = _OPTIONS[method], []
    dry_run, validation = query.get("dryRun"), query.get("fieldValidation", "")
    if content_type.startswith(_APPLY) and not query.get("fieldManager"):
        errors.append(build_required_error("fieldManager", "is required for apply patch"))
    if method == "PATCH" and query.get("force") and not content_type.startswith(_APPLY):
        errors.append(FieldError("force", "", "may not be specified for non-apply patch", kind="Forbidden"))
    manager = query.get("fieldManager", "")
    if len(manager.encode()) > _LONGEST_MANAGER:
        errors.append(too_long("fieldManager", _LONGEST_MANAGER))
    for i, letter in enumerate(manager):
        if not letter.isprintable():
            errors.append(invalid("fieldManager", manager, f"invalid character U+{ord(letter):04X} (at position {i})"))
    if dry_run not in (None, "", "All"):
        errors.append(FieldError("dryRun", encode([dry_run]), 'supported values: "All"', kind="Unsupported value"))
    if validation not in ("", "Ignore", "Strict", "Warn"):
        supported = 'supported values: "", "Ignore", "Strict", "Warn"'
        errors.append(FieldError("fieldValidation", encode(validation), supported, kind="Unsupported value"))
    if errors:
        raise invalid_options(kind, *errors)


# Decoding of bodies


def decode(context: Context, body: Any, patch: Any = None, type_: str = "") -> dict[str, Any]:
    """Return the object of a body, as stored. `patch`: the patch that made the body. Raise Failure: 400, or 422 for a patch."""
    resource, decoder = context.resource, Decoder(stores=True)
    if not isinstance(body, Mapping):
        raise bad_request(
            f"the object provided is unrecognized (must be of type {resource.kind}): couldn't get version/kind"
        )
    _check_kind(context, body)
    try:
        if context.is_custom:
            manifest = crds.prune(resource, body, decoder.unknown)
        else:
            manifest = decoder.object(body, resource.type) if resource.type else dict(body)
    except DecodingError as wrong:
        raise _undecodable(resource, wrong, patch, body, type_) from None
    validation = context.query.get("fieldValidation") or "Warn"
    paths = sorted(decoder.unknown) if type_ == STRATEGIC else decoder.unknown
    unknown = [f'unknown field "{path}"' for path in paths]
    if unknown and validation == "Strict":
        strict = DecodingError(f"strict decoding error: {', '.join(unknown)}")
        raise _undecodable(resource, strict, patch, body, type_, str(strict))
    if validation == "Warn":
        context.warnings += unknown
    return to_kept(resource, {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": {}, **manifest})


def _say_conversion(wrong: DecodingError) -> str:
    """Return the message for a value of a wrong type, when Go restores structs from maps."""
    words = {dict: "map", list: "slice", str: "string", bool: "bool", int: "int64", float: "float64"}
    word, type_ = words.get(type(wrong.value), "map"), wrong.go
    if not wrong.at:
        return str(wrong)
    if type_.startswith("map"):
        return f"cannot restore map from {word}"
    if type_.startswith("[]"):
        return f"cannot restore slice from {word}"
    if "." in type_:
        return f"cannot restore struct from: {word}"
    converts = (word == "int64" and type_ != "bool") or (word == "float64" and type_ not in ("bool", "string"))
    return f"cannot convert {word} to {type_}" if converts else f"unrecognized type: {type_}"


def _undecodable(resource: Resource, wrong: DecodingError, patch: Any, new: Any, type_: str, why: str = "") -> Failure:
    why, is_strict = why or str(wrong), bool(why)
    if patch is None:
        said = f'{resource.kind} in version "{resource.version}" cannot be handled as a {resource.kind}: {why}'
        return bad_request(said)
    shown, touched = go_map(patch), patch
    if type_ == STRATEGIC:  # Go converts maps to structs here
        why = why if is_strict else _say_conversion(wrong)
    else:
        if isinstance(patch, list):
            touched = {}
            for each in patch:
                place = touched
                for part in str(each.get("path")).split("/")[1:-1]:
                    place = place.setdefault(part, {})
        shown = json.dumps(order(new, resource.type, touched), separators=(",", ":"), ensure_ascii=False)
    shown = f"Invalid value: {quote(shown)}: {why}"
    causes = [{"reason": "FieldValueInvalid", "message": shown, "field": "patch"}]
    return Failure(422, "Invalid", f' "" is invalid: patch: {shown}', {"causes": causes})


def _check_kind(context: Context, body: Mapping[str, Any]) -> None:
    resource = context.resource
    kind, version = body.get("kind") or resource.kind, body.get("apiVersion") or resource.api_version
    if (kind, version) == (resource.kind, resource.api_version):
        return
    short = version.rpartition("/")[2]
    said = f'{kind} in version "{short}" cannot be handled as a {resource.kind}: '
    known = find_by_kind(context.api.store, version, kind)
    if kind != resource.kind and known:
        other = f"{short}.{kind}"
        raise bad_request(
            f"{said}converting ({other}) to ({resource.group or 'core'}.{resource.kind}): unknown conversion"
        )
    raise bad_request(
        f'{said}no kind "{kind}" is registered for version "{version}" in scheme "pkg/runtime/scheme.go:110"'
    )


def _place_object(context: Context, manifest: dict[str, Any], named: bool) -> dict[str, Any]:
    """Return the object with the namespace of its path. Raise Failure (400) if its namespace or name differs."""
    target, meta = context.target, dict(manifest.get("metadata") or {})
    if context.resource.namespaced:
        if (meta.get("namespace") or target.namespace) != target.namespace:
            raise bad_request("the namespace of the provided object does not match the namespace sent on the request")
        meta["namespace"] = target.namespace
    else:
        meta.pop("namespace", None)
    if named and (meta.get("name") or "") != target.name:
        if not meta.get("name"):
            if context.method == "PATCH":
                said = f"the name of the object ({target.name} based on URL) was undeterminable: name must be provided"
                raise bad_request(said)
            raise bad_request("name must be provided")
        raise bad_request(f"the name of the object ({meta['name']}) does not match the name on the URL ({target.name})")
    return {**manifest, "metadata": meta}


# The verbs


def create(context: Context, body: Any) -> Reply:
    """Answer POST of a collection."""
    manifest = _place_object(context, decode(context, body), named=False)
    try:
        return context.answer(201, _create(context, manifest))
    except Refused as refused:
        if refused.answer.reason != "AlreadyExists" or not manifest["metadata"].get("generateName"):
            raise
        said = f"{refused.answer.message}, the server was not able to generate a unique name for the object"
        answer = replace(refused.answer, message=said, retry_after=1)
        raise Refused.because(answer) from None


def _create(context: Context, manifest: dict[str, Any], managed: list[Any] | None = None) -> Manifest:
    api, resource, given_version = context.api, context.resource, manifest["metadata"].get("resourceVersion")
    meta = {name: value for name, value in manifest["metadata"].items() if name not in _SERVERS}
    if managed is not None:
        meta["managedFields"] = managed
    manifest = {**manifest, "metadata": meta}
    if resource.namespaced and api.store.get("Namespace", "", context.target.namespace) is None:
        raise Failure(404, *_missing_namespace(context.target.namespace))
    if given_version and managed is None:
        raise Failure(400, "", "resourceVersion should not be set on objects to be created")
    if resource.key == EVENTS:
        return _create_event(context, manifest)
    if context.is_custom:
        manifest = crds.check(resource, manifest, None)
        manifest = {name: value for name, value in manifest.items() if name != "status" or "status" not in resource.sub}
    if resource.kind == CUSTOM:
        manifest = definitions.establish(manifest, api.store.timestamp(api.now), api.store.list(CUSTOM))
    given, manifest = manifest, with_object_defaults(resource.key, manifest)
    if managed is None and api.finish is not None:
        # Fields that admission and allocation add have no manager, so the object is marked before the API server's own create runs.
        kind = find_kind(resource.api_version, resource.kind)
        manifest = manifest if kind is None else dict(with_defaults(kind, manifest, api.devices.release))
        marked = api.finish(None, without_allocations(given, manifest))
        manifest = {**manifest, "metadata": marked["metadata"]}
        api = replace(api, finish=None)
    if resource.kind == "PersistentVolume":
        api = replace(api, finish=note_phase(api.store.timestamp(api.now)))
    try:
        made = api.create(manifest, context.query.get("user", ""))
    except Refused as refused:
        raise describe_change(refused, manifest, manifest) from None
    context.warn(None, made)
    return made


def _missing_namespace(name: str) -> tuple[str, str, dict[str, Any]]:
    answer = not_found("namespaces", name)
    return answer.reason, answer.message, {"name": name, "kind": "namespaces"}


# DELETE answers with the object if kube's strategy does (ReturnDeletedObject), else with a Status.
_RETURNED = (
    *("Pod", "PersistentVolume", "PersistentVolumeClaim", "PodTemplate", "ResourceQuota", "Service", "ServiceAccount"),
    *("DeviceClass", "ResourceClaim", "ResourceClaimTemplate", "ResourceSlice", "CSIDriver", "CSINode"),
    *("StorageClass", "VolumeAttachment", "VolumeAttributesClass"),
)
# kube's AllowUnconditionalUpdate is false: a PUT without a resourceVersion would overwrite changes unknown to the client.
_WITH_VERSION = (
    *("RuntimeClass", "PodDisruptionBudget", "CSIDriver", "CSIStorageCapacity", "VolumeAttachment", "CSINode", "Lease"),
)
# kube's AllowCreateOnUpdate: a PUT of an unused name creates the object.
_CREATED_BY_UPDATE = (
    *("RuntimeClass", "RoleBinding", "ClusterRoleBinding", "Role", "ClusterRole", "Lease"),
    *("LimitRange", "Event", "Service", "Endpoints"),
)
_SERVERS = (
    *("uid", "resourceVersion", "creationTimestamp", "generation"),
    *("deletionTimestamp", "selfLink", "managedFields"),
)


def _create_event(context: Context, manifest: dict[str, Any]) -> Manifest:
    store = context.api.store
    if context.api.finish is not None:
        manifest = dict(context.api.finish(None, manifest))
    manifest = convert_back(manifest) if context.resource.group else manifest
    named = apply_generated_name(manifest, get_kind_by_key(EVENTS), store)
    namespace, name = named["metadata"].get("namespace", ""), named["metadata"].get("name")
    if not name:
        raise Refused.invalid("Event", "", [build_required_error("metadata.name", "name or generateName is required")])
    check_event(named, bool(context.resource.group))
    if store.get(EVENTS, namespace, name) is not None:
        raise Refused.because(already_exists("events", name))
    event = store.create(named, EVENTS, context.api.now)
    assert event.new is not None
    return event.new


def update(context: Context, body: Any) -> Reply:
    """Answer PUT of an object."""
    sub = context.target.subresource
    if sub == "scale":
        return _update_scale(context, body)
    manifest = _place_object(context, decode(context, body), named=True)
    if not sub and context.resource.kind in _CREATED_BY_UPDATE and context.api.store.get(*context.place) is None:
        if uid := manifest["metadata"].get("uid"):
            why = _other_uid(context, uid, {"metadata": {"uid": ""}})
            raise Refused.because(conflict(context.resource.named, context.target.name, why))
        return context.answer(201, _create(context, manifest))
    return context.answer(200, store_update(context, manifest))


def store_update(context: Context, manifest: dict[str, Any], managed: list[Any] | None = None) -> Manifest:
    """Store an updated object. Return its stored form. Raise Refused."""
    api, resource = context.api, context.resource
    old = find_object(api.store, resource, context.target)
    context.version = old["metadata"].get("resourceVersion", "")
    meta = dict(manifest["metadata"])
    if meta.get("uid") and meta["uid"] != old["metadata"].get("uid"):
        if context.method == "PATCH":
            raise Refused.invalid(resource.kind, context.target.name, [invalid("metadata.uid", meta["uid"], IMMUTABLE)])
        raise Refused.because(conflict(resource.named, context.target.name, _other_uid(context, meta["uid"], old)))
    versioned = context.is_custom or resource.kind in (*_WITH_VERSION, CUSTOM)
    if not meta.get("resourceVersion") and versioned and context.method == "PUT":
        error = FieldError("metadata.resourceVersion", "0", "must be specified for an update", kind="Invalid value")
        details = {"name": context.target.name, "group": resource.group, "kind": resource.plural}
        said = f'{resource.named} "{context.target.name}" is invalid: {error}'
        raise Failure(422, "Invalid", said, {**details, "causes": causes_of([error])})
    if meta.get("resourceVersion") and meta["resourceVersion"] != old["metadata"].get("resourceVersion"):
        raise Refused.because(conflict(resource.named, context.target.name, _MODIFIED))
    given = meta.get("managedFields")  # a client may transfer fields to another manager
    meta |= {name: old["metadata"][name] for name in _SERVERS if name in old["metadata"]}
    if given and all(each.get("manager") and each.get("fieldsV1") for each in given):
        meta["managedFields"] = given
    if resource.type:
        filled = fill(resource.type, to_served(resource, old))
        manifest = keep_form(manifest, {**filled, "spec": old["spec"]} if is_old(resource) else filled, old)
    if managed is not None:
        meta["managedFields"] = managed
    manifest = {**manifest, "metadata": meta}
    if resource.key == EVENTS:
        manifest = manifest if api.finish is None else dict(api.finish(old, manifest))
        manifest = convert_back(manifest) if resource.group else manifest
        check_event(manifest, bool(resource.group), convert_back(old) if resource.group else old)
        store = context.api.store
        there = store.get(*context.place) is not None
        event = store.replace(manifest, EVENTS) if there else store.create(manifest, EVENTS, api.now)
        return old if event is None or event.new is None else event.new
    if context.is_custom:
        manifest = _custom_update(context, old, manifest)
    if resource.kind == CUSTOM and not context.target.subresource:
        manifest = definitions.renew(manifest, old)
    manifest = with_object_defaults(resource.key, manifest, old)
    if resource.kind == "DaemonSet" and manifest["spec"].get("template") != old["spec"].get("template"):
        notes, known = (each["metadata"].get("annotations") or {} for each in (manifest, old))
        notes = {**notes, TEMPLATE_GENERATION: str(int(known.get(TEMPLATE_GENERATION) or 1) + 1)}
        manifest["metadata"] = {**manifest["metadata"], "annotations": notes}
    if resource.kind == "Node" and context.target.subresource != "status":
        manifest.pop("status", None)
        manifest |= {"status": old["status"]} if "status" in old else {}
    try:
        made = api.update(manifest, context.target.subresource, context.query.get("user", ""))
    except Refused as refused:
        raise describe_change(refused, old, manifest) from None
    context.warn(old, made)
    return made


def _other_uid(context: Context, given: str, old: Manifest) -> str:
    key = f"/registry/{context.resource.plural}/{'/'.join(filter(None, context.place[1:]))}"
    why = f"Precondition failed: UID in precondition: {given}, UID in object meta: {old['metadata'].get('uid')}"
    return f"StorageError: invalid object, Code: 4, Key: {key}, ResourceVersion: 0, AdditionalErrorMsg: {why}"


def _custom_update(context: Context, old: Manifest, manifest: dict[str, Any]) -> dict[str, Any]:
    if "status" in context.resource.sub:
        if context.target.subresource == "status":
            manifest = {**old, "metadata": manifest["metadata"], "status": manifest.get("status") or {}}
        else:
            rest = {name: value for name, value in manifest.items() if name != "status"}
            manifest = {**rest, "status": old["status"]} if "status" in old else rest
    return crds.check(context.resource, manifest, old)


def _update_scale(context: Context, body: Any, patch: Any = None, type_: str = "") -> Reply:
    scaled = replace(context.resource, group="autoscaling", version="v1", kind="Scale", type="autoscaling.v1.Scale")
    scale = decode(replace(context, resource=replace(scaled, definition=None)), body, patch, type_)
    old = find_object(context.api.store, context.resource, context.target)
    given = (scale.get("metadata") or {}).get("resourceVersion")
    if given and given != old["metadata"].get("resourceVersion"):
        raise Refused.because(conflict(context.resource.named, context.target.name, _MODIFIED))
    replicas = (scale.get("spec") or {}).get("replicas") or 0
    if not isinstance(replicas, int) or replicas < 0:
        why = "must be greater than or equal to 0"
        error = FieldError("spec.replicas", encode(replicas), why, kind="Invalid value")
        name = context.target.name
        said = f'Scale.autoscaling "{name}" is invalid: {error}'
        causes = [{"reason": "FieldValueInvalid", "message": error.text, "field": error.path}]
        raise Failure(422, "Invalid", said, {"name": name, "group": "autoscaling", "kind": "Scale", "causes": causes})
    return _store_scale(context, with_replicas(context.resource, old, replicas))


def _store_scale(context: Context, new: Manifest, managed: list[Any] | None = None) -> Reply:
    target, api = context.target._replace(subresource=""), replace(context.api, scales=True)
    bare = replace(context, target=target, api=api)
    stored = store_update(bare, {**new, "metadata": dict(new["metadata"])}, managed)
    return Reply(
        200, show(context.resource, make_scale(context.resource, stored), context.form, context.now, kind="Scale")
    )


def patch(context: Context, body: Any, content_type: str) -> Reply:
    """Answer PATCH of an object, by any of the four kinds of patch."""
    resource, target, store = context.resource, context.target, context.api.store
    if content_type.startswith(_APPLY):
        return _apply(context, body)
    old = find_object(store, resource, target)
    if target.subresource == "scale":
        return _update_scale(context, change(make_scale(resource, old), body, content_type, ""), body, content_type)
    base = present(resource, old)
    new = change(base, body, content_type, resource.type if not context.is_custom else None, resource.kind)
    manifest = _place_object(context, decode(context, new, body, content_type), named=True)
    return context.answer(200, store_update(context, manifest))


def _apply(context: Context, body: Any) -> Reply:
    """Answer a server-side apply. Raise Failure (409) for fields of other managers."""
    resource, target, store = context.resource, context.target, context.api.store
    old = None if store.get(*context.place) is None else find_object(store, resource, target)
    missing = Refused.because(not_found(resource.named, target.name)) if old is None and target.subresource else None
    if missing and resource.kind not in _CREATED_BY_UPDATE:
        raise missing
    given = body.get("metadata") if isinstance(body, Mapping) else None
    if isinstance(given, Mapping) and given.get("managedFields") is not None:
        raise bad_request("metadata.managedFields must be nil")
    manifest, old = typed_of(context, body), old and to_served(resource, old)
    if old is not None and not manifest["metadata"].get("name"):
        manifest["metadata"] = {**manifest["metadata"], "name": target.name}
    manifest = _place_object(context, manifest, named=True)
    if missing:
        raise missing
    other = (
        manifest.pop("spec" if target.subresource == "status" else "status", None) if "status" in resource.sub else None
    )
    given, own = manifest["metadata"], (old or {}).get("metadata") or {}
    if old and given.get("uid", own["uid"]) != own["uid"]:
        raise Refused.invalid(resource.kind, target.name, [invalid("metadata.uid", given["uid"], IMMUTABLE)])
    if old and given.get("resourceVersion", own["resourceVersion"]) != own["resourceVersion"]:
        raise Refused.because(conflict(resource.named, target.name, _MODIFIED))
    force = context.query.get("force", "false").lower() not in ("false", "0")
    time = store.timestamp(context.api.now) if target.subresource != "scale" else ""
    manager = Manager(context.manager, "Apply", resource.api_version, target.subresource, time)
    new, managed = apply(resource, old, manifest, manager, force)  # the parts that are not written here have no manager
    if old is None:
        new |= {"status": other} if other and resource.kind == "Node" else {}
        return context.answer(201, _create(context, decode(context, new), managed))
    if target.subresource == "scale":
        return _store_scale(context, {**new, "apiVersion": resource.api_version, "kind": resource.kind}, managed)
    return context.answer(200, store_update(context, _place_object(context, decode(context, new), named=True), managed))


def check_delete_options(body: Any) -> Any:
    """Return the options of a body. Raise Failure (400) if they are invalid."""
    kind, version = (str((body or {}).get(name) or "") for name in ("kind", "apiVersion"))
    if kind not in ("", "DeleteOptions"):
        raise bad_request(
            f'no kind "{kind}" is registered for version "{version}" in scheme "pkg/runtime/scheme.go:110"'
        )
    try:
        Decoder().object(body or {}, "meta.v1.DeleteOptions")
    except DecodingError as wrong:
        raise bad_request(str(wrong)) from None
    return body


def delete(context: Context, body: Any) -> Reply:
    """Answer DELETE of an object, or of a collection."""
    options = body if isinstance(body, Mapping) and body else context.query
    grace = context.query.get("gracePeriodSeconds", "0")
    if not re.fullmatch(r"[+-]?\d{1,18}", grace):
        raise bad_request(f"strconv.ParseInt: parsing {encode(grace)}: invalid syntax")
    policy, dry_run, errors = options.get("propagationPolicy"), options.get("dryRun"), []
    if policy and options.get("orphanDependents") in (True, "true"):
        errors.append(
            invalid("propagationPolicy", policy, "orphanDependents and deletionPropagation cannot be both set")
        )
    if policy not in (None, "", *_POLICIES):
        supported = 'supported values: "Foreground", "Background", "Orphan", "nil"'
        errors.append(FieldError("propagationPolicy", encode(policy), supported, kind="Unsupported value"))
    if isinstance(dry_run, list) and set(dry_run) - {"All"}:
        errors.append(FieldError("dryRun", encode(dry_run), 'supported values: "All"', kind="Unsupported value"))
    if errors:
        raise invalid_options("DeleteOptions", *errors)
    if not context.target.name:
        if "deletecollection" not in context.resource.verbs:
            raise not_allowed()
        store, resource = context.api.store, context.resource
        listed = list_objects(store, resource, context.target, "object", context.query, context.now, 0)
        found = pick(all_of(store, resource), context.target.namespace, make_test(resource, context.query), "", 0)
        for each in list(found)[: read_number(context.query, "limit") or None]:
            meta = each["metadata"]
            target = context.target._replace(namespace=meta.get("namespace") or "", name=meta["name"])
            if resource.key == EVENTS or store.get(resource.key, target.namespace, target.name) is not None:
                _delete(replace(context, target=target), {**options, "preconditions": {}})
        return listed
    if context.resource.kind == "Job" and not {"propagationPolicy", "orphanDependents"} & options.keys():
        context.warnings.append(
            "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them "
            "or set propagationPolicy=Orphan to suppress this warning"
        )
    return _delete(context, options)


def _delete(context: Context, options: Mapping[str, Any]) -> Reply:
    api, resource = context.api, context.resource
    old = find_object(api.store, resource, context.target)
    uid, context.version = old["metadata"].get("uid", ""), old["metadata"].get("resourceVersion", "")
    wanted = options.get("preconditions")
    wanted = wanted if isinstance(wanted, Mapping) else {}
    if wanted.get("uid") and wanted["uid"] != uid:
        raise _mismatch(context, "UID", str(wanted["uid"]), uid)
    version = old["metadata"].get("resourceVersion", "")
    if wanted.get("resourceVersion") and wanted["resourceVersion"] != version:
        raise _mismatch(context, "ResourceVersion", str(wanted["resourceVersion"]), version)
    grace = options.get("gracePeriodSeconds")
    policy = str(options.get("propagationPolicy") or "")
    if resource.key == EVENTS:
        remove_event(api.store, convert_back(old) if resource.group else old, api.now)
    else:
        if options.get("orphanDependents") in (True, "true"):
            policy = "Orphan"
        text = "" if grace is None else str(grace)
        seconds = int(text) if text.lstrip("-").isdecimal() and len(text) < 12 else None
        api.delete(context.place, seconds, policy, Preconditions(), context.query.get("user", ""))
    if resource.kind == CUSTOM:
        crds.remove_objects(api.store, old)
    left = None if resource.key == EVENTS else api.store.get(*context.place)
    if resource.kind in _RETURNED or left is not None:
        return context.answer(200, left if left is not None else subresources.as_deleted(old, api, grace))
    details: dict[str, Any] = {"name": context.target.name}
    if resource.group:
        details["group"] = resource.group
    details |= {"kind": resource.plural, "uid": uid}
    status = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details}
    return Reply(200, status, headers=context.headers)


def _mismatch(context: Context, what: str, given: str, have: str) -> Failure:
    group, name = context.resource.group, context.target.name
    kind = f"{context.resource.kind}.{group}" if group else context.resource.kind
    why = (
        f"the {what} in the precondition ({given}) does not match the {what} in record ({have}). "
        "The object might have been deleted and then recreated"
        if what == "UID"
        else f"the ResourceVersion in the precondition ({given}) does not match the ResourceVersion in record ({have}). "
        "The object might have been modified"
    )
    details = {"name": name, **({"group": group} if group else {}), "kind": context.resource.kind}
    return Failure(409, "Conflict", f'Operation cannot be fulfilled on {kind} "{name}": {why}', details)


def write(context: Context, body: Any, content_type: str) -> Reply:
    """Answer a request that may change objects; record the manager of the changed fields. Raise Refused."""
    resource, target, method = context.resource, context.target, context.method
    if target.subresource and target.subresource not in resource.sub:
        raise no_resource()
    verbs = resource.sub[target.subresource][3] if target.subresource else resource.verbs
    verb = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}[method]
    collection = not target.name
    if verb not in verbs or (collection and method in ("PUT", "PATCH")):
        raise not_allowed()
    if method == "POST" and not collection and not target.subresource:
        raise not_allowed()
    context.warnings += subresources.deprecations(resource)
    check_options(method, context.query, content_type)
    manager = Manager(
        context.manager,
        "Update",
        resource.api_version,
        target.subresource,
        context.api.store.timestamp(context.api.now) if target.subresource != "scale" else "",  # as kube has it
    )
    applies = content_type.startswith(_APPLY) and method == "PATCH"
    marked = None if applies else finish(resource, manager)
    context.api = replace(context.api, finish=marked, warnings=context.warnings)
    if method == "POST":
        special = subresources.answer(context, body)
        return special if special is not None else create(context, body)
    if method == "PUT":
        return update(context, body)
    return patch(context, body, content_type) if method == "PATCH" else delete(context, body)

"""Creation and update of resource.k8s.io objects: the fields that a request may write, and validation.

kube: pkg/registry/resource/{deviceclass,devicetaintrule,resourceclaim,resourceclaimtemplate,resourceslice}/strategy.go,
pkg/registry/resource/utils.go @ v1.34.1
"""

from collections.abc import Sequence

from scheduler_core.apimachinery.objects.errors import Errors, FieldError, forbidden
from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apiserver.kinds import Kind
from scheduler_core.apiserver.registry.devices.defaults import GROUP, DeviceGates
from scheduler_core.apiserver.registry.devices.dropping import without_disabled
from scheduler_core.apiserver.store import Store
from scheduler_core.apiserver.validation.devices.claims import claim_spec, device_class, immutable_spec, template
from scheduler_core.apiserver.validation.devices.device import rule
from scheduler_core.apiserver.validation.devices.names import CompileOptions, internal
from scheduler_core.apiserver.validation.devices.slices import slice_spec
from scheduler_core.apiserver.validation.devices.status import device_key, status_update
from scheduler_core.base.releases import Behavior, behaviors_of

CLAIM, TEMPLATE = "ResourceClaim", "ResourceClaimTemplate"
ADMIN_LABEL = "resource.kubernetes.io/admin-access"
_ADMIN = f"admin access to devices requires the `{ADMIN_LABEL}: true` label on the containing namespace"


def are_about(kind: Kind) -> bool:
    """Return whether a kind belongs to the API group for devices."""
    return kind.group == GROUP


def prepare_new_object(
    kind: Kind, manifest: Manifest, gates: DeviceGates, imported: bool = False, restored: bool = False
) -> Manifest:
    """Return a new object without a status and without fields whose gate is off.

    `imported`: the object exists, so its status stays; `restored`: another cluster admitted it.
    """
    if kind.key == CLAIM and not imported and "status" in manifest:
        manifest = {name: value for name, value in manifest.items() if name != "status"}
    return without_disabled(kind.key, manifest, None, gates, restored)


def prepare_updated_object(
    kind: Kind, old: Manifest, new: Manifest, subresource: str, gates: DeviceGates, imported: bool = False
) -> Manifest:
    """Return the object to store after an update, which writes either the spec or the status."""
    if kind.key == CLAIM:
        if subresource == "status":
            new = _without_deallocated(old, new, gates)
        elif not imported:
            new = {name: value for name, value in new.items() if name != "status"}
            if "status" in old:
                new["status"] = old["status"]
    return without_disabled(kind.key, new, old, gates)


def _without_deallocated(old: Manifest, new: Manifest, gates: DeviceGates) -> Manifest:
    """Return the object without reports on devices that are no longer allocated."""
    status = new.get("status") or {}
    if not gates.dra_device_status and not (old.get("status") or {}).get("devices"):
        return new
    kept_keys = {device_key(result) for result in results_of(new)}
    gone = {key for result in results_of(old) if (key := device_key(result)) not in kept_keys}
    if not gone or not status.get("devices"):
        return new
    kept = [device for device in status["devices"] if device_key(device) not in gone]
    rest = {name: value for name, value in status.items() if name != "devices"}
    return {**new, "status": {**rest, "devices": kept} if kept else rest}


def results_of(claim: Manifest) -> Sequence[Manifest]:
    """Return the allocation results of a claim's devices."""
    allocation = (claim.get("status") or {}).get("allocation") or {}
    return (allocation.get("devices") or {}).get("results") or ()


def create_errors(
    kind: Kind, manifest: Manifest, gates: DeviceGates, store: Store, restored: bool = False
) -> list[FieldError]:
    """Return the errors in a new object, except in its metadata. `restored`: its namespace may have changed since its creation."""
    errors = Errors(() if restored else _admin_errors(kind, manifest, store))
    _validate(kind.key, manifest, None, _compiling(gates), errors)
    return errors


def update_errors(
    kind: Kind, old: Manifest, new: Manifest, subresource: str, gates: DeviceGates, store: Store
) -> list[FieldError]:
    """Return the errors in a changed object, except in its metadata. Errors that kube finds twice appear twice."""
    compiling = _compiling(gates)
    if subresource == "status":
        return [*_admin_status_errors(old, new, store), *status_update(old, new)]
    errors = Errors()
    if kind.key == CLAIM and compiling.counters_of_pools:  # only equality is checked
        immutable_spec(kind.key, old, new, errors)
        return errors
    if kind.key in (CLAIM, TEMPLATE, "DeviceClass"):
        _validate(kind.key, new, None, compiling, errors)
    if kind.key in (CLAIM, TEMPLATE):
        immutable_spec(kind.key, old, new, errors)
        compiling = compiling.of(stored=True)
    _validate(kind.key, new, old, compiling, errors)
    return errors


def _compiling(gates: DeviceGates) -> CompileOptions:
    of_pools = Behavior.COUNTERS_OF_POOLS in behaviors_of(gates.release)
    return CompileOptions(gates.dra_consumable_capacity, counters_of_pools=of_pools)


def _validate(kind: str, manifest: Manifest, old: Manifest | None, compiling: CompileOptions, errors: Errors) -> None:
    match kind:
        case "ResourceClaim":
            claim_spec(manifest.get("spec") or {}, "spec", compiling, errors)
        case "ResourceClaimTemplate":
            template(manifest.get("spec") or {}, compiling, errors)
        case "DeviceClass":
            device_class(manifest, old, compiling, errors)
        case "ResourceSlice":
            slice_spec(manifest, old, compiling.counters_of_pools, errors)
        case "DeviceTaintRule":
            rule(manifest, old, compiling, errors)


def _admin_errors(kind: Kind, manifest: Manifest, store: Store) -> list[FieldError]:
    """Return an error if a claim or claim template requests admin access in a namespace without the label for it."""
    spec = manifest.get("spec") or {}
    if kind.key == TEMPLATE:
        spec = spec.get("spec") or {}
    elif kind.key != CLAIM:
        return []
    for i, request in enumerate((spec.get("devices") or {}).get("requests") or ()):
        if (request.get("exactly") or {}).get("adminAccess"):
            return _check_admin_namespace(manifest, store, f"spec.devices.requests[{i}].adminAccess")
    return []


def _admin_status_errors(old: Manifest, new: Manifest, store: Store) -> list[FieldError]:
    if any(result.get("adminAccess") for result in results_of(old)):
        return []
    for i, result in enumerate(results_of(new)):
        if result.get("adminAccess"):
            return _check_admin_namespace(new, store, f"status.allocation.devices.results[{i}].adminAccess")
    return []


def _check_admin_namespace(manifest: Manifest, store: Store, path: str) -> list[FieldError]:
    name = manifest["metadata"].get("namespace") or ""
    namespace = store.get("Namespace", "", name)
    if namespace is None:
        why = f'namespaces "{name}" not found'
        return [internal(path, f"could not retrieve namespace to verify admin access: {why}")]
    labels = namespace["metadata"].get("labels") or {}
    return [] if labels.get(ADMIN_LABEL) == "true" else [forbidden(path, _ADMIN)]

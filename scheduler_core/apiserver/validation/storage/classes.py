"""Validation of StorageClasses, CSIDrivers, CSINodes, storage capacities, and VolumeAttachments.

kube: pkg/apis/storage/validation/validation.go @ v1.34.1
"""

from scheduler_core.apimachinery.objects import Manifest, nanos
from scheduler_core.apimachinery.objects.errors import Errors, duplicate, invalid, not_supported
from scheduler_core.apimachinery.objects.names import list_qualified_name_errors, subdomain_errors
from scheduler_core.apiserver.validation import checks
from scheduler_core.apiserver.validation.checks import NOT_NEGATIVE
from scheduler_core.apiserver.validation.rules import Object, inner, not_negative, one
from scheduler_core.apiserver.validation.storage.persistent import inline_volume
from scheduler_core.apiserver.validation.storage.sources import driver_name, is_provisioner

# Defaults of volumes and claims.
# kube: pkg/apis/core/v1/defaults.go SetDefaults_PersistentVolume, SetDefaults_PersistentVolumeClaimSpec @ v1.34.1

NOT_SOURCES = (
    *("accessModes", "capacity", "claimRef", "mountOptions", "nodeAffinity", "persistentVolumeReclaimPolicy"),
    *("storageClassName", "volumeAttributesClassName", "volumeMode"),
)


def apply_volume_defaults(manifest: Manifest) -> Manifest:
    spec = manifest.get("spec") or {}
    if not spec.get("persistentVolumeReclaimPolicy"):
        manifest = {**manifest, "spec": {**spec, "persistentVolumeReclaimPolicy": "Retain"}}
    return _with_mode(manifest)


def apply_claim_defaults(manifest: Manifest) -> Manifest:
    return _with_mode(manifest)


def _with_mode(manifest: Manifest) -> Manifest:
    spec = manifest.get("spec") or {}
    if spec.get("volumeMode") is not None:
        return manifest
    return {**manifest, "spec": {**spec, "volumeMode": "Filesystem"}}


_MOST = 256 * 1024  # bytes
_MOST_PARAMETERS = 512
_LONGEST_NODE_ID = 256
_EXACTLY = "must specify exactly one of inlineVolumeSpec and persistentVolumeName"


def storage_class(manifest: Object, errors: Errors) -> None:
    provisioner(manifest, "provisioner", errors)
    parameters(manifest.get("parameters") or {}, errors)
    one("reclaimPolicy", "Delete", "Retain")(manifest, "", errors)
    one("volumeBindingMode", "Immediate", "WaitForFirstConsumer", empty=True)(manifest, "", errors)
    met: list[dict[str, set[str]]] = []
    for i, term in enumerate(manifest.get("allowedTopologies") or ()):
        values = _topology(term, f"allowedTopologies[{i}].matchLabelExpressions", errors)
        # kube's list of terms begins with as many empty terms as there are terms
        same = met.count(values) + (0 if values else len(manifest["allowedTopologies"]))
        errors += [duplicate(f"allowedTopologies[{i}].matchLabelExpressions", "")] * same
        met.append(values)


def volume_attributes_class(manifest: Object, errors: Errors) -> None:
    provisioner(manifest, "driverName", errors)
    parameters(manifest.get("parameters") or {}, errors)
    errors.required("parameters", "must contain at least one key/value pair", when=not manifest.get("parameters"))


def provisioner(manifest: Object, field: str, errors: Errors) -> None:
    """Validate the name of a provisioner."""
    name = (manifest.get(field) or "").lower()
    if errors.required(field, when=not name):
        return
    errors.problems(field, name, list_qualified_name_errors(name))


def parameters(given: Object, errors: Errors) -> None:
    """Validate the parameters of a volume class."""
    if errors.too_long("parameters", _MOST_PARAMETERS, when=len(given) > _MOST_PARAMETERS):
        return
    errors += [invalid("parameters", name, "field can not be empty.") for name in given if not name]
    if sum(len(name.encode()) + len(text.encode()) for name, text in given.items()) > _MOST:
        errors.too_long("parameters", _MOST)


def _topology(term: Object, path: str, errors: Errors) -> dict[str, set[str]]:
    """Validate the expressions of a term. Return their values by key."""
    found: dict[str, set[str]] = {}
    for i, expression in enumerate(term.get("matchLabelExpressions") or ()):
        where, values, key = f"{path}[{i}]", expression.get("values") or (), expression.get("key") or ""
        errors.required(f"{where}.values", when=not values)
        seen: dict[str, None] = {}
        for j, value in enumerate(values):
            errors.unique(seen, value, f"{where}.values[{j}]")
        checks.label_name(key, f"{where}.key", errors)
        errors.duplicate(f"{where}.key", key, when=key in found)
        found[key] = set(values)
    return found


def csi_node(manifest: Object, errors: Errors) -> None:
    seen: dict[str, None] = {}
    for i, driver in enumerate((manifest.get("spec") or {}).get("drivers") or ()):
        where, name, node = f"spec.drivers[{i}]", driver.get("name") or "", driver.get("nodeID") or ""
        driver_name(name, f"{where}.name", errors)
        errors.required(f"{where}.nodeID", when=not node)
        if len(node.encode()) > _LONGEST_NODE_ID:
            errors.invalid(f"{where}.nodeID", node, f"must be {_LONGEST_NODE_ID} characters or less")
        inner("allocatable", not_negative("count"))(driver, where, errors)
        errors.unique(seen, name, f"{where}.name")
        keys: dict[str, None] = {}
        for key in driver.get("topologyKeys") or ():
            errors.required(where, when=not key)
            errors.unique(keys, key, where)
            errors.problems(where, key, list_qualified_name_errors(key))


def csi_driver(manifest: Object, errors: Errors) -> None:
    spec = manifest.get("spec") or {}
    policies = ("File", "None", "ReadWriteOnceWithFSType")
    one("fsGroupPolicy", *policies, empty=True)(spec, "spec", errors)
    seen: dict[str, None] = {}
    for i, request in enumerate(spec.get("tokenRequests") or ()):
        where, audience = f"spec.tokenRequests[{i}]", request.get("audience") or ""
        if errors.duplicate(f"{where}.audience", audience, when=audience in seen):
            continue
        seen[audience] = None
        checks.token_seconds(request.get("expirationSeconds"), f"{where}.expirationSeconds", errors)
    secrets = spec.get("serviceAccountTokenInSecrets")  # unknown before 1.35
    text = "serviceAccountTokenInSecrets is set but no tokenRequests are specified"
    wrong = secrets is not None and not spec.get("tokenRequests")
    errors.invalid("spec.serviceAccountTokenInSecrets", secrets, text, when=wrong)
    known = ("Persistent", "Ephemeral")
    modes = spec.get("volumeLifecycleModes") or ()
    errors += [not_supported("spec.volumeLifecycleModes", mode, known) for mode in modes if mode not in known]


def csi_storage_capacity(manifest: Object, errors: Errors) -> None:
    checks.label_selector(manifest.get("nodeTopology"), "nodeTopology", errors)
    name, room = manifest.get("storageClassName") or "", manifest.get("capacity")
    errors.problems("storageClassName", name, subdomain_errors(name))
    if room is not None and nanos(room) < 0:
        errors.invalid("capacity", checks.quantity_text(room), NOT_NEGATIVE)


def volume_attachment(manifest: Object, errors: Errors) -> None:
    spec = manifest.get("spec") or {}
    attacher, source = spec.get("attacher") or "", spec.get("source") or {}
    inline, name = source.get("inlineVolumeSpec"), source.get("persistentVolumeName")
    errors.required("spec.attacher", when=not attacher)
    if inline is None and name is None:
        errors.required("spec.source", _EXACTLY)
    elif inline is not None and name is not None:
        errors.forbidden("spec.source", _EXACTLY)
    elif inline is not None:
        inline_volume(inline, "spec.source.inlineVolumeSpec", errors)
    elif not name:
        errors.required("spec.source.persistentVolumeName", "must specify non empty persistentVolumeName")
    node = spec.get("nodeName") or ""
    errors.problems("spec.nodeName", node, subdomain_errors(node))
    if not is_provisioner(attacher):
        driver_name(attacher, "spec.attacher", errors)
    if name is not None:
        where = "spec.source.persistentVolumeName"
        errors.problems(where, name, subdomain_errors(name))

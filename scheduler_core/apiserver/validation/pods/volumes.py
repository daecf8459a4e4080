"""Validation of a pod's volumes.

kube: pkg/apis/core/validation/validation.go ValidateVolumes @ v1.34.1
"""

from typing import Any

from scheduler_core.apimachinery.objects import Errors, invalid, nanos
from scheduler_core.apimachinery.objects.names import label_errors, subdomain_errors
from scheduler_core.apiserver.validation import checks
from scheduler_core.apiserver.validation.pods.references import field_reference, resource_reference
from scheduler_core.apiserver.validation.rules import (
    Object,
    Rule,
    Rules,
    each,
    list_volume_path_errors,
    need,
    not_below,
    obey,
    only_one,
    text,
    validate_name,
    within,
)
from scheduler_core.apiserver.validation.storage import sources
from scheduler_core.apiserver.validation.storage.persistent import claim_spec, template_metadata

_MODE = "must be a number between 0 and 0777 (octal), both inclusive"
_FIELDS = ("metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid")


def mode(field: str) -> Rule:
    """Return a rule for the permissions of files."""
    return within(field, 0, 0o777, _MODE)


def path_text(value: Object, path: str, errors: Errors) -> None:
    """Validate a file's path, even if it is missing."""
    text("path", list_volume_path_errors)({"path": value.get("path") or ""}, path, errors)


KEY_TO_PATH: Rules = (need("key", "path"), path_text, mode("mode"))


def _size_limit(value: Object, path: str, errors: Errors) -> None:
    limit = value.get("sizeLimit")
    if limit is not None and nanos(limit) < 0:
        errors.forbidden(f"{path}.sizeLimit", "SizeLimit field must be a valid resource quantity")


def downward_file(value: Object, path: str, errors: Errors) -> None:
    """Validate a file of the downward API."""
    need("path")(value, path, errors)
    path_text(value, path, errors)
    of_field, of_resource = value.get("fieldRef"), value.get("resourceFieldRef")
    if of_field is not None:
        field_reference(of_field, f"{path}.fieldRef", errors, _FIELDS)
        if of_resource is not None:
            errors.invalid(path, "resource", "fieldRef and resourceFieldRef can not be specified simultaneously")
    elif of_resource is not None:
        resource_reference(of_resource, f"{path}.resourceFieldRef", errors, in_volume=True)
    else:
        errors.required(path, "one of fieldRef and resourceFieldRef is required")
    mode("mode")(value, path, errors)


def _downward(value: Object, path: str, errors: Errors) -> None:
    mode("defaultMode")(value, path, errors)
    for file in value.get("items") or ():  # kube's paths of these have no index
        downward_file(file, path, errors)


def _validate_projected(value: Object, path: str, errors: Errors) -> None:
    mode("defaultMode")(value, path, errors)
    taken: dict[str, None] = {}

    def take(file: str, shown: str) -> None:
        errors.invalid(path, shown, "conflicting duplicate paths", when=file in taken)
        taken[file] = None

    for i, source in enumerate(value.get("sources") or ()):
        where = f"{path}.sources[{i}]"
        for kind in ("secret", "configMap"):
            if (given := source.get(kind)) is None:
                continue
            need("name")(given, f"{where}.{kind}", errors)
            for j, item in enumerate(given.get("items") or ()):
                obey(KEY_TO_PATH, item, f"{where}.{kind}.items[{j}]", errors)
                if item.get("path"):
                    take(item["path"], given.get("name") or "")
        for item in (source.get("downwardAPI") or {}).get("items") or ():
            downward_file(item, f"{where}.downwardAPI", errors)
            if item.get("path"):
                take(item["path"], item["path"])
        if (token := source.get("serviceAccountToken")) is not None:
            _token(token, f"{where}.serviceAccountToken", path, errors)
        if sum(each is not None for each in source.values()) > 1:
            errors.forbidden(where, "may not specify more than 1 volume type per source")


def _token(token: Object, where: str, path: str, errors: Errors) -> None:
    """Validate a service account's token. The error of its path is at the volume, as in kube."""
    checks.token_seconds(token.get("expirationSeconds"), f"{where}.expirationSeconds", errors)
    need("path")(token, path, errors)
    if token.get("path"):
        path_text(token, path, errors)


def _publish_secret(value: Object, path: str, errors: Errors) -> None:
    reference = value.get("nodePublishSecretRef")
    if reference is None:
        return
    name = reference.get("name") or ""
    if errors.required(f"{path}.nodePublishSecretRef.name", when=not name):
        return
    errors.problems(f"{path}.name", name, subdomain_errors(name))


def _template(value: Object, path: str, errors: Errors) -> None:
    template = value.get("volumeClaimTemplate")
    if template is None:
        errors.required(f"{path}.volumeClaimTemplate")
        return
    where = f"{path}.volumeClaimTemplate"
    template_metadata(template.get("metadata") or {}, f"{where}.metadata", errors)
    claim_spec(template.get("spec") or {}, f"{where}.spec", errors)


_FILES: Rules = (mode("defaultMode"), each("items", *KEY_TO_PATH))
_SOURCES: dict[str, Rules] = {
    "emptyDir": (_size_limit,),
    "hostPath": sources.SHARED["hostPath"],
    "gitRepo": (need("repository"), text("directory", not_below)),
    "gcePersistentDisk": sources.at("persistentDisk", sources.SHARED["gcePersistentDisk"]),
    "awsElasticBlockStore": sources.SHARED["awsElasticBlockStore"],
    "secret": (need("secretName"), *_FILES),
    "nfs": sources.SHARED["nfs"],
    "iscsi": (need("targetPortal"), *sources.iscsi(persistent=False)),
    "glusterfs": (sources.GLUSTER,),
    "flocker": sources.SHARED["flocker"],
    "persistentVolumeClaim": (need("claimName"),),
    "rbd": sources.SHARED["rbd"],
    "cinder": sources.cinder(namespaced=False),
    "cephfs": sources.SHARED["cephfs"],
    "quobyte": sources.SHARED["quobyte"],
    "downwardAPI": (_downward,),
    "fc": sources.SHARED["fc"],
    "flexVolume": sources.SHARED["flexVolume"],
    "configMap": (need("name"), *_FILES),
    "azureFile": (sources.AZURE_FILE,),
    "vsphereVolume": sources.SHARED["vsphereVolume"],
    "photonPersistentDisk": sources.SHARED["photonPersistentDisk"],
    "portworxVolume": sources.SHARED["portworxVolume"],
    "azureDisk": sources.SHARED["azureDisk"],
    "storageos": sources.storageos(namespaced=False),
    "projected": (_validate_projected,),
    "scaleIO": sources.SHARED["scaleIO"],
    "csi": (sources.driver, _publish_secret),
    "ephemeral": (_template,),
    "image": (need("reference"),),  # dropped before 1.35
}
# as kube spells them in errors about a second source
_SPELLED = {"cephfs": "cephFS", "downwardAPI": "downwarAPI"}
_ONE_SOURCE = only_one(_SOURCES, sources.ONE_TYPE, _SPELLED)


def volumes(given: Any, pod: str, path: str, errors: Errors) -> dict[str, Object]:
    """Validate volumes. Return the valid ones by name. `pod`: the pod's name, or "" in a template."""
    sound: dict[str, Object] = {}
    made = [f"{pod}-{each.get('name') or ''}" for each in given if pod and each.get("ephemeral") is not None]
    for i, volume in enumerate(given):
        where, name, before = f"{path}[{i}]", volume.get("name") or "", len(errors)
        _ONE_SOURCE(volume, where, errors)
        _source_and_name(volume, name, pod, where, errors)
        validate_name("name", label_errors, needed=True)(volume, where, errors)
        errors.duplicate(f"{where}.name", name, when=name in sound)
        if len(errors) == before:
            sound[name] = volume
        claim = (volume.get("persistentVolumeClaim") or {}).get("claimName") or ""
        if claim in made:
            detail = "must not reference a PVC that gets created for an ephemeral volume"
            errors.invalid(f"{where}.persistentVolumeClaim.claimName", claim, detail)
    return sound


def _source_and_name(volume: Object, name: str, pod: str, where: str, errors: Errors) -> None:
    """Validate a volume's name as its source requires."""
    if volume.get("iscsi") is not None:
        sources.initiator_length(name, volume["iscsi"], f"{where}.name", name, errors)
    if volume.get("ephemeral") is not None and pod and name:
        claim = f"{pod}-{name}"
        errors += [
            invalid(f"{where}.name", name, f'PVC name "{claim}": {problem}') for problem in subdomain_errors(claim)
        ]

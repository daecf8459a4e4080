"""Rules for sources of volumes that pods and PersistentVolumes share, or that differ little.

kube: pkg/apis/core/validation/validation.go (validateVolumeSource, ValidatePersistentVolumeSpec) @ v1.34.1
"""

import re

from scheduler_core.apimachinery.objects.errors import Errors, format_key_path, invalid
from scheduler_core.apimachinery.objects.names import label_errors, list_qualified_name_errors, subdomain_errors
from scheduler_core.apiserver.validation.rules import (
    Object,
    Rule,
    Rules,
    inner,
    need,
    obey,
    one,
    steps_back,
    text,
    validate_name,
    within,
)

ONE_TYPE = "may not specify more than 1 volume type"
PARTITION = "must be between 1 and 255, inclusive"
_INITIATORS = {
    "iqn": re.compile(r"iqn\.\d{4}-\d{2}\.([0-9A-Za-z.-]+)(:[^,;*&$|\s]+)\Z", re.ASCII),
    "eui": re.compile(r"eui.[0-9A-Za-z]{16}\Z"),
    "naa": re.compile(r"naa.[0-9A-Za-z]{32}\Z"),
}
_FORMAT = "must be valid format"
_TOO_LONG = "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified."
_PAIRS = "must be a host:port pair or multiple pairs separated by commas"
_MANAGED = "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}"
_BLOB = "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"


def is_provisioner(name: str) -> bool:
    """Return whether a valid name has a domain.

    DEVIATION: the driver and the attacher of a volume may be named like its provisioner, as in volumes that are created here.
    """
    return "/" in name and not list_qualified_name_errors(name.lower())


def driver_name(name: str, path: str, errors: Errors) -> None:
    """Validate the name of a CSI driver."""
    errors.required(path, when=not name)
    errors.too_long(path, 63, when=len(name.encode()) > 63)
    errors.problems(path, name, subdomain_errors(name.lower()))


def at(field: str, rules: Rules) -> Rules:
    """Return rules whose errors name another field, as in kube."""

    def check(value: Object, path: str, errors: Errors) -> None:
        obey(rules, value, f"{path.rpartition('.')[0]}.{field}", errors)

    return (check,)


def driver(value: Object, path: str, errors: Errors) -> None:
    driver_name(value.get("driver") or "", f"{path}.driver", errors)


def path_on_node(*more: Rule) -> Rule:
    """Return a rule for a path. Other rules apply only if the path is present."""

    def check(value: Object, path: str, errors: Errors) -> None:
        rules = (text("path", steps_back), *more) if value.get("path") else (need("path"),)
        for rule in rules:
            rule(value, path, errors)

    return check


def absolute(value: Object, path: str, errors: Errors) -> None:
    given = value.get("path") or ""
    errors.invalid(f"{path}.path", given, "must be an absolute path", when=not given.startswith("/"))


def _initiator(field: str, at: str, unknown: str, also: bool) -> Rule:
    """Return a rule for the name of an iSCSI target or initiator. `also`: check an empty name, too."""

    def check(value: Object, path: str, errors: Errors) -> None:
        name = value.get(field)
        if name is None or (not also and not name):
            return
        shape = _INITIATORS.get(name[:3])
        if shape is None:
            errors.invalid(f"{path}.{at}", name, unknown)
        elif not (shape.search if name.startswith("iqn") else shape.match)(name):
            errors.invalid(f"{path}.{at}", name, _FORMAT)

    return check


def iscsi(persistent: bool) -> Rules:
    """Return the rules for an iSCSI disk of a pod, or of a PersistentVolume."""
    unknown = _FORMAT if persistent else f"{_FORMAT} starting with iqn, eui, or naa"

    def secret(value: Object, path: str, errors: Errors) -> None:
        if (value.get("chapAuthDiscovery") or value.get("chapAuthSession")) and value.get("secretRef") is None:
            errors.required(f"{path}.secretRef")

    return (
        need("iqn"),
        _initiator("iqn", "iqn", unknown, False),
        within("lun", 0, 255),
        secret,
        *((inner("secretRef", need("name")),) if persistent else ()),
        _initiator("initiatorName", "initiatorname", unknown, True),
    )


def initiator_length(name: str, value: Object, path: str, shown: str, errors: Errors) -> None:
    """Validate the length of the volume's name with the portal, at most 64 bytes if an initiator's name is given."""
    length = len(f"{name}:{value.get('targetPortal') or ''}".encode())
    errors.invalid(path, shown, _TOO_LONG, when=value.get("initiatorName") is not None and length > 64)


def _fibre_channel(value: Object, path: str, errors: Errors) -> None:
    names, ids, lun = value.get("targetWWNs") or (), value.get("wwids") or (), value.get("lun")
    errors.required(
        f"{path}.targetWWNs", "must specify either targetWWNs or wwids, but not both", when=not names and not ids
    )
    if names and ids:
        errors.invalid(f"{path}.targetWWNs", list(names), "targetWWNs and wwids can not be specified simultaneously")
    if names and lun is None:
        errors.required(f"{path}.lun", "lun is required if targetWWNs is specified")
    elif names:
        within("lun", 0, 255)(value, path, errors)


def _quobyte(value: Object, path: str, errors: Errors) -> None:
    registry = value.get("registry") or ""
    if not registry:
        errors.required(f"{path}.registry", _PAIRS)
    elif len((value.get("tenant") or "").encode()) >= 65:
        errors.required(f"{path}.tenant", "must be a UUID and may not exceed a length of 64 characters")
    else:
        wrong = [pair for pair in registry.split(",") if not _is_pair(pair)]
        errors += [invalid(f"{path}.registry", registry, _PAIRS) for _ in wrong]
    need("volume")(value, path, errors)


def _is_pair(text: str) -> bool:
    """Return whether Go splits a text into host and port."""
    host, colon, port = text.rpartition(":")
    if host.startswith("["):
        host = host[1:-1] if host.endswith("]") else "["
    elif ":" in host:
        return False
    return bool(colon) and not any(letter in host + port for letter in "[]")


def _flocker(value: Object, path: str, errors: Errors) -> None:
    name, uuid = value.get("datasetName") or "", value.get("datasetUUID") or ""
    errors.required(path, "one of datasetName and datasetUUID is required", when=not name and not uuid)
    if name and uuid:
        errors.invalid(path, "resource", "datasetName and datasetUUID can not be specified simultaneously")
    errors.invalid(f"{path}.datasetName", name, "must not contain '/'", when="/" in name)


def _options(value: Object, path: str, errors: Errors) -> None:
    for key in value.get("options") or ():
        space = f".{key.split('/')[0].lower()}"
        if space.endswith((".kubernetes.io", ".k8s.io")):
            detail = "kubernetes.io and k8s.io namespaces are reserved"
            errors.invalid(format_key_path(f"{path}.options", key), key, detail)


def _disk(value: Object, path: str, errors: Errors) -> None:
    kind, uri = value.get("kind", "Shared"), value.get("diskURI") or ""
    if kind == "Managed" and not uri.startswith("/subscriptions/"):
        errors.not_supported(f"{path}.diskURI", uri, (_MANAGED,))
    errors.not_supported(f"{path}.diskURI", uri, (_BLOB,), when=kind != "Managed" and not uri.startswith("https://"))


_HOST_PATHS = (*("", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"),)
_DISK = within("partition", 0, 255, PARTITION)

# rules for both; the users of the rules add them in kube's order
SHARED: dict[str, Rules] = {
    "hostPath": (path_on_node(one("type", *_HOST_PATHS, empty=True)),),
    "gcePersistentDisk": (need("pdName"), _DISK),
    "awsElasticBlockStore": (need("volumeID"), _DISK),
    "nfs": (need("server", "path"), absolute),
    "flocker": (_flocker,),
    "rbd": (need("monitors", "image"),),
    "cephfs": (need("monitors"),),
    "quobyte": (_quobyte,),
    "fc": (_fibre_channel,),
    "flexVolume": (need("driver"), _options),
    "vsphereVolume": (need("volumePath"),),
    "photonPersistentDisk": (need("pdID"),),
    "portworxVolume": (need("volumeID"),),
    "azureDisk": (
        need("diskName", "diskURI"),
        one("cachingMode", "None", "ReadOnly", "ReadWrite", empty=True),
        one("kind", "Dedicated", "Managed", "Shared", empty=True),
        _disk,
    ),
    "scaleIO": (need("gateway", "system", "volumeName"),),
}
GLUSTER = need("endpoints", "path")
AZURE_FILE = need("secretName", "shareName")


def cinder(namespaced: bool) -> Rules:
    """Return the rules for a Cinder disk; `namespaced`: its secret has a namespace."""
    return (need("volumeID"), _secret(namespaced))


def storageos(namespaced: bool) -> Rules:
    """Return the rules for a StorageOS volume; `namespaced`: its secret has a namespace."""
    names = (validate_name("volumeName", label_errors, needed=True), validate_name("volumeNamespace", label_errors))
    return (*names, _secret(namespaced))


def _secret(namespaced: bool) -> Rule:
    return inner("secretRef", need("name", "namespace") if namespaced else need("name"))

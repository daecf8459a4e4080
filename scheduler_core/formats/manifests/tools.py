"""Documents of tools that are not objects of a cluster: the type of each, and the command that prints objects instead."""

from collections.abc import Mapping, Sequence

from scheduler_core.apimachinery.objects.loading import LoadedObject
from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apiserver.kinds import is_own_group, split_api_version
from scheduler_core.formats.manifests.notes import Note, NotObjects, gettext_noop

KUSTOMIZATION = gettext_noop("A kustomization describes how to build objects. Build them first: %(command)s")
PATCH = gettext_noop("%(object)s is a patch for kustomize. Build the objects first: %(command)s")
CHART = gettext_noop("This file describes a Helm chart. Render its objects first: %(command)s")
COMPOSE = gettext_noop("This is a Docker Compose file. Convert it to objects first: %(command)s")
KUBECONFIG = gettext_noop(
    "A kubeconfig was left out: it contains credentials and no objects. Get the objects: %(command)s"
)
CONFIGURATION = gettext_noop(
    "%(kind)s (%(version)s) was left out: it configures %(tool)s and is not an object of a cluster."
)
STATUS = gettext_noop("This is a response of an API server, not an object: %(said)s")
TABLE = gettext_noop("A Table of the API server lacks most fields of the objects. Get the objects: %(command)s")
PARTIAL = gettext_noop("This is only metadata. Get the objects: %(command)s")
METRICS = gettext_noop("Metrics of the metrics server were left out: scheduling depends on requests, not on usage.")
COMPONENTS = gettext_noop("ComponentStatuses were left out: the API server generates them for each query.")
AUDIT = gettext_noop("Events of an audit log were left out: they are not objects.")
REPLAYED = gettext_noop("Patches recorded by kwok were left out: the objects have their state before these patches.")

_EVERYTHING = "kubectl get nodes,pods,namespaces -A -o yaml"
_RAW = "kubectl get KIND -A -o json"
_TOOLS = {
    "kind.x-k8s.io": "kind",
    "kind.sigs.k8s.io": "kind",
    "kubeadm.k8s.io": "kubeadm",
    "kubelet.config.k8s.io": "the kubelet",
    "kubeproxy.config.k8s.io": "kube-proxy",
    "apiserver.config.k8s.io": "kube-apiserver",
    "apiserver.k8s.io": "kube-apiserver",
    "kubecontrollermanager.config.k8s.io": "kube-controller-manager",
    "pod-security.admission.config.k8s.io": "kube-apiserver",
    "eventratelimit.admission.k8s.io": "kube-apiserver",
    "client.authentication.k8s.io": "kubectl",
    "controller-runtime.sigs.k8s.io": "a controller",
    "config.kueue.x-k8s.io": "Kueue",
    "descheduler": "descheduler",
    "skaffold": "Skaffold",
    "kube-scheduler-simulator-config": "kube-scheduler-simulator",
}
_SCHEDULER = "kubescheduler.config.k8s.io"  # can be applied by itself
_USUAL = (("v1", "Pod"), ("v1", "Node"))
_KWOK = ("KwokConfiguration", "KwokctlConfiguration", "KwokctlResource")
_OF_KUSTOMIZE = (
    *("resources", "bases", "components", "patches", "patchesStrategicMerge", "configMapGenerator"),
    *("secretGenerator",),
)
_NOT_MEANT = (KUSTOMIZATION, CHART, COMPOSE, KUBECONFIG, STATUS, TABLE, PARTIAL)


def without_tools(documents: Sequence[LoadedObject]) -> tuple[list[LoadedObject], list[Note]]:
    """Return the documents that may be objects, and one note for each type of other document.

    Raise NotObjects if there are only other documents.
    """
    kept: list[LoadedObject] = []
    notes: dict[str, Note] = {}
    for each in documents:
        note = what(each.manifest) if isinstance(each.manifest, Mapping) else None
        if note is None:
            kept.append(each)
        else:
            notes.setdefault(str(note), note)
    said = list(notes.values())
    if not kept and said and all(note.text in _NOT_MEANT for note in said):
        raise NotObjects(said[0])
    return kept, said


def what(manifest: Manifest) -> Note | None:
    """Return a note on a document that is no object; None for all others."""
    version, kind = manifest.get("apiVersion"), manifest.get("kind")
    if (version, kind) in _USUAL and "$patch" not in manifest:
        return None
    if kind is None:
        return _without_kind(manifest)
    if not isinstance(version, str) or not isinstance(kind, str):
        return None
    group = split_api_version(version)[0]
    tool = _TOOLS.get(group)
    if tool is not None and not _is_named(manifest, tool):
        return Note(CONFIGURATION, {"kind": kind, "version": version, "tool": tool})
    note = _of_group(group, kind, manifest)
    if note is not None or tool is not None or isinstance(manifest.get("metadata"), Mapping):
        return note
    foreign = "." in group and group != _SCHEDULER and not is_own_group(version)
    return Note(CONFIGURATION, {"kind": kind, "version": version, "tool": group}) if foreign else None


def _is_named(manifest: Manifest, tool: str) -> bool:
    """A resource that belongs to a controller, and not a file of its settings."""
    meta = manifest.get("metadata")
    return tool in ("a controller", "Kueue") and isinstance(meta, Mapping) and bool(meta.get("name"))


def _of_group(group: str, kind: str, manifest: Manifest) -> Note | None:
    if group == "kustomize.config.k8s.io" or manifest["apiVersion"] == "builtin":
        return Note(KUSTOMIZATION, {"command": "kubectl kustomize DIRECTORY"})
    if "$patch" in manifest:
        return Note(PATCH, {"object": _name(kind, manifest), "command": "kubectl kustomize DIRECTORY"})
    if group == "" and kind == "Config" and ("clusters" in manifest or "users" in manifest):
        return Note(KUBECONFIG, {"command": _EVERYTHING})
    if group == "" and kind == "Status":
        return Note(STATUS, {"said": str(manifest.get("message") or manifest.get("reason") or "")[:300]})
    if group == "" and kind == "ComponentStatus":
        return Note(COMPONENTS)
    if group == "meta.k8s.io" and kind == "Table":
        return Note(TABLE, {"command": _RAW})
    if group == "meta.k8s.io" and kind.startswith("PartialObjectMetadata"):
        return Note(PARTIAL, {"command": _RAW})
    if group == "metrics.k8s.io" and kind in ("NodeMetrics", "PodMetrics"):
        return Note(METRICS)
    if group == "audit.k8s.io":
        return Note(AUDIT)
    if group == "config.kwok.x-k8s.io" and kind in _KWOK:
        return Note(CONFIGURATION, {"kind": kind, "version": manifest["apiVersion"], "tool": "kwok"})
    return Note(REPLAYED) if (group, kind) == ("action.kwok.x-k8s.io", "ResourcePatch") else None


def _without_kind(manifest: Manifest) -> Note | None:
    if manifest.get("apiVersion") in ("v1", "v2") and isinstance(manifest.get("name"), str) and "version" in manifest:
        return Note(CHART, {"command": "helm template RELEASE CHART"})
    if "apiVersion" in manifest:
        return None
    services = manifest.get("services")
    if isinstance(services, Mapping) and any(
        (isinstance(each, Mapping) and ("image" in each or "build" in each)) for each in services.values()
    ):
        return Note(COMPOSE, {"command": "kompose convert --stdout"})
    built = [name for name in _OF_KUSTOMIZE if isinstance(manifest.get(name), list)]
    if built and "metadata" not in manifest and "spec" not in manifest:
        return Note(KUSTOMIZATION, {"command": "kubectl kustomize DIRECTORY"})
    return None


def _name(kind: str, manifest: Manifest) -> str:
    meta = manifest.get("metadata")
    return f"{kind} {meta.get('name') or '?'}" if isinstance(meta, Mapping) else kind

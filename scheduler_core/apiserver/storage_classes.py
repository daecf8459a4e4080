"""Properties of storage classes: the default class, and whether binding waits for a pod.

kube: pkg/volume/util/storageclass.go, component-helpers/storage/volume/pv_helpers.go (IsDelayBindingMode) @ v1.34.1
"""

from scheduler_core.apimachinery.objects.storage.volumes import WAIT_FOR_FIRST_CONSUMER, annotation, name_of
from scheduler_core.apiserver.store import Store

DEFAULT = "storageclass.kubernetes.io/is-default-class"
DEFAULT_MARKS = (DEFAULT, "storageclass.beta.kubernetes.io/is-default-class")


def default_class(store: Store) -> str:
    """Return the class of claims without one: the newest class marked as default, of these the first by name, or ""."""
    classes = store.list("StorageClass")
    marked = [c for c in classes if any(annotation(c, mark) == "true" for mark in DEFAULT_MARKS)]
    newest = max((str(c["metadata"].get("creationTimestamp") or "") for c in marked), default="")
    return next((name_of(c) for c in marked if str(c["metadata"].get("creationTimestamp") or "") == newest), "")


def waits_for_consumer(store: Store, class_name: str) -> bool:
    """Return whether claims of a class are bound only when a pod that uses them is scheduled."""
    storage_class = store.get("StorageClass", "", class_name) if class_name else None
    return storage_class is not None and storage_class.get("volumeBindingMode") == WAIT_FOR_FIRST_CONSUMER

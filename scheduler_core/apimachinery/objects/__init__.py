"""Kubernetes objects as the scheduler reads them: immutable, parsed once, shared by all identical ones.

The names that most modules need come from here, the others from the modules.
"""

from scheduler_core.apimachinery.objects.affinity import PREFERRED, REQUIRED
from scheduler_core.apimachinery.objects.durations import go_duration, parse_duration
from scheduler_core.apimachinery.objects.errors import Errors, FieldError, InvalidObject, invalid
from scheduler_core.apimachinery.objects.labels import LabelSelector, NodeSelector
from scheduler_core.apimachinery.objects.manifest import Manifest, MutableManifest
from scheduler_core.apimachinery.objects.node import NO_EXECUTE, NO_SCHEDULE, Node, Taint
from scheduler_core.apimachinery.objects.ownership import controller_of, controller_reference, is_owned_by
from scheduler_core.apimachinery.objects.pod import CONTAINER_LISTS, Pod, list_container_statuses
from scheduler_core.apimachinery.objects.quantity import NANO, BadQuantity, nanos
from scheduler_core.apimachinery.objects.resources import Resources, is_extended_name, is_sidecar
from scheduler_core.apimachinery.objects.times import NEVER, SECOND, optional_time, parse_time

__all__ = ["CONTAINER_LISTS", "NANO", "NEVER", "NO_EXECUTE", "NO_SCHEDULE", "PREFERRED", "REQUIRED", "SECOND"]
__all__ += ["BadQuantity", "Errors", "FieldError", "InvalidObject", "LabelSelector", "Manifest", "MutableManifest"]
__all__ += ["Node", "NodeSelector", "Pod", "Resources", "Taint", "controller_of", "controller_reference"]
__all__ += ["go_duration", "invalid", "is_extended_name", "is_owned_by", "is_sidecar", "nanos"]
__all__ += ["list_container_statuses", "optional_time", "parse_duration", "parse_time"]

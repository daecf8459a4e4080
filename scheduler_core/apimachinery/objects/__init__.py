"""Kubernetes objects as the scheduler reads them: immutable, parsed once, shared by all identical ones.

The names that most modules need come from here, the others from the modules.
"""

from scheduler_core.apimachinery.objects.durations import parse_duration
from scheduler_core.apimachinery.objects.errors import FieldError
from scheduler_core.apimachinery.objects.labels import LabelSelector, NodeSelector
from scheduler_core.apimachinery.objects.manifest import Manifest, MutableManifest
from scheduler_core.apimachinery.objects.node import Node, Taint
from scheduler_core.apimachinery.objects.ownership import controller_of, is_owned_by
from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.apimachinery.objects.quantity import nanos
from scheduler_core.apimachinery.objects.resources import Resources, is_extended_name, is_sidecar
from scheduler_core.apimachinery.objects.times import SECOND, optional_time, parse_time

__all__ = ["SECOND", "FieldError", "LabelSelector", "Manifest", "MutableManifest", "Node", "NodeSelector", "Pod"]
__all__ += ["Resources", "Taint", "controller_of", "is_extended_name", "is_owned_by", "is_sidecar", "nanos"]
__all__ += ["optional_time", "parse_duration", "parse_time"]

"""The requests to an extender in kube-scheduler's format: Go's names, and all fields that Go does not omit.

kube: pkg/scheduler/extender.go, staging/src/k8s.io/kube-scheduler/extender/v1/types.go @ v1.34.1
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from scheduler_core.apimachinery.objects import Node, Pod
from scheduler_core.apiserver.schema.table import Field, fields, parse_expression
from scheduler_core.base.releases import NEWEST
from scheduler_core.scheduler.extenders.extender import NodeVictims, Request

# Objects in the format of Go's encoding/json: in the order of a type's fields, with empty values according to the tags.
#
# wire.json was generated from the Go types of k8s.io/api and k8s.io/apimachinery, v0.34.1, for Pods and Nodes.
# `always` are fields that are written even if they are empty: those without omitempty, and structs; with their empty value.
# `pointers` are texts, numbers and booleans behind a pointer, which omitempty omits only if they are null.
# Every other field is omitted if it is empty: "", 0, false, null, [] or a map {}.
# kube: api/core/v1/types.go, apimachinery/pkg/apis/meta/v1/types.go @ v0.34.1

_OF_OBJECTS = ("apiVersion", "kind")  # informers drop them
_ROOTS = ("Pod", "Node")


@cache
def _table() -> Mapping[str, Mapping[str, Any]]:
    table: Mapping[str, Mapping[str, Any]] = json.loads(
        Path(__file__).with_name("wire.json").read_text(encoding="utf-8")
    )
    return table


def write_go_object(value: Mapping[str, Any], type_: str) -> Json:
    """Return an object of a type in Go's format; fields that the type does not have in any release are omitted."""
    always, pointers = _table()["always"].get(type_, {}), _table()["pointers"].get(type_, ())
    out: Json = {}
    for name, field in fields(type_, NEWEST).items():
        if type_ in _ROOTS and name in _OF_OBJECTS:
            continue
        inner = _inner(value.get(name), field)
        if inner is None and name in always:
            zero = always[name]
            out[name] = write_go_object({}, field.inner) if zero == {} else zero
        elif name in always or (inner is not None and (field.shape == "object" or name in pointers or inner)):
            out[name] = inner
    return out


def _inner(value: Any, field: Field) -> Any:
    if isinstance(value, Mapping) and field.shape == "object":
        return write_go_object(value, field.inner)
    if isinstance(value, list | tuple) and field.shape == "list":
        return [_inner(each, parse_expression(field.inner)) for each in value]
    if isinstance(value, Mapping) and field.shape == "map":
        return {name: _inner(each, parse_expression(field.inner)) for name, each in value.items()}
    return value


Json = dict[str, Any]


def request_json(verb: str, request: Request) -> Json:
    """Return the body of a request for a verb."""
    return _BODIES[verb](request)


def _about_nodes(request: Request) -> Json:
    """Return an ExtenderArgs."""
    names = [node.name for node in request.nodes]
    nodes = {"metadata": {}, "items": [node_json(node) for node in request.nodes]}
    return {
        "Pod": pod_json(request.pod),
        "Nodes": None if request.names_only else nodes,
        "NodeNames": names if request.names_only else None,
    }


def _about_victims(request: Request) -> Json:
    """Return an ExtenderPreemptionArgs; the keys of a map are sorted."""
    by_node = {
        victims.node: _victims(victims, request.names_only)
        for victims in sorted(request.victims, key=lambda victims: victims.node)
    }
    return {
        "Pod": pod_json(request.pod),
        "NodeNameToVictims": None if request.names_only else by_node,
        "NodeNameToMetaVictims": by_node if request.names_only else None,
    }


def _victims(victims: NodeVictims, names_only: bool) -> Json:
    pods = [{"UID": pod.uid} if names_only else pod_json(pod) for pod in victims.pods]
    return {"Pods": pods, "NumPDBViolations": victims.violations}


def _about_binding(request: Request) -> Json:
    """Return an ExtenderBindingArgs."""
    pod = request.pod
    return {"PodName": pod.name, "PodNamespace": pod.namespace, "PodUID": pod.uid, "Node": request.node}


@lru_cache(maxsize=1024)
def pod_json(pod: Pod) -> Json:
    """Return a v1.Pod from the scheduler's informer: without kind and apiVersion."""
    return write_go_object(pod.manifest, "Pod")


@lru_cache(maxsize=8192)
def node_json(node: Node) -> Json:
    """Return a v1.Node from the scheduler's informer."""
    return write_go_object(node.manifest, "Node")


_BODIES = {"filter": _about_nodes, "prioritize": _about_nodes, "preempt": _about_victims, "bind": _about_binding}

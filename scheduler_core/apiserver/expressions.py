"""The expressions of ValidatingAdmissionPolicies, compiled.

kube: apiserver/pkg/admission/plugin/cel/{compile,composition}.go @ v1.37.2
"""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from scheduler_core.apimachinery.cel import (
    BOOL,
    DYN,
    INT,
    STRING,
    CompileError,
    Environment,
    Program,
    Type,
    list_of,
    map_of,
    struct,
)
from scheduler_core.apimachinery.cel.types import TIMESTAMP, Kind

_AUTHORIZER = re.compile(r"\bauthorizer\b")
_TEXTS, _WORDS = map_of(STRING, STRING), list_of(STRING)
_PLACE = ("group", "version")
_NAMES = "name generateName namespace UID resourceVersion"
_STRUCTS: Mapping[str, Mapping[str, Type]] = {
    "kubernetes.GroupVersionKind": dict.fromkeys((*_PLACE, "kind"), STRING),
    "kubernetes.GroupVersionResource": dict.fromkeys((*_PLACE, "resource"), STRING),
    "kubernetes.UserInfo": {"username": STRING, "uid": STRING, "groups": _WORDS, "extra": map_of(STRING, _WORDS)},
    "kubernetes.AdmissionRequest": {
        **dict.fromkeys(("kind", "requestKind"), struct("kubernetes.GroupVersionKind")),
        **dict.fromkeys(("resource", "requestResource"), struct("kubernetes.GroupVersionResource")),
        **dict.fromkeys(("subResource", "requestSubResource", "name", "namespace", "operation"), STRING),
        "userInfo": struct("kubernetes.UserInfo"),
        "dryRun": BOOL,
        "options": DYN,
    },
    "kubernetes.NamespaceMetadata": {
        **dict.fromkeys(_NAMES.split(), STRING),
        **dict.fromkeys(("labels", "annotations"), _TEXTS),
        **dict.fromkeys(("creationTimestamp", "deletionTimestamp"), TIMESTAMP),
        **dict.fromkeys(("deletionGracePeriodSeconds", "generation"), INT),
        "finalizers": _WORDS,
    },
    "kubernetes.NamespaceSpec": {"finalizers": _WORDS},
    "kubernetes.NamespaceCondition": {
        **dict.fromkeys(("status", "type", "message", "reason"), STRING),
        "lastTransitionTime": TIMESTAMP,
    },
    "kubernetes.NamespaceStatus": {"phase": STRING, "conditions": list_of(struct("kubernetes.NamespaceCondition"))},
    "kubernetes.Namespace": {
        part: struct(f"kubernetes.Namespace{part.capitalize()}") for part in ("metadata", "spec", "status")
    },
}
_VARIABLES = {
    **dict.fromkeys(("object", "oldObject"), DYN),
    "namespaceObject": struct("kubernetes.Namespace"),
    "request": struct("kubernetes.AdmissionRequest"),
    "variables": struct("kubernetes.variables"),
}
Compiled = Program | str
"""A program, or kube's error of its compilation."""


def compile_expression(environment: Environment, expression: str, *types: Type) -> Compiled:
    """Compile an expression whose type must be one of `types`. Return the program, or the error's text."""
    try:
        program = environment.compile(expression, None)
    except CompileError as wrong:
        return f"compilation failed: {wrong}"
    if program.tree.type in types or not types:
        return program
    wanted = str(types[0]) if len(types) == 1 else f"one of [{' '.join(map(str, types))}]"
    return f"must evaluate to {wanted} but got {program.tree.type}"


def asks_authorizer(expressions: Iterable[str]) -> bool:
    return any(_AUTHORIZER.search(each) for each in expressions)


@lru_cache(maxsize=256)
def compose(variables: tuple[tuple[str, str], ...], params: bool) -> tuple[Environment, Mapping[str, Compiled]]:
    """Return the environment of a policy's expressions, and its variables, each compiled with those before it."""
    names = {**_VARIABLES, "params": DYN} if params else _VARIABLES
    fields: dict[str, Type] = {}
    compiled: dict[str, Compiled] = {}
    environment = Environment(names, {**_STRUCTS, "kubernetes.variables": {}})
    for name, expression in variables:
        found = compiled[name] = compile_expression(environment, expression)
        known = isinstance(found, Program) and found.tree.type.kind not in (Kind.STRUCT, Kind.OPAQUE, Kind.TYPE)
        fields = {**fields, name: found.tree.type if known and isinstance(found, Program) else DYN}
        environment = Environment(names, {**_STRUCTS, "kubernetes.variables": fields})
    return environment, compiled


def environment_of(spec: Mapping[str, Any]) -> tuple[Environment, Mapping[str, Compiled]]:
    """Return the environment and the variables of a policy."""
    variables = tuple((each.get("name") or "", each.get("expression") or "") for each in spec.get("variables") or ())
    return compose(variables, spec.get("paramKind") is not None)


def expressions_of(spec: Mapping[str, Any]) -> list[str]:
    """Return all expressions of a policy."""
    fields = ("expression", "messageExpression", "valueExpression")
    parts = ("matchConditions", "variables", "validations", "auditAnnotations")
    return [str(each[f]) for part in parts for each in spec.get(part) or () for f in fields if each.get(f)]

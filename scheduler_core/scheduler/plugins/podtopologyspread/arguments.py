"""PodTopologySpreadArgs: the constraints of pods that have none of their own.

kube: apis/config/v1/defaults.go, apis/config/validation/validation_pluginargs.go @ v1.34.1
"""

from __future__ import annotations

from scheduler_core.apimachinery.objects.errors import (
    FieldError,
    build_required_error,
    duplicate,
    forbidden,
    invalid,
    not_supported,
)
from scheduler_core.apimachinery.objects.strict import ANY, INTEGER32, STRING, ListOf, Shape
from scheduler_core.scheduler.framework.arguments import Arguments, Given
from scheduler_core.scheduler.framework.features import Features
from scheduler_core.scheduler.plugins.helper.arguments import name_errors
from scheduler_core.scheduler.plugins.podtopologyspread.constraints import HARD, SOFT

SYSTEM, LIST = "System", "List"

_CONSTRAINT: Shape = {
    "maxSkew": INTEGER32,
    "topologyKey": STRING,
    "whenUnsatisfiable": STRING,
    "labelSelector": ANY,
    "minDomains": INTEGER32,
    "nodeAffinityPolicy": STRING,
    "nodeTaintsPolicy": STRING,
    "matchLabelKeys": ListOf(STRING),
}


def _validate(args: Given, path: str, features: Features) -> list[FieldError]:
    kind, constraints = args["defaultingType"], args.get("defaultConstraints") or ()
    errors: list[FieldError] = []
    if kind not in (SYSTEM, LIST):
        errors.append(not_supported(f"{path}.defaultingType", kind, (SYSTEM, LIST)))
    elif kind == SYSTEM and constraints:
        errors.append(invalid(f"{path}.defaultingType", kind, "when .defaultConstraints are not empty"))
    seen: dict[tuple[str, str], None] = {}
    for i, constraint in enumerate(constraints):
        where = f"{path}.defaultConstraints[{i}]"
        errors += _constraint_errors(constraint, where)
        pair = (constraint.get("topologyKey") or "", constraint.get("whenUnsatisfiable") or "")
        if pair in seen:
            errors.append(duplicate(where, f"{{{pair[0]}, {pair[1]}}}"))
        seen[pair] = None
    return errors


def _constraint_errors(constraint: Given, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    skew, key = constraint.get("maxSkew") or 0, constraint.get("topologyKey") or ""
    action = constraint.get("whenUnsatisfiable") or ""
    if skew <= 0:
        errors.append(invalid(f"{path}.maxSkew", skew, "not in valid range (0, inf)"))
    if not key:
        errors.append(build_required_error(f"{path}.topologyKey", "can not be empty"))
    else:
        errors += name_errors(key, f"{path}.topologyKey")
    if not action:
        errors.append(build_required_error(f"{path}.whenUnsatisfiable", "can not be empty"))
    elif action not in (HARD, SOFT):
        errors.append(not_supported(f"{path}.whenUnsatisfiable", action, (HARD, SOFT)))
    if constraint.get("labelSelector") is not None:
        detail = "constraint must not define a selector, as they deduced for each pod"
        errors.append(forbidden(f"{path}.labelSelector", detail))
    return errors


ARGUMENTS = Arguments(
    fields={"defaultConstraints": ListOf(_CONSTRAINT), "defaultingType": STRING},
    defaults=lambda given, features: {"defaultingType": given.get("defaultingType") or SYSTEM},
    validate=_validate,
)

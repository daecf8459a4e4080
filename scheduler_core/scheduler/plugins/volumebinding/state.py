"""VolumeBinding's data in a CycleState, and the plan for a node.

kube: plugins/volumebinding/{volume_binding,binder}.go @ v1.34.1
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scheduler_core.apimachinery.objects import FieldError, Manifest, invalid
from scheduler_core.apimachinery.objects.storage.volumes import SELECTED_NODE, bind_volume_to_claim, with_annotation
from scheduler_core.apimachinery.objects.strict import INTEGER64
from scheduler_core.scheduler.framework import Arguments, Features, Given, Status
from scheduler_core.scheduler.plugins.helper.node_selection import Mask
from scheduler_core.scheduler.plugins.helper.normalize import POINTS, point_errors
from scheduler_core.scheduler.plugins.volumebinding.binder import Plan
from scheduler_core.scheduler.plugins.volumebinding.matching import NONE, Matches

# VolumeBindingArgs: the bind timeout, and the shape of the capacity score.
# kube: apis/config/v1/defaults.go, apis/config/validation/validation_pluginargs.go @ v1.34.1


def _defaults(given: Given, features: Features) -> Given:
    filled: dict[str, Any] = {"bindTimeoutSeconds": 600, **given}
    if features.storage_capacity_scoring and not given.get("shape"):
        filled["shape"] = [{"utilization": 0, "score": 10}, {"utilization": 100, "score": 0}]
    return filled


def _validate(args: Given, path: str, features: Features) -> list[FieldError]:
    errors: list[FieldError] = []
    if args["bindTimeoutSeconds"] < 0:
        detail = "invalid BindTimeoutSeconds, should not be a negative value"
        errors.append(invalid(f"{path}.bindTimeoutSeconds", args["bindTimeoutSeconds"], detail))
    if features.storage_capacity_scoring:
        errors += point_errors(args["shape"], f"{path}.shape")
    elif args.get("shape") is not None:
        detail = "unexpected field `shape`, remove it or turn on the feature gate StorageCapacityScoring"
        errors.append(invalid(f"{path}.shape", args["shape"], detail))
    return errors


ARGUMENTS = Arguments(fields={"bindTimeoutSeconds": INTEGER64, "shape": POINTS}, defaults=_defaults, validate=_validate)


@dataclass(frozen=True, slots=True, eq=False)
class Claims:
    """A pod's claims at PreFilter: bound ones, WaitForFirstConsumer ones, and the volumes offered to the latter."""

    bound: tuple[Manifest, ...] = ()
    delayed: tuple[Manifest, ...] = ()
    offered: tuple[Manifest, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class PodVolumes:
    """The results of Filter for all rows: `bits` of reasons per row, errors, and the matches of the unbound claims."""

    bits: NDArray[np.int32]
    errors: tuple[tuple[Mask, Status], ...]
    matches: Matches | None
    rows: Mapping[str, int]


def build_plan(claims: Claims, pod_volumes: PodVolumes, node_name: str) -> Plan:
    """Return the plan for a passing node: volumes with the claims they are reserved for, and claims with their selected node."""
    matches = pod_volumes.matches
    if matches is None:
        return Plan()
    row = pod_volumes.rows[node_name]
    static = [
        (bind_volume_to_claim(claims.offered[int(column[row])], claim), claim)
        for claim, column in zip(matches.claims, matches.volumes, strict=False)
        if column[row] != NONE
    ]
    dynamic = [
        with_annotation(claim, SELECTED_NODE, node_name)
        for claim, mask in zip(matches.to_provision, matches.provisioned, strict=True)
        if mask[row]
    ]
    return Plan(tuple(static), tuple(dynamic))

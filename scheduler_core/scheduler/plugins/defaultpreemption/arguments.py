"""DefaultPreemptionArgs: how many candidates are enough.

kube: apis/config/v1/defaults.go, apis/config/validation/validation_pluginargs.go @ v1.34.1
"""

from __future__ import annotations

from scheduler_core.apimachinery.objects.errors import FieldError, invalid
from scheduler_core.apimachinery.objects.strict import INTEGER32
from scheduler_core.scheduler.framework.arguments import Arguments, Given, when_absent
from scheduler_core.scheduler.framework.features import Features
from scheduler_core.scheduler.plugins.helper.arguments import range_errors


def _validate(args: Given, path: str, features: Features) -> list[FieldError]:
    percentage, absolute = args["minCandidateNodesPercentage"], args["minCandidateNodesAbsolute"]
    at_percentage, at_absolute = f"{path}.minCandidateNodesPercentage", f"{path}.minCandidateNodesAbsolute"
    errors = range_errors(percentage, at_percentage, 0, 100)
    if absolute < 0:
        errors.append(invalid(at_absolute, absolute, "not in valid range [0, inf)"))
    if percentage == 0 and absolute == 0:
        same = "cannot be zero at the same time as"
        errors.append(invalid(at_percentage, percentage, f"{same} minCandidateNodesAbsolute"))
        errors.append(invalid(at_absolute, absolute, f"{same} minCandidateNodesPercentage"))
    return errors


ARGUMENTS = Arguments(
    fields={"minCandidateNodesPercentage": INTEGER32, "minCandidateNodesAbsolute": INTEGER32},
    defaults=when_absent(minCandidateNodesPercentage=10, minCandidateNodesAbsolute=100),
    validate=_validate,
)

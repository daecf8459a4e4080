"""NodeAffinityArgs: an affinity that a profile adds to every pod's own.

kube: apis/config/validation/validation_pluginargs.go @ v1.34.1
"""

from scheduler_core.apimachinery.objects import PREFERRED, REQUIRED, FieldError
from scheduler_core.apimachinery.objects.labels import NodeSelector, NodeSelectorTerm
from scheduler_core.apimachinery.objects.strict import INTEGER32, STRING, ListOf, Shape
from scheduler_core.scheduler.framework import Arguments, Features, Given

_REQUIREMENT: Shape = {"key": STRING, "operator": STRING, "values": ListOf(STRING)}
_TERM: Shape = {"matchExpressions": ListOf(_REQUIREMENT), "matchFields": ListOf(_REQUIREMENT)}


def _validate(args: Given, path: str, features: Features) -> list[FieldError]:
    added = args.get("addedAffinity") or {}
    errors = list(NodeSelector.of(added.get(REQUIRED) or {}, f"{path}.addedAffinity.{REQUIRED}").errors)
    for i, raw in enumerate(added.get(PREFERRED) or ()):
        if raw.get("weight"):
            where = f"{path}.addedAffinity.{PREFERRED}[{i}]"
            errors += NodeSelectorTerm.of(raw.get("preference") or {}, where).errors
    return errors


ARGUMENTS = Arguments(
    fields={
        "addedAffinity": {
            REQUIRED: {"nodeSelectorTerms": ListOf(_TERM)},
            PREFERRED: ListOf({"weight": INTEGER32, "preference": _TERM}),
        }
    },
    validate=_validate,
)

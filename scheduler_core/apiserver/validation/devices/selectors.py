"""CEL selectors: whether they compile, and what one evaluation may cost.

kube: pkg/apis/resource/validation/validation.go (validateCELSelector), dynamic-resource-allocation/cel/compile.go @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from scheduler_core.apimachinery.dra.features import SelectorError
from scheduler_core.apimachinery.dra.selectors import is_too_complex
from scheduler_core.apimachinery.objects.errors import build_required_error, forbidden, invalid
from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apiserver.validation.devices.names import Errors, each, internal, longer, too_long

MOST_SELECTORS = 32
LONGEST_EXPRESSION = 10 * 1024


@dataclass(frozen=True, slots=True)
class Compiling:
    """Settings for compiling expressions. `stored`: the expressions were accepted before."""

    consumable_capacity: bool = False
    stored: bool = False

    def of(self, stored: bool) -> Compiling:
        return self if stored == self.stored else replace(self, stored=stored)


def selectors(given: Sequence[Manifest] | None, path: str, compiling: Compiling, errors: Errors) -> None:
    """Selectors of a request, a class or a rule."""

    def one(selector: Manifest, where: str, errors: Errors) -> None:
        cel = selector.get("cel")
        if cel is None:
            errors.append(build_required_error(f"{where}.cel"))
        else:
            _expression(cel.get("expression") or "", f"{where}.cel.expression", compiling, errors)

    each(given, MOST_SELECTORS, one, path, errors)


def _expression(expression: str, path: str, compiling: Compiling, errors: Errors) -> None:
    if longer(expression, LONGEST_EXPRESSION):
        errors.append(too_long(path, LONGEST_EXPRESSION))
        return
    try:
        if is_too_complex(expression, compiling.consumable_capacity, compiling.stored):
            errors.append(forbidden(path, "too complex, exceeds cost limit"))
    except SelectorError as problem:
        detail = str(problem)
        if detail.startswith("program instantiation failed"):
            errors.append(internal(path, detail))
        else:
            errors.append(invalid(path, expression, detail))

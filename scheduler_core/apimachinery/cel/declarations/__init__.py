"""The functions of kube's environment with their overloads, by name."""

from __future__ import annotations

from scheduler_core.apimachinery.cel.declarations.extensions import LISTS, OPTIONALS, TEXT
from scheduler_core.apimachinery.cel.declarations.kubernetes import KUBERNETES
from scheduler_core.apimachinery.cel.declarations.reading import Function, Overload, read_declarations
from scheduler_core.apimachinery.cel.declarations.standard import CONVERSIONS, MEMBERS, OPERATORS

__all__ = ["FUNCTIONS", "Function", "Overload"]

FUNCTIONS: dict[str, Function] = read_declarations(OPERATORS, CONVERSIONS, MEMBERS, KUBERNETES, TEXT, LISTS, OPTIONALS)

"""The functions of kube's environment with their overloads, by name."""

from __future__ import annotations

from scheduler_core.apimachinery.cel.declarations.functions import (
    CONVERSIONS,
    KUBERNETES,
    LISTS,
    MEMBERS,
    OPERATORS,
    OPTIONALS,
    TEXT,
)
from scheduler_core.apimachinery.cel.declarations.reading import Function, Overload, read_declarations

__all__ = ["FUNCTIONS", "Function", "Overload"]

FUNCTIONS: dict[str, Function] = read_declarations(OPERATORS, CONVERSIONS, MEMBERS, KUBERNETES, TEXT, LISTS, OPTIONALS)

"""Fixes for pods that have a node."""

from scheduler_core.analysis.fixes.placed.pods import (
    Proposals,
    find_last_end,
    is_guarded,
    is_refused_as_it_is,
    name_of,
    propose_end,
    propose_modes,
    prove_each,
    remove_finalizers,
    runs,
    search_drain,
    search_placed,
    set_field,
    without,
)

__all__ = [
    "Proposals",
    "find_last_end",
    "is_guarded",
    "is_refused_as_it_is",
    "name_of",
    "propose_end",
    "propose_modes",
    "prove_each",
    "remove_finalizers",
    "runs",
    "search_drain",
    "search_placed",
    "set_field",
    "without",
]

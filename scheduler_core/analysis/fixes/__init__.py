"""Fixes: the smallest changes found that let a pending pod be scheduled, each proven on a fork."""

from scheduler_core.analysis.fixes.fix import Budget, Findings, Fix
from scheduler_core.analysis.fixes.search import find_fixes, search_fixes

__all__ = ["Budget", "Findings", "Fix", "find_fixes", "search_fixes"]

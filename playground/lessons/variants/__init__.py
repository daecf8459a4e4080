"""Variants of a lesson: each is played by the engine and proven to have one answer to each question before anybody sees it."""

from playground.lessons.variants.checking import problems_of_variants
from playground.lessons.variants.proof import Unproven, faults, proven

__all__ = ["Unproven", "faults", "problems_of_variants", "proven"]

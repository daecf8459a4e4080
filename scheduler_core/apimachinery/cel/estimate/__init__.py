"""What an expression may cost at most, told from its types and the sizes that are declared."""

from scheduler_core.apimachinery.cel.estimate.ranges import DeclaredSize, Range
from scheduler_core.apimachinery.cel.estimate.walk import estimate

__all__ = ["DeclaredSize", "Range", "estimate"]

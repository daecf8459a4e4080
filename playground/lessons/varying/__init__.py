"""What a lesson varies: numbers and names that a seed draws within the ranges that it declares (docs/lessons.md).

`declared` says whether it can be drawn, `values` draws and computes, `filling` puts the values into the plan.
"""

from playground.lessons.varying.declared import BadVariation
from playground.lessons.varying.filling import as_written, variants_of

__all__ = ["BadVariation", "as_written", "variants_of"]

"""Custom plugins in CEL: definitions of a few expressions, and their plugin classes (docs/own-plugins.md)."""

from scheduler_core.scheduler.plugins.cel.expressions import (
    EXPRESSIONS,
    MOST_PLUGINS,
    NAME_PATTERN,
    NORMALIZE,
    Definition,
    problems_of,
)
from scheduler_core.scheduler.plugins.cel.making import plugin_of, plugins_of

__all__ = ["EXPRESSIONS", "MOST_PLUGINS", "NAME_PATTERN", "NORMALIZE", "Definition", "plugin_of", "plugins_of"]
__all__ += ["problems_of"]

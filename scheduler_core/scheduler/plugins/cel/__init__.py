"""Plugins of one's own, written in CEL: a definition of a few expressions, and the plugin that it is (docs/own-plugins.md)."""

from scheduler_core.scheduler.plugins.cel.expressions import (
    EXPRESSIONS,
    MOST_PLUGINS,
    NAME_PATTERN,
    NORMALIZE,
    Definition,
    Wrong,
    problems_of,
)
from scheduler_core.scheduler.plugins.cel.making import plugin_of, plugins_of
from scheduler_core.scheduler.plugins.cel.plugin import Own

__all__ = ["EXPRESSIONS", "MOST_PLUGINS", "NAME_PATTERN", "NORMALIZE", "Definition", "Own", "Wrong", "plugin_of"]
__all__ += ["plugins_of", "problems_of"]

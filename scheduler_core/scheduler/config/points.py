"""Which extension points a configuration names, and which of them each plugin takes part in.

kube: apis/config/types.go (Plugins), framework/runtime/framework.go getExtensionPoints @ v1.34.1
"""

from __future__ import annotations

from scheduler_core.scheduler.framework.plugin import Point, takes_part
from scheduler_core.scheduler.plugins.registry import registry

# JSON name -> point, in the order of kube's Plugins type.
FIELDS: dict[str, Point] = {
    "preEnqueue": Point.PRE_ENQUEUE,
    "queueSort": Point.QUEUE_SORT,
    "preFilter": Point.PRE_FILTER,
    "filter": Point.FILTER,
    "postFilter": Point.POST_FILTER,
    "preScore": Point.PRE_SCORE,
    "score": Point.SCORE,
    "reserve": Point.RESERVE,
    "permit": Point.PERMIT,
    "preBind": Point.PRE_BIND,
    "bind": Point.BIND,
    "postBind": Point.POST_BIND,
}

MULTI_POINT = "multiPoint"


def is_registered(name: str) -> bool:
    """Return whether a plugin of this name exists."""
    return name in registry()


def implements(name: str, point: Point) -> bool:
    """Return whether the plugin exists and takes part in an extension point."""
    built = registry().get(name)
    return built is not None and takes_part(built, point)

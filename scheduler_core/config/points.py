"""Which extension points a configuration names, and which of them each plugin takes part in.

kube: apis/config/types.go (Plugins), framework/runtime/framework.go getExtensionPoints @ v1.34.1
"""

from __future__ import annotations

from scheduler_core.framework.plugin import Point, takes_part
from scheduler_core.plugins import REGISTRY

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

_FILTERS = frozenset({Point.PRE_FILTER, Point.FILTER})
_FILTERS_AND_SCORES = _FILTERS | {Point.PRE_SCORE, Point.SCORE}

# In-tree plugins that come later. NormalizeScore has no field of its own: it goes with Score.
NOT_BUILT: dict[str, frozenset[Point]] = {
    "DefaultPreemption": frozenset({Point.PRE_ENQUEUE, Point.POST_FILTER}),
}


def known(name: str) -> bool:
    """Whether there is a plugin of this name, built or not."""
    return name in REGISTRY or name in NOT_BUILT


def implements(name: str, point: Point) -> bool:
    """Whether a known plugin takes part in an extension point."""
    built = REGISTRY.get(name)
    return takes_part(built, point) if built is not None else point in NOT_BUILT.get(name, frozenset())

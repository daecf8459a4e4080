"""PreFilter and PreScore: the data that each plugin prepared, or why it has nothing to do; and the plugins that use the data."""

from collections.abc import Sequence
from typing import Any, Literal, TypedDict

from playground.presenters.inspector.node import FigureParagraph, FigureTable, blocks_of
from playground.presenters.look import Look
from playground.presenters.panel import Stage
from playground.presenters.scene import cycle_of, framework_of, short
from playground.presenters.story.goals import format_deciding, split_fields
from playground.presenters.words import Message, gettext_noop, message
from scheduler_core.world.readonly import PluginStep, Point, SchedulingCycleView, WorldView

MOST_NAMES = 12  # names of nodes that PreFilter leaves
_SKIPS = gettext_noop("nothing to do for this pod")


class PluginPreparation(TypedDict):
    """`said`: kube's text if the plugin refused the pod or failed. `nodes`: those it left, `of` how many; None: all nodes.

    `brief`: there is no table.
    """

    plugin: str
    blocks: list[FigureParagraph | FigureTable]
    brief: bool
    said: str
    nodes: list[str] | None
    of: int


class SkippedPlugin(TypedDict):
    plugin: str
    why: str


class FollowingPlugin(TypedDict):
    """A plugin of the next point: whether it prepared data here, and its weight there (0: none)."""

    plugin: str
    prepared: bool
    weight: int


class PrepareBody(TypedDict, total=False):
    kind: Literal["prepare", "none"]
    point: str
    prepared: list[PluginPreparation]
    skips: list[SkippedPlugin]
    ahead: list[str]
    next: list[FollowingPlugin]
    nodes: int
    spec: list[str]


QUESTIONS = {
    Point.PRE_FILTER: gettext_noop("What do the plugins prepare for %(pod)s?"),
    Point.PRE_SCORE: gettext_noop("What do the plugins prepare to score nodes for %(pod)s?"),
}


def present(sim: WorldView, look: Look, key: str, point: Point = Point.PRE_FILTER) -> Stage[PrepareBody, Any]:
    """Return the plugins of PreFilter or PreScore in the pod's present attempt."""
    cycle = cycle_of(sim)
    asked = message(QUESTIONS[point], pod=short(key) or "…")
    steps = [] if cycle is None or cycle.pod.key != key else [step for step in cycle.steps if step.point is point]
    if cycle is None or not steps:
        return Stage(asked, {"kind": "none"})
    body = _body(sim, cycle, point, steps)
    return Stage(asked, body, facts=_count(body), map=bool(body["ahead"]))


def _body(sim: WorldView, cycle: SchedulingCycleView, point: Point, steps: Sequence[PluginStep]) -> PrepareBody:
    framework, ran = framework_of(sim), {step.plugin for step in steps}
    plugins = {plugin.name: plugin for plugin in framework.at(point)}
    working = [step for step in steps if not step.skipped]
    over, pod = str(cycle.phase) != point, sim.store.get("Pod", *cycle.pod.key.split("/"))
    return {
        "kind": "prepare",
        "point": str(point),
        "prepared": [_build_prepared(sim, cycle, step) for step in working],
        "skips": [
            {"plugin": step.plugin, "why": plugins[step.plugin].skips.get(point, _SKIPS)}
            for step in steps
            if step.skipped and step.plugin in plugins
        ],
        "ahead": [] if over else [name for name in plugins if name not in ran],
        "next": _list_following(sim, cycle, point, {step.plugin for step in working}) if over else [],
        "nodes": _count_nodes(cycle, point, steps),
        "spec": [] if pod is None else split_fields(format_deciding(pod)),
    }


def _build_prepared(sim: WorldView, cycle: SchedulingCycleView, step: PluginStep) -> PluginPreparation:
    plugin, ok = framework_of(sim).plugin(step.plugin), step.status.ok
    blocks = (
        plugin.describe_prepared(step.point, cycle.state, cycle.pod, cycle.nodes) if plugin is not None and ok else ()
    )
    names = None if step.node_names is None else sorted(step.node_names)
    shown = blocks_of(blocks)
    return {
        "plugin": step.plugin,
        "blocks": shown,
        "brief": all(block["kind"] == "paragraph" for block in shown),
        "said": "" if ok else step.status.message,
        "nodes": None if names is None else names[:MOST_NAMES],
        "of": 0 if names is None else len(names),
    }


def _list_following(
    sim: WorldView, cycle: SchedulingCycleView, point: Point, prepared: set[str]
) -> list[FollowingPlugin]:
    """Return the plugins that run at the next point, or none if the attempt ended at this one."""
    if cycle.outcome or not cycle.pre_filter_status.ok:
        return []
    framework = framework_of(sim)
    after = Point.FILTER if point is Point.PRE_FILTER else Point.SCORE
    skipped = cycle.state.skip_filter if point is Point.PRE_FILTER else cycle.state.skip_score
    weights = framework.weights if after is Point.SCORE else {}
    return [
        {"plugin": plugin.name, "prepared": plugin.name in prepared, "weight": weights.get(plugin.name, 0)}
        for plugin in framework.at(after)
        if plugin.name not in skipped
    ]


def _count_nodes(cycle: SchedulingCycleView, point: Point, steps: Sequence[PluginStep]) -> int:
    """Return the number of nodes at the next point: those that PreFilter leaves, or those that are feasible."""
    if point is Point.PRE_SCORE:
        return steps[-1].evaluated
    left = [step.node_names for step in steps if step.node_names is not None]
    return len(frozenset.intersection(*left)) if left else len(cycle.nodes)


def _count(body: PrepareBody) -> list[Message]:
    counts = (
        (gettext_noop("prepare data: %(n)s"), len(body["prepared"])),
        (gettext_noop("nothing to do: %(n)s"), len(body["skips"])),
        (gettext_noop("not run yet: %(n)s"), len(body["ahead"])),
    )
    return [message(text, n=n) for text, n in counts if n]

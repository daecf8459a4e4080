"""The filter stage's columns: PreFilter where it left nodes out, the Filter plugins that run, extenders; who came in, who was refused."""

from dataclasses import dataclass
from typing import TypedDict

import numpy as np

from playground.presenters.refusals import Refusals, is_filter_over
from playground.presenters.scene import framework_of, present_step, without_scheme
from playground.presenters.stage.exchanges import list_serving_extenders
from scheduler_core.world.readonly import Code, PluginStep, Point, SchedulingCycleView, Verb, WorldView

PRE_FILTER = "PreFilter"
_FILTERS = (Point.FILTER, Point.EXTENDER_FILTER)
_NOMINATED = "nominated pass 1"


@dataclass(frozen=True, slots=True)
class Columns:
    """`names` run in this order, each with its state: ran, todo or never (nothing was left to ask). `skipped` have no column.

    `whole`: PreFilter refused the pod.
    """

    names: list[str]
    states: dict[str, str]
    skipped: list[str]
    whole: bool

    def of(self, plugin: str) -> str:
        """The column where a refusal stands: what has no plugin of its own is PreFilter's."""
        return PRE_FILTER if self.whole or plugin not in self.states else plugin


def columns(sim: WorldView, cycle: SchedulingCycleView) -> Columns:
    """The columns of the cycle at this moment."""
    enabled = [plugin.name for plugin in framework_of(sim).at(Point.FILTER)]
    enabled += [extender.url_prefix for extender in list_serving_extenders(sim, cycle, Verb.FILTER)]
    states = _get_plugin_states(cycle, list(dict.fromkeys(enabled)))
    first = {PRE_FILTER: "ran"} if (cycle.node_names is not None or not cycle.pre_filter_status.ok) else {}
    running = {name: state for name, state in states.items() if state != "skip"}
    skipped = [name for name, state in states.items() if state == "skip"]
    return Columns([*first, *running], first | running, skipped, not cycle.pre_filter_status.ok)


def _get_plugin_states(cycle: SchedulingCycleView, plugins: list[str]) -> dict[str, str]:
    """Return Filter's progress per plugin: ran, is skipped, is still to come, or was never asked."""
    ran = {
        step.plugin
        for step in cycle.steps
        if step.point is Point.FILTER or (step.point is Point.EXTENDER_FILTER and step.status.ok)
    }
    coming = not is_filter_over(cycle)

    def state(name: str) -> str:
        if name in ran:
            return "ran"
        if name in cycle.state.skip_filter:
            return "skip"
        return "todo" if coming else "never"

    return {name: state(name) for name in plugins}


class Head(TypedDict):
    name: str
    plugin: str
    state: str
    now: bool
    came: int
    refused: int
    mark: str
    at: int | None


def heads(sim: WorldView, cycle: SchedulingCycleView, columns: Columns, refused: Refusals) -> list[Head]:
    """Return the heads of the columns, with a link to each plugin's step."""
    now = _now(sim)
    alive = len(refused.group) - (refused.unseen if is_filter_over(cycle) else 0)
    out: list[Head] = []
    for name in columns.names:
        mine = [i for i, status in enumerate(refused.statuses) if columns.of(status.plugin) == name]
        ended = sum(refused.counts[i] for i in mine)
        steps = _steps(cycle, name)
        came = alive if is_filter_over(cycle) or name == PRE_FILTER else _came_in(cycle, name, columns.names)
        out.append(
            {
                "name": without_scheme(name),
                "plugin": name,
                "state": columns.states[name],
                "now": name == now,
                "came": came,
                "refused": ended,
                "mark": "u" if mine and all((refused.statuses[i].code is Code.UNRESOLVABLE) for i in mine) else "r",
                "at": steps[-1].position if steps else None,
            }
        )
        alive -= ended
    return out


def _steps(cycle: SchedulingCycleView, name: str) -> list[PluginStep]:
    if name == PRE_FILTER:
        return [step for step in cycle.steps if step.point is Point.PRE_FILTER]
    return [step for step in cycle.steps if step.point in _FILTERS and step.plugin == name]


def _came_in(cycle: SchedulingCycleView, name: str, names: list[str]) -> int:
    """While Filter goes on: what the plugin's steps looked at; of the pass with nominated pods, what did not come to the other pass."""
    main = [step for step in _steps(cycle, name) if step.stage != _NOMINATED]
    first = [step for step in cycle.steps if step.point is Point.FILTER and step.stage == _NOMINATED]
    if not main:
        return sum(step.evaluated for step in first if step.plugin == name)
    behind = set(names[names.index(name) :])
    return sum(step.evaluated for step in main) + sum(step.refused for step in first if step.plugin in behind)


def _now(sim: WorldView) -> str:
    step = present_step(sim)
    return step[0].plugin if step is not None and step[0].point in _FILTERS else ""


def just_refused(sim: WorldView, cycle: SchedulingCycleView, refused: Refusals) -> frozenset[int]:
    """The rows that the present step refused."""
    if not _now(sim):
        return frozenset()
    return frozenset(np.flatnonzero(refused.step == len(cycle.steps) - 1).tolist())

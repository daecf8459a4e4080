"""The Filter stage's columns, the pod's requirements, and facts about the search for nodes."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypedDict

import numpy as np

from playground.presenters import scene
from playground.presenters.stage.group import list_serving_extenders
from playground.presenters.words import Message, exactly, format_requests, gettext_noop, message, thousands
from scheduler_core.world import readonly

_BY_NODE_CONTROLLER = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
_OPERATORS = {"Exists": "%s", "DoesNotExist": "!%s"}


def asks(pod: readonly.Pod) -> list[Message]:
    """Return the pod's requests, then its other requirements of a node."""
    return [
        *_requests(pod),
        *(exactly(f"{key}={value}") for key, value in pod.spec.node_selector.items()),
        *_node_affinity(pod.spec.manifest),
        *_beside(pod.spec.pod_affinity, gettext_noop("beside %(pods)s by %(topology)s")),
        *_beside(pod.spec.pod_anti_affinity, gettext_noop("not beside %(pods)s by %(topology)s")),
        *(
            message("spread by %(topology)s", topology=_short(spread["topologyKey"]))
            for spread in pod.spec.topology_spread
            if spread.get("whenUnsatisfiable") != "ScheduleAnyway"
        ),
        *(message("host port %(port)s", port=port.port) for port in pod.spec.host_ports),
        *_tolerations(pod.spec.tolerations),
    ]


def _requests(pod: readonly.Pod) -> Iterator[Message]:
    requests = format_requests(pod)
    yield from map(exactly, requests)
    if not requests:
        yield message("no requests")


def _node_affinity(manifest: Mapping[str, Any]) -> Iterator[Message]:
    required = _at(manifest, "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
    for term in _at(required, "nodeSelectorTerms") or ():
        said = [_expression(e) for e in (*term.get("matchExpressions", ()), *term.get("matchFields", ()))]
        if said:
            yield exactly(", ".join(said))


def _beside(affinity: Mapping[str, Any], words: str) -> Iterator[Message]:
    for term in affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or ():
        selector = term.get("labelSelector")
        labels = [f"{key}={value}" for key, value in _at(selector, "matchLabels").items()]
        labels += [_expression(e) for e in _at(selector, "matchExpressions") or ()]
        yield message(words, pods=", ".join(labels) or "*", topology=_short(term["topologyKey"]))


def _expression(expression: Mapping[str, Any]) -> str:
    """Format an expression as kubectl does, a single value with an equals sign."""
    key, operator = _short(expression["key"]), expression["operator"]
    values = [str(value) for value in expression.get("values") or ()]
    if operator in _OPERATORS:
        return _OPERATORS[operator] % key
    if operator in ("Gt", "Lt"):
        return f"{key}{'>' if operator == 'Gt' else '<'}{values[0]}"
    if len(values) == 1:
        return f"{key}{'=' if operator == 'In' else '!='}{values[0]}"
    return f"{key} {'in' if operator == 'In' else 'notin'} ({','.join(values)})"


def _tolerations(tolerations: Iterable[readonly.Toleration]) -> Iterator[Message]:
    """Yield the tolerations, except for those that kube gives every pod."""
    for toleration in tolerations:
        if toleration.key not in _BY_NODE_CONTROLLER:
            taint = f"{toleration.key}={toleration.value}" if toleration.value else toleration.key or "*"
            yield message("tolerates %(taint)s", taint=taint)


def _short(key: str) -> str:
    """Return a label's key without its prefix."""
    return key.rpartition("/")[2]


def _at(data: Any, *path: str) -> Any:
    """Return the value at a path, or an empty mapping."""
    for name in path:
        data = (data or {}).get(name)
    return data or {}


LEAST_SHARE, LEAST_NODES = 5, 100  # kube: minFeasibleNodesPercentageToFind, minFeasibleNodesToFind


def notes(sim: readonly.WorldView, cycle: readonly.SchedulingCycleView, unseen: int) -> list[Message]:
    """Return notes of one sentence each. Before Filter begins, only PreFilter has notes."""
    return [*_pre_filter(cycle), *_search(sim, cycle, unseen), *_passes(cycle)]


def is_sampled(cycle: readonly.SchedulingCycleView) -> bool:
    """Return whether the search may end before it reaches every node, or PreFilter excluded some. A note comes first then."""
    search = cycle.search
    stops = search is not None and not search.own_nomination and search.wanted < len(search.order)
    return stops or cycle.node_names is not None or not cycle.pre_filter_status.ok


def _pre_filter(cycle: readonly.SchedulingCycleView) -> list[Message]:
    if not cycle.pre_filter_status.ok:
        return [message("PreFilter refuses the pod before Filter checks any node.")]
    if cycle.node_names is None:
        return []
    text = gettext_noop("PreFilterResult leaves %(left)s of %(nodes)s nodes. %(plugins)s excludes the others.")
    nodes = thousands(cycle.nodes.snapshot_rows)
    return [message(text, left=len(cycle.node_names), nodes=nodes, plugins=", ".join(cycle.narrowed_by))]


def _search(sim: readonly.WorldView, cycle: readonly.SchedulingCycleView, unseen: int) -> list[Message]:
    search = cycle.search
    if search is None or not len(search.order):
        return []
    if search.own_nomination:
        text = gettext_noop("Filter checks %(node)s first, because it is the nominated node of the pod.")
        if cycle.hint:
            text = gettext_noop("Same requirements as the previous pod: Filter checks only %(node)s, next in the list.")
        return [message(text, node=cycle.nodes.names[int(search.order[0])])]
    if search.wanted >= len(search.order):
        return [_all(search)]
    return [_sample(search), _share(sim, len(search.order)), *_describe_progress(search, unseen)]


def _all(search: readonly.SearchView) -> Message:
    if len(search.order) < LEAST_NODES:
        text = gettext_noop("Filter examines every node (fewer than 100), starting at index %(start)s.")
    else:
        text = gettext_noop("Filter examines every node, starting at index %(start)s.")
    return message(text, start=_start(search))


def _sample(search: readonly.SearchView) -> Message:
    text = gettext_noop(
        "Filter starts at index %(start)s, where the last search ended, and stops at %(wanted)s feasible nodes of %(nodes)s."
    )
    return message(text, start=_start(search), wanted=thousands(search.wanted), nodes=thousands(len(search.order)))


def _start(search: readonly.SearchView) -> str:
    return thousands(int((search.order < search.order[0]).sum()))


def _share(sim: readonly.WorldView, nodes: int) -> Message:
    own = scene.framework_of(sim).percentage_of_nodes_to_score
    share = scene.scheduler_of(sim).percentage_of_nodes_to_score if own is None else own
    if share:
        text = gettext_noop("percentageOfNodesToScore is %(share)s %%, and at least 100 nodes.")
        return message(text, share=share)
    text = gettext_noop(
        "percentageOfNodesToScore is 0, so it adapts: 50 − %(nodes)s ÷ 125 is %(share)s %%, and at least 100 nodes."
    )
    return message(text, nodes=nodes, share=max(50 - nodes // 125, LEAST_SHARE))


def _describe_progress(search: readonly.SearchView, unseen: int) -> list[Message]:
    if not search.seen:
        return []
    text = gettext_noop("Filter has examined %(seen)s nodes. %(unseen)s nodes are not examined.")
    return [message(text, seen=thousands(len(search.order) - unseen), unseen=thousands(unseen))]


def _passes(cycle: readonly.SchedulingCycleView) -> list[Message]:
    if cycle.search is None or not cycle.search.nominated:
        return []
    text = gettext_noop(
        "Filter runs twice where pods of equal or higher priority are nominated: first with them, then without."
    )
    return [message(text)]


PRE_FILTER = "PreFilter"
_FILTERS = (readonly.Point.FILTER, readonly.Point.EXTENDER_FILTER)
_NOMINATED = "nominated pass 1"


@dataclass(frozen=True, slots=True)
class Columns:
    """`names` run in this order, each with its state: ran, todo, or never (no node was left). `skipped` have no column.

    `whole`: PreFilter refused the pod.
    """

    names: list[str]
    states: dict[str, str]
    skipped: list[str]
    whole: bool

    def of(self, plugin: str) -> str:
        """Return the column of a refusal. PreFilter's column has those without a plugin of their own."""
        return PRE_FILTER if self.whole or plugin not in self.states else plugin


def columns(sim: readonly.WorldView, cycle: readonly.SchedulingCycleView) -> Columns:
    """Return the columns of the cycle at the present step."""
    enabled = [plugin.name for plugin in scene.framework_of(sim).at(readonly.Point.FILTER)]
    enabled += [extender.url_prefix for extender in list_serving_extenders(sim, cycle, readonly.Verb.FILTER)]
    states = _get_plugin_states(cycle, list(dict.fromkeys(enabled)))
    first = {PRE_FILTER: "ran"} if (cycle.node_names is not None or not cycle.pre_filter_status.ok) else {}
    running = {name: state for name, state in states.items() if state != "skip"}
    skipped = [name for name, state in states.items() if state == "skip"]
    return Columns([*first, *running], first | running, skipped, not cycle.pre_filter_status.ok)


def _get_plugin_states(cycle: readonly.SchedulingCycleView, plugins: list[str]) -> dict[str, str]:
    """Return Filter's progress for each plugin: ran, skip, todo, or never."""
    ran = {
        step.plugin
        for step in cycle.steps
        if step.point is readonly.Point.FILTER or (step.point is readonly.Point.EXTENDER_FILTER and step.status.ok)
    }
    coming = not scene.is_filter_over(cycle)

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


def heads(
    sim: readonly.WorldView, cycle: readonly.SchedulingCycleView, columns: Columns, refused: scene.Refusals
) -> list[Head]:
    """Return the headings of the columns, with a link to each plugin's step."""
    now = _now(sim)
    alive = len(refused.group) - (refused.unseen if scene.is_filter_over(cycle) else 0)
    out: list[Head] = []
    for name in columns.names:
        mine = [i for i, status in enumerate(refused.statuses) if columns.of(status.plugin) == name]
        ended = sum(refused.counts[i] for i in mine)
        steps = _steps(cycle, name)
        came = alive if scene.is_filter_over(cycle) or name == PRE_FILTER else _came_in(cycle, name, columns.names)
        out.append(
            {
                "name": scene.without_scheme(name),
                "plugin": name,
                "state": columns.states[name],
                "now": name == now,
                "came": came,
                "refused": ended,
                "mark": "u"
                if mine and all((refused.statuses[i].code is readonly.Code.UNRESOLVABLE) for i in mine)
                else "r",
                "at": steps[-1].position if steps else None,
            }
        )
        alive -= ended
    return out


def _steps(cycle: readonly.SchedulingCycleView, name: str) -> list[readonly.PluginStep]:
    if name == PRE_FILTER:
        return [step for step in cycle.steps if step.point is readonly.Point.PRE_FILTER]
    return [step for step in cycle.steps if step.point in _FILTERS and step.plugin == name]


def _came_in(cycle: readonly.SchedulingCycleView, name: str, names: list[str]) -> int:
    """Return how many nodes a plugin got while Filter runs. Nodes refused in the pass with nominated pods get no second pass."""
    main = [step for step in _steps(cycle, name) if step.stage != _NOMINATED]
    first = [step for step in cycle.steps if step.point is readonly.Point.FILTER and step.stage == _NOMINATED]
    if not main:
        return sum(step.evaluated for step in first if step.plugin == name)
    behind = set(names[names.index(name) :])
    return sum(step.evaluated for step in main) + sum(step.refused for step in first if step.plugin in behind)


def _now(sim: readonly.WorldView) -> str:
    step = scene.present_step(sim)
    return step[0].plugin if step is not None and step[0].point in _FILTERS else ""


def just_refused(
    sim: readonly.WorldView, cycle: readonly.SchedulingCycleView, refused: scene.Refusals
) -> frozenset[int]:
    """Return the rows that the present step refused."""
    if not _now(sim):
        return frozenset()
    return frozenset(np.flatnonzero(refused.step == len(cycle.steps) - 1).tolist())

"""What is said of the search itself: where it began, how many nodes end it, PreFilter's nodes, the second pass for nominated pods."""

from playground.presenters.amounts import thousands
from playground.presenters.scene import framework_of, scheduler_of
from playground.presenters.words import Message, gettext_noop, message
from scheduler_core.world.readonly import SchedulingCycleView, SearchView, WorldView

LEAST_SHARE, LEAST_NODES = 5, 100  # kube: minFeasibleNodesPercentageToFind, minFeasibleNodesToFind


def notes(sim: WorldView, cycle: SchedulingCycleView, unseen: int) -> list[Message]:
    """One sentence each; none before Filter has begun, but what PreFilter said."""
    return [*_pre_filter(cycle), *_search(sim, cycle, unseen), *_passes(cycle)]


def is_sampled(cycle: SchedulingCycleView) -> bool:
    """Return whether the search may end before it reaches every node, or PreFilter left some out: worth a note first."""
    search = cycle.search
    stops = search is not None and not search.own_nomination and search.wanted < len(search.order)
    return stops or cycle.node_names is not None or not cycle.pre_filter_status.ok


def _pre_filter(cycle: SchedulingCycleView) -> list[Message]:
    if not cycle.pre_filter_status.ok:
        return [message(gettext_noop("PreFilter refuses the pod before Filter asks any node."))]
    if cycle.node_names is None:
        return []
    text = gettext_noop("PreFilterResult leaves %(left)s of %(nodes)s nodes; %(plugins)s excludes the others.")
    nodes = thousands(cycle.nodes.snapshot_rows)
    return [message(text, left=len(cycle.node_names), nodes=nodes, plugins=", ".join(cycle.narrowed_by))]


def _search(sim: WorldView, cycle: SchedulingCycleView, unseen: int) -> list[Message]:
    search = cycle.search
    if search is None or not len(search.order):
        return []
    if search.own_nomination:
        text = gettext_noop("Filter asks %(node)s first: the pod is nominated to it.")
        if cycle.hint:
            text = gettext_noop("Same pod as the one before: Filter asks %(node)s alone, the next node of its list.")
        return [message(text, node=cycle.nodes.names[int(search.order[0])])]
    if search.wanted >= len(search.order):
        return [_all(search)]
    return [_sample(search), _share(sim, len(search.order)), *_describe_progress(search, unseen)]


def _all(search: SearchView) -> Message:
    if len(search.order) < LEAST_NODES:
        text = gettext_noop("Filter examines every node, as there are fewer than 100; it starts at index %(start)s.")
    else:
        text = gettext_noop("Filter examines every node; it starts at index %(start)s.")
    return message(text, start=_start(search))


def _sample(search: SearchView) -> Message:
    text = gettext_noop(
        "Filter starts at index %(start)s, where the last search ended, and stops at %(wanted)s feasible nodes of %(nodes)s."
    )
    return message(text, start=_start(search), wanted=thousands(search.wanted), nodes=thousands(len(search.order)))


def _start(search: SearchView) -> str:
    return thousands(int((search.order < search.order[0]).sum()))


def _share(sim: WorldView, nodes: int) -> Message:
    own = framework_of(sim).percentage_of_nodes_to_score
    share = scheduler_of(sim).percentage_of_nodes_to_score if own is None else own
    if share:
        text = gettext_noop("percentageOfNodesToScore is %(share)s %%, and at least 100 nodes.")
        return message(text, share=share)
    text = gettext_noop(
        "percentageOfNodesToScore is 0, so it adapts: 50 − %(nodes)s ÷ 125 is %(share)s %%, and at least 100 nodes."
    )
    return message(text, nodes=nodes, share=max(50 - nodes // 125, LEAST_SHARE))


def _describe_progress(search: SearchView, unseen: int) -> list[Message]:
    if not search.seen:
        return []
    text = gettext_noop("Filter has looked at %(seen)s nodes; %(unseen)s nodes are not examined.")
    return [message(text, seen=thousands(len(search.order) - unseen), unseen=thousands(unseen))]


def _passes(cycle: SchedulingCycleView) -> list[Message]:
    if cycle.search is None or not cycle.search.nominated:
        return []
    text = gettext_noop(
        "Filter runs twice where pods of equal or higher priority are nominated: first with them, then without."
    )
    return [message(text)]

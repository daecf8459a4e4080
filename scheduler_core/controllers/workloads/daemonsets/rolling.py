"""The rolling update of a DaemonSet: old pods go first within maxUnavailable, or new ones come first within maxSurge.

kube: pkg/controller/daemon/update.go @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Sequence

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.apiserver.status import Refused, not_found
from scheduler_core.controllers.workloads.daemonsets.daemons import Daemons
from scheduler_core.controllers.workloads.daemonsets.manage import surge, unavailable

_WHY = "of an old revision"


def roll(daemons: Daemons) -> None:
    """One step. Refused."""
    wanted = [node.name for node in daemons.nodes if daemons.wanted_on(node)[0]]
    nodes = {**daemons.pods, **{name: [] for name in wanted if name not in daemons.pods}}
    extra = surge(daemons.owner, len(wanted))
    if extra == 0:
        most = unavailable(daemons.owner, len(wanted)) or (1 if wanted else 0)
        _old_first(daemons, nodes, most)
    else:
        _new_first(daemons, nodes, extra, len(wanted))


def _pair(daemons: Daemons, pods: Sequence[Pod]) -> tuple[Pod | None, Pod | None] | None:
    """The new and the old pod of a node; None: there are several of one kind."""
    staying = [pod for pod in pods if not pod.deleting]
    new = [pod for pod in staying if daemons.is_new(pod)]
    old = [pod for pod in staying if not daemons.is_new(pod)]
    if len(new) > 1 or len(old) > 1:
        return None
    return (new[0] if new else None), (old[0] if old else None)


def _old_first(daemons: Daemons, nodes: dict[str, list[Pod]], most: int) -> None:
    lacking = 0
    at_once: list[Pod] = []
    candidates: list[Pod] = []
    for name in sorted(nodes):
        pair = _pair(daemons, nodes[name])
        new, old = pair or (None, None)
        if old is not None and new is None:
            if daemons.is_available(old):
                candidates.append(old)
            else:
                at_once.append(old)
                lacking += 1
        elif new is None or old is not None or not daemons.is_available(new):
            lacking += 1
    room = max(0, most - lacking)
    gone = at_once + candidates[:room]
    daemons.change(gone, [], f"{_WHY}; at most {most} of {len(nodes)} nodes may lack one")


def _new_first(daemons: Daemons, nodes: dict[str, list[Pod]], most: int, wanted: int) -> None:
    surging = available = 0
    gone: list[Pod] = []
    leaving: list[Pod] = []  # available ones on nodes that are to have none any more
    at_once: list[str] = []
    candidates: list[str] = []
    for name in sorted(nodes):
        pair = _pair(daemons, nodes[name])
        if pair is None:
            surging += 1
            continue
        new, old = pair
        present = old or new
        available += present is not None and daemons.is_available(present)
        if old is None:
            continue
        if new is not None:
            if daemons.is_available(new):
                gone.append(old)
            else:
                surging += 1
        elif not _stays(daemons, name):
            (leaving if daemons.is_available(old) else gone).append(old)
        else:
            (candidates if daemons.is_available(old) else at_once).append(name)
    gone += leaving[: max(0, available - wanted)]
    lacking = at_once + candidates[: max(0, most - surging)]
    daemons.change(gone, lacking, f"{_WHY}, and a new one is there")


def _stays(daemons: Daemons, name: str) -> bool:
    """Return whether a node still needs a pod. Raise Refused if the node does not exist."""
    node = daemons.world.store.node(name)
    if node is None:
        raise Refused.because(not_found("nodes", name))
    return daemons.wanted_on(node)[0]

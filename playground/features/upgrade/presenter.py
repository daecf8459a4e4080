"""The effects of an upgrade as messages."""

from collections.abc import Iterator
from itertools import groupby

from playground.presenters.scene import short
from playground.presenters.words import Message, gettext_noop, message
from scheduler_core.analysis.upgrade import MovedPod, Upgrade

_NOTHING = gettext_noop("No pod's placement changes under kube %(target)s.")
_ELSEWHERE = gettext_noop("%(pod)s is placed on %(after)s instead of %(before)s.")
_WAITS = gettext_noop("%(pod)s waits instead of running on %(before)s.")
_FITS = gettext_noop("%(pod)s is placed on %(after)s instead of waiting.")
_STEP = gettext_noop("The runs diverge in attempt %(attempt)s, which starts at step %(at)s under kube %(target)s.")
_CAUSE = gettext_noop("The cause is %(cause)s. Without this difference, the placement of the pod does not change.")
_SEVERAL = gettext_noop("No single difference is the cause.")
_MORE = gettext_noop("The placement of %(number)s more pods changes. The cause is %(cause)s.")
_MORE_UNKNOWN = gettext_noop("The placement of %(number)s more pods changes. No single difference is the cause.")
_SAYS = gettext_noop("The message of %(pods)s changes. Before: %(before)s After: %(after)s")
_TEXT = gettext_noop("Change alerts for the text %(before)s: the text is now %(after)s (%(because)s).")
_NEW = gettext_noop("A new text may appear: %(after)s (%(because)s).")
_GONE = gettext_noop("Change alerts for the text %(before)s: it no longer appears (%(because)s).")
_ON = gettext_noop("Gates that turn on: %(gates)s.")
_OFF = gettext_noop("Gates that turn off or no longer exist: %(gates)s.")
_READ = gettext_noop("kube %(target)s reads %(field)s of %(kind)s (%(because)s): %(names)s.")
_CONFIGURATION = gettext_noop("Defaults of the configuration change: %(text)s.")
_CUT = gettext_noop("The search reached its time limit before it found all causes.")
NAMED = 5
MOST_MOVED = 20  # named pods with the same cause


def describe_upgrade(upgrade: Upgrade) -> Iterator[Message]:
    """Yield one sentence for each change by the upgrade, starting with the pods."""
    if not upgrade.moved:
        yield message(_NOTHING, target=upgrade.target)
    for moves, more in name_moves(upgrade):
        for each in moves:
            yield describe_move(each)
            if each.attempt:
                yield describe_step(each, upgrade)
            yield message(_CAUSE, cause=each.cause) if each.cause else message(_SEVERAL)
        yield from more
    if upgrade.cut:
        yield message(_CUT)
    for said in upgrade.messages:
        yield message(_SAYS, pods=_list(said.pods), before=said.before or "-", after=said.after or "-")
    for watched in upgrade.texts:
        values = {"before": repr(watched.before), "after": repr(watched.after), "because": watched.because}
        yield message(_NEW if not watched.before else _GONE if not watched.after else _TEXT, **values)
    for read in upgrade.objects:
        values = {"field": read.field, "kind": read.kind, "because": read.because, "names": _list(read.names)}
        yield message(_READ, target=upgrade.target, **values)
    for text, gates in (
        (_ON, [each.gate for each in upgrade.gates if each.after]),
        (_OFF, [each.gate for each in upgrade.gates if not each.after]),
    ):
        if gates:
            yield message(text, gates=", ".join(gates))
    for line in upgrade.configuration:
        yield message(_CONFIGURATION, text=line)


def name_moves(upgrade: Upgrade) -> Iterator[tuple[tuple[MovedPod, ...], tuple[Message, ...]]]:
    """Yield, for each cause, the moves to name, and a sentence about the others. A few moves are in the order of their pods."""
    if len(upgrade.moved) <= MOST_MOVED:
        yield upgrade.moved, ()
        return
    # Pods that become pending or stop being pending are first: they are few and matter most.
    ordered = sorted(upgrade.moved, key=lambda each: (each.cause, bool(each.before and each.after), bool(each.after)))
    for cause, moves in groupby(ordered, lambda each: each.cause):
        first = tuple(moves)
        more = len(first) - MOST_MOVED
        text = message(_MORE if cause else _MORE_UNKNOWN, number=f"{more:,}", cause=cause)
        yield first[:MOST_MOVED], (text,) if more > 0 else ()


def describe_move(moved: MovedPod) -> Message:
    """Describe the node of a pod at the end, before and after the upgrade."""
    text = _WAITS if not moved.after else _FITS if not moved.before else _ELSEWHERE
    return message(text, pod=short(moved.pod), before=moved.before, after=moved.after)


def describe_step(moved: MovedPod, upgrade: Upgrade) -> Message:
    """Describe the attempt in which the new release first treats a pod differently."""
    return message(_STEP, attempt=f"{moved.attempt:,}", at=f"{moved.position:,}", target=upgrade.target)


def _list(names: tuple[str, ...]) -> str:
    more = len(names) - NAMED
    return ", ".join(map(short, names[:NAMED])) + (f" (+{more})" if more > 0 else "")

"""What is said of runs, searches and errors, in sentences for people, in the language of who reads them."""

from collections.abc import Sequence

from django.utils.translation import gettext as _

from playground.presenters.words import format_message
from playground.sessions.protocol.breakpoints import Breakpoint, Hit
from playground.sessions.protocol.moving import Moved
from playground.sessions.protocol.until import CardReached, SearchProgress, StepReached, Until, to_breakpoints


def describe_hit(hit: Hit) -> str:
    """Return the text for a breakpoint that held: where, and with which value."""
    values = {"title": hit.title, "position": f"{hit.position:,}", "record": hit.record}
    if hit.value is not None and hit.value is not True:
        return _("“%(title)s” became %(value)s at step %(position)s: %(record)s") % {
            **values,
            "value": str(hit.value)[:80],
        }
    return _("“%(title)s” was hit at step %(position)s: %(record)s") % values


def never_held(points: Sequence[Breakpoint], progress: SearchProgress, spent: bool, back: bool) -> str:
    """Return the text for a search without a hit: how far it went, and other possible causes."""
    if spent:
        text = _("The search reached its limit. Not found in %(scanned)s steps: %(waited)s.")
    elif back:
        text = _("Not found in the %(scanned)s steps before this one: %(waited)s.")
    else:
        text = _("Not found in the %(scanned)s steps up to the newest one: %(waited)s.")
    said = text % {"scanned": f"{progress.scanned:,}", "waited": format_message(to_breakpoints(points).said(), _)}
    return " ".join([said, *progress.failures[:2]])


def why_ended(moved: Moved, until: Until | None, steps: int) -> str:
    """Return the text why a run ended after `steps` steps; "" if it ended as requested."""
    doing = format_message(moved.doing, _) if moved.doing else ""
    if moved.reason == "runaway":
        return doing
    waited = format_message(until.said(), _) if until else ""
    if moved.reason == "budget":
        text = _("The run stopped after %(steps)s steps, the limit of one run on this server. Run again to continue.")
        unmet = _("The condition of the run never held: %(until)s.") % {"until": waited} if until else ""
        return " ".join(filter(None, [text % {"steps": f"{steps:,}"}, unmet, doing]))
    if until is None:
        return ""
    if moved.reason == "idle" and isinstance(until, CardReached):
        return _("Nothing more happens until you do the task on the card.")
    if moved.reason == "idle":
        text = _("The simulation has nothing more to do, and the condition of the run never held: %(until)s.")
        return text % {"until": waited}
    if moved.hit is not None:
        return describe_hit(moved.hit)
    if isinstance(until, StepReached | CardReached):  # the step's number stands in the bar, the card in its panel
        return ""
    return _("The run stopped: %(until)s.") % {"until": waited}

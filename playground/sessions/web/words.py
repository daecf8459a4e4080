"""What is said of runs, searches and errors, in sentences for people, in the language of who reads them."""

from __future__ import annotations

from collections.abc import Sequence

from django.utils.translation import gettext as _

from playground.presenters.words import format_message
from playground.sessions.protocol.breakpoints import Breakpoint, Hit
from playground.sessions.protocol.finding import SearchProgress
from playground.sessions.protocol.moving import Moved
from playground.sessions.protocol.until import CardReached, StepReached, Until, to_breakpoints


def describe_hit(hit: Hit) -> str:
    """Return the text for a breakpoint that held: where, and with which value."""
    values = {"title": hit.title, "position": f"{hit.position:,}", "record": hit.record}
    if hit.value is not None and hit.value is not True:
        return _("“%(title)s” became %(value)s at step %(position)s: %(record)s") % {
            **values,
            "value": str(hit.value)[:80],
        }
    return _("“%(title)s” held at step %(position)s: %(record)s") % values


def never_held(points: Sequence[Breakpoint], progress: SearchProgress, spent: bool, back: bool) -> str:
    """Return the text for a search without a hit: how far it went, and other possible causes."""
    if spent:
        text = _("Stopped at the search's limit. Not found in %(scanned)s steps: %(waited)s.")
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
        text = _(
            "The run stopped after %(steps)s steps, the most that one run makes on this server. Run again to go on from here."
        )
        unmet = _("It waited for this, which did not happen: %(until)s.") % {"until": waited} if until else ""
        return " ".join(filter(None, [text % {"steps": f"{steps:,}"}, unmet, doing]))
    if until is None:
        return ""
    if moved.reason == "idle" and isinstance(until, CardReached):
        return _("Nothing is left to do here. The lesson goes on once you do what its card offers.")
    if moved.reason == "idle":
        text = _("Nothing is left to do, and what the run waited for did not happen: %(until)s.")
        return text % {"until": waited}
    if moved.hit is not None:
        return describe_hit(moved.hit)
    if isinstance(until, StepReached | CardReached):  # the step's number stands in the bar, the card in its panel
        return ""
    return _("The run stopped where %(until)s.") % {"until": waited}

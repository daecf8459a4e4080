"""Terms that people meet on the page, each in a sentence or two, with the sections that describe it. The page `/terms` lists them all."""

from __future__ import annotations

from playground.presenters.terms.binding import BINDING
from playground.presenters.terms.controllers import CONTROLLERS
from playground.presenters.terms.plugins import PLUGINS
from playground.presenters.terms.points import POINTS
from playground.presenters.terms.preemption import PREEMPTION
from playground.presenters.terms.queues import QUEUES
from playground.presenters.terms.scores import SCORES
from playground.presenters.terms.term import Source, Term
from playground.presenters.words import gettext_noop

GROUPS: tuple[tuple[str, dict[str, Term]], ...] = (
    (gettext_noop("Extension points"), POINTS),
    (gettext_noop("Plugins"), PLUGINS),
    (gettext_noop("Queue"), QUEUES),
    (gettext_noop("Filter and preemption"), PREEMPTION),
    (gettext_noop("Scores"), SCORES),
    (gettext_noop("Binding"), BINDING),
    (gettext_noop("Controllers"), CONTROLLERS),
)
TERMS: dict[str, Term] = {name: term for _title, terms in GROUPS for name, term in terms.items()}

__all__ = ["GROUPS", "TERMS", "Source", "Term"]

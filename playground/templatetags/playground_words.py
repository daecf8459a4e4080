"""Words for the effects of an import, and for errors."""

import re
from typing import Protocol

from django import template
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from playground.presenters.problems import Problem, expectation, problem, reception
from playground.presenters.sentences.lines import describe_migration
from playground.presenters.words import Message, format_message

register = template.Library()
register.filter("describe_migration", describe_migration)
_ACTIONS = {
    "created": _("created"),
    "changed": _("changed"),
    "unchanged": _("unchanged"),
    "ignored": _("ignored"),
    "refused": _("refused"),
}
# How a field of an older configuration fares in v1 (scheduler_core's Change), with the tone of its tag.
_CHANGES = {
    "moved": (_("changed"), "changed"),
    "kept": (_("written out"), "created"),
    "dropped": (_("dropped"), ""),
    "lost": (_("lost"), "refused"),
}


class Wrong(Protocol):
    """An error with its message (sessions/protocol/errors.py)."""

    said: Message | None
    message: str


@register.filter
def error_words(error: Wrong) -> str:
    """Return an error's message in the reader's language."""
    return format_message(error.said, gettext) if error.said else error.message


@register.filter
def problem_words(error: Problem) -> str:
    """Return all errors of a field in the reader's language. Its place in a text is shown separately."""
    return re.sub(r"\(line \d+, column \d+: ", "(", format_message(problem(error), gettext))


@register.filter
def expected_words(text: str) -> str:
    """Return a field's expected value in words, in the reader's language."""
    return format_message(expectation(text), gettext)


@register.filter
def received_words(text: str) -> str:
    """Return a field's received value; words about it are in the reader's language."""
    return format_message(reception(text), gettext)


def in_words(error: Problem) -> dict[str, str]:
    """Return the received and the expected value, each in the reader's language."""
    return {"received": received_words(error.received), "expected": expected_words(error.expected)}


@register.filter
def change_word(kind: str) -> str:
    """Return the kind of a change from the migration to v1, in the reader's language."""
    return str(_CHANGES[kind][0])


@register.filter
def change_tone(kind: str) -> str:
    """The class of its tag."""
    return _CHANGES[kind][1]


@register.filter
def action_word(action: str) -> str:
    """An action of the import's preview, in the reader's language."""
    return str(_ACTIONS.get(action, action))

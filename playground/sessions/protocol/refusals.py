"""The core's refusals as errors for people."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from playground.presenters.problems import problem as in_words
from playground.presenters.words import Message, gettext_noop, message
from playground.sessions.protocol.errors import CommandRefused, FieldProblem, ServerAnswer
from scheduler_core.world.commands import Command, Refused, command_from_json
from scheduler_core.world.readonly import FieldError

MOST_ERRORS = 200
_FIELDS = "Invalid"  # kube's reason where an object's fields are wrong


def problem(error: FieldError) -> FieldProblem:
    """A field's error as it travels."""
    return FieldProblem(**error.to_json())


def parse_command(data: object) -> Command:
    """The command that some JSON data is. Raises CommandRefused with the field at fault."""
    try:
        return command_from_json(data)
    except Refused as error:
        raise build_command_refusal(error) from None


def build_command_refusal(error: Refused) -> CommandRefused:
    """Return the refusal of a command, with the API server's answer if it says more than the fields' errors."""
    reported, answer = refusal(error.errors), error.answer
    if answer.reason != _FIELDS:
        reported.answer = ServerAnswer(answer.code, answer.reason, answer.message, list(answer.causes))
    return reported


def refusal(errors: Iterable[FieldError]) -> CommandRefused:
    """Field errors as they are reported; the message is the first one."""
    listed = list(errors)
    return CommandRefused(summarize_errors(listed), [problem(error) for error in listed[:MOST_ERRORS]])


def summarize_errors(errors: Sequence[FieldError]) -> Message:
    """The first of some errors, with where it is, and how many more there are."""
    said, first = in_words(problem(errors[0])), errors[0]
    for where in filter(None, (first.object, first.file)):
        said = message(gettext_noop("%(where)s: %(said)s"), where=where, said=said)
    if len(errors) > 1:
        said = message(gettext_noop("%(said)s (and %(n)s more)"), said=said, n=len(errors) - 1)
    return said

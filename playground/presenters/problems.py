"""What is wrong with a field, as a message: what was received, what was expected. kube's own words stay as they are."""

from __future__ import annotations

import re
from functools import cache
from typing import Protocol

from playground.presenters.words import Message, exactly, gettext_noop, message

# The playground's own words about fields, as the engine says them: what was expected, what was received, and whole sentences.

WHOLE_NUMBER = gettext_noop("a whole number of at most 64 bits")
WHOLE_TEXT = gettext_noop("a text without half of a surrogate pair")
EXPECTED = (
    WHOLE_NUMBER,
    WHOLE_TEXT,
    gettext_noop("null"),
    gettext_noop("a boolean"),
    gettext_noop("a number"),
    gettext_noop("a whole number"),
    gettext_noop("a string"),
    gettext_noop("a string that is not empty"),
    gettext_noop("a list"),
    gettext_noop("a value"),
    gettext_noop("an object"),
    gettext_noop("an object with apiVersion and kind"),
    gettext_noop("an object whose keys are strings"),
    gettext_noop("an entry of the list"),
    gettext_noop("an integer"),
    gettext_noop("a bool"),
    gettext_noop("true or false"),
    gettext_noop("whole number"),
    gettext_noop("a shorter text"),
    gettext_noop("a text without the character 0"),
    gettext_noop("namespace/name, optionally with a trailing *"),
    gettext_noop("at least one field, or an expression"),
    gettext_noop("an expression whose value can change"),
    gettext_noop("a plugin that this API server has"),
    gettext_noop("names of kube-apiserver's admission plugins"),
    gettext_noop("a status code, a latency, or both"),
    gettext_noop("a status code, because message or after_write is set"),
    gettext_noop("a duration above 0, such as 50s or 1m30s"),
    gettext_noop("a duration of 0 or more"),
    gettext_noop("a duration such as 5s"),
    gettext_noop("a duration such as 60s"),
    gettext_noop("a duration such as 30s or 1m30s"),
    gettext_noop('{"at": a duration, "is": true or false}'),
    gettext_noop("labels such as app=web,tier=db"),
    gettext_noop("a label selector"),
    gettext_noop("one of pod, podLabel and node"),
    gettext_noop("the name of a node, because disks and pidMax belong to a node"),
    gettext_noop("a pod, because rootfs, logs and volumes belong to a pod"),
    gettext_noop("a number for a pod, {total, used} for a node"),
    gettext_noop("a quantity of 0 or more, such as 500Mi"),
    gettext_noop("a time such as 60s"),
    gettext_noop("a time such as 2026-01-31T12:00:00Z"),
    gettext_noop("a running scheduler for the try"),
    gettext_noop("a node that is being drained"),
    gettext_noop("the name of a node"),
    gettext_noop("the namespace/name of a ResourceClaim"),
    gettext_noop("the driver/pool/device of a device that is allocated to the claim"),
    gettext_noop("a pod that waits on Permit"),
    gettext_noop("a pod that exists at this step"),
    gettext_noop("the command DefinePlugin"),
    gettext_noop("namespace/name of a pod that exists"),
    gettext_noop("an edit to undo, but there is none"),
    gettext_noop("an undone edit, but there is none"),
    gettext_noop("a call in progress"),
    gettext_noop("a custom plugin, but none has this name"),
    gettext_noop("a name that no other plugin has"),
    gettext_noop("an expression for at least one extension point"),
    gettext_noop("a name that no running scheduler has"),
    gettext_noop("SIGKILL, because this scheduler already received SIGTERM"),
    gettext_noop("a running scheduler, but there is none"),
    gettext_noop("%(expected)s, or null"),
    gettext_noop("at most %(most)s characters"),
    gettext_noop("at most %(most)s custom plugins"),
    gettext_noop("at most %(most)s"),
    gettext_noop("the other value: the kubelet of %(node)s already runs"),
    gettext_noop("the other value: the kubelet of %(node)s is already stopped"),
    gettext_noop("the other value: %(name)s is already connected"),
    gettext_noop("the other value: %(name)s is already partitioned"),
    gettext_noop("a pod without a node, but this one is on %(node)s"),
    gettext_noop("a name that %(other)s does not have"),
    gettext_noop("1 or more, because no fault is injected into the %(call)s calls of %(pod)s"),
    gettext_noop("a plugin that no profile uses, but a profile of %(scheduler)s does"),
    gettext_noop("an expression that compiles. Line %(line)s, column %(column)s: %(why)s"),
    gettext_noop("fields of a single kind of record (%(having)s)"),
    gettext_noop("one of at most %(most)s servers"),
    gettext_noop("one of %(names)s"),
)
RECEIVED = (
    gettext_noop("nothing"),
    gettext_noop("a value"),
    gettext_noop("no time, or no value"),
    gettext_noop("of another type"),
    gettext_noop("%(n)s characters"),
    gettext_noop("%(n)s entries"),
    gettext_noop("%(n)s rules"),
)
SENTENCES = (
    gettext_noop("the text contains a NUL character"),
    gettext_noop("the text contains half of a surrogate pair"),
    gettext_noop("the text (it contains half of a surrogate pair; send it as UTF-8)"),
    gettext_noop("the text nests deeper than %(limit)s levels"),
    gettext_noop("not readable as JSON (%(why)s)"),
    gettext_noop("not readable as YAML (%(why)s)"),
    gettext_noop("%(n)s more errors are not shown"),
    gettext_noop("%(size)s bytes (the limit is %(most)s)"),
    gettext_noop("more than %(n)s objects (the limit is %(most)s)"),
    gettext_noop(
        "more than %(n)s documents of JSON and YAML in one text, or too many lines between them (use one of "
        "the two formats, or several files)"
    ),
    gettext_noop('unknown field "%(name)s" expected one of %(names)s'),
    gettext_noop("%(value)s expected an integer from %(low)s to %(high)s"),
    gettext_noop("%(value)s is not a time. Write it as 2026-01-31T12:00:00Z"),
    gettext_noop("%(value)s is not a quantity. Write it as 500m or 2"),
    gettext_noop("%(value)s is a key that is not a string"),
    gettext_noop("%(value)s does not fit into %(bits)s bits"),
    gettext_noop("%(value)s is %(type)s, expected %(expected)s"),
)

_AT = gettext_noop("%(path)s: %(said)s")
_IN_WORDS = ("expected", "type")  # values that are words themselves


class Problem(Protocol):
    """A field's problem, as the engine reports it."""

    @property
    def path(self) -> str: ...
    @property
    def received(self) -> str: ...
    @property
    def expected(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def text(self) -> str: ...


def expectation(text: str) -> Message:
    """Return the message for an expected value."""
    return _match_text(EXPECTED, text) or exactly(text)


def reception(text: str) -> Message:
    """Return the message for a received value, or the value itself."""
    return _match_text(RECEIVED, text) or exactly(text)


def problem(error: Problem) -> Message:
    """All that an error says, with its field's path."""
    said = None if error.kind else _translate_error(error)
    if said is None:
        return exactly(error.text)
    return message(_AT, path=error.path, said=said) if error.path else said


def _translate_error(error: Problem) -> Message | None:
    """An error without its path, where the words are the playground's."""
    whole = " ".join(filter(None, [error.received, error.expected]))
    if (found := _match_text(SENTENCES, whole)) is not None:
        return found
    expected = _match_text(EXPECTED, error.expected)
    if expected is None or not error.received:
        return expected
    text = gettext_noop("%(received)s %(expected)s")
    return message(text, received=reception(error.received), expected=expected)


def _match_text(texts: tuple[str, ...], said: str) -> Message | None:
    """The text that a finished one was made from, and the values put into it."""
    if said in texts:
        return message(said)
    for text in texts:
        match = _pattern(text).fullmatch(said)
        if match is not None and match.groupdict():
            values = {
                name: _match_text(EXPECTED, value) or value if name in _IN_WORDS else value
                for name, value in match.groupdict().items()
            }
            return message(text, **values)
    return None


@cache
def _pattern(text: str) -> re.Pattern[str]:
    """Return the pattern that a text matches after its values are filled in."""
    parts = re.split(r"%\((\w+)\)s", text)
    named = (f"(?P<{part}>.+?)" if i % 2 else re.escape(part) for i, part in enumerate(parts))
    return re.compile("".join(named), re.DOTALL)

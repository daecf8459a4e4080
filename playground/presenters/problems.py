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
    gettext_noop("namespace/name, with a * at its end at most"),
    gettext_noop("at least one field, or an expression"),
    gettext_noop("an expression whose value can change"),
    gettext_noop("a plugin that this API server has"),
    gettext_noop("names of kube-apiserver's admission plugins"),
    gettext_noop("a status code, a latency or both"),
    gettext_noop("a status code, as there is a message or after_write"),
    gettext_noop("a duration above 0, such as 50s or 1m30s"),
    gettext_noop("a duration that is not below 0"),
    gettext_noop("a duration such as 5s"),
    gettext_noop("a duration such as 60s"),
    gettext_noop("a duration such as 30s or 1m30s"),
    gettext_noop('{"at": a duration, "is": true or false}'),
    gettext_noop("labels such as app=web,tier=db"),
    gettext_noop("a label selector"),
    gettext_noop("one of pod, podLabel and node"),
    gettext_noop("the name of a node, as disks and pidMax are a node's"),
    gettext_noop("a pod, as rootfs, logs and volumes are a pod's"),
    gettext_noop("a number of a pod, {total, used} of a node"),
    gettext_noop("a quantity such as 500Mi, not below 0"),
    gettext_noop("a time such as 60s"),
    gettext_noop("a scheduler that runs, to try it with"),
    gettext_noop("a node that is being drained"),
    gettext_noop("the name of a node"),
    gettext_noop("the namespace/name of a ResourceClaim"),
    gettext_noop("the driver/pool/device of a device that is allocated to the claim"),
    gettext_noop("a pod that waits on Permit"),
    gettext_noop("a pod that is there at this step"),
    gettext_noop("the command DefinePlugin for it"),
    gettext_noop("namespace/name of a pod that exists"),
    gettext_noop("an edit that can be undone; there is none"),
    gettext_noop("an edit that was undone; there is none"),
    gettext_noop("a call that is waited for"),
    gettext_noop("a plugin of one's own; there is none of this name"),
    gettext_noop("a name that no other plugin has"),
    gettext_noop("an expression at one extension point at least"),
    gettext_noop("a name that no running scheduler has"),
    gettext_noop("SIGKILL; this one has been told to end already"),
    gettext_noop("one of none: no scheduler runs"),
    gettext_noop("%(expected)s, or null"),
    gettext_noop("at most %(most)s characters"),
    gettext_noop("at most %(most)s plugins of one's own"),
    gettext_noop("at most %(most)s"),
    gettext_noop("the other: the kubelet of %(node)s runs already"),
    gettext_noop("the other: the kubelet of %(node)s does not run already"),
    gettext_noop("the other: %(name)s is not cut off already"),
    gettext_noop("the other: %(name)s is cut off already"),
    gettext_noop("a pod that is still to be bound; this one is on %(node)s"),
    gettext_noop("a name that %(other)s does not have"),
    gettext_noop("1 or more; nothing was asked for the call %(call)s of %(pod)s"),
    gettext_noop("a plugin that no profile names; one of %(scheduler)s does"),
    gettext_noop("an expression that compiles; line %(line)s, column %(column)s: %(why)s"),
    gettext_noop("fields that one kind of record has together (%(having)s)"),
    gettext_noop("one of at most %(most)s servers"),
    gettext_noop("one of %(names)s"),
)
RECEIVED = (
    gettext_noop("nothing"),
    gettext_noop("a value"),
    gettext_noop("no time, or no value"),
    gettext_noop("of the other kind"),
    gettext_noop("%(n)s characters"),
    gettext_noop("%(n)s entries"),
    gettext_noop("%(n)s rules"),
)
SENTENCES = (
    gettext_noop("the text holds a NUL character"),
    gettext_noop("the text holds half of a surrogate pair"),
    gettext_noop("the text (holds half of a surrogate pair; send it as UTF-8)"),
    gettext_noop("the text nests deeper than %(limit)s levels"),
    gettext_noop("not readable as JSON (%(why)s)"),
    gettext_noop("not readable as YAML (%(why)s)"),
    gettext_noop("%(n)s more errors are not shown"),
    gettext_noop("%(size)s bytes (at most %(most)s are read at once)"),
    gettext_noop("more than %(n)s objects (at most %(most)s are read at once)"),
    gettext_noop(
        "more than %(n)s documents of JSON and YAML in one text, or too many lines between them "
        "(write all of them in one of the two, or in several files)"
    ),
    gettext_noop('unknown field "%(name)s" expected one of %(names)s'),
    gettext_noop("%(value)s expected an integer from %(low)s to %(high)s"),
    gettext_noop("%(value)s is not a time; write it as 2026-01-31T12:00:00Z"),
    gettext_noop("%(value)s is not a quantity; write it as 500m or 2"),
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

"""kube's refusals in plain words. The exact text always stands first; this is what follows it."""

import re
from pathlib import Path

from playground.common.catalogs import read_yaml
from playground.presenters.words import Message, gettext_noop, message

# Whole texts, and patterns of texts about devices and claims.
WORDS = Path(__file__).with_suffix(".yaml")
_FREE = gettext_noop("The node has less free %(resource)s than the pod requests.")
_TAINT = gettext_noop("The node has the taint %(taint)s, which the pod does not tolerate.")
_GATE = gettext_noop("The pod has a scheduling gate. It enters the queue once the gate is removed.")


def in_plain_words(reason: str) -> Message | None:
    """Explain one of kube's reasons; None if its own text is plain enough."""
    words = read_yaml(WORDS)
    if reason in words["exact"]:
        return message(words["exact"][reason])
    if reason.startswith("Insufficient "):
        return message(_FREE, resource=reason.removeprefix("Insufficient "))
    head, _, taint = reason.partition("untolerated taint ")
    if taint and head == "node(s) had ":
        return message(_TAINT, taint=taint)
    if "scheduling gates" in reason:
        return message(_GATE)
    shapes = ((re.fullmatch(shape, reason), text) for shape, text in words["shapes"].items())
    return next((message(text, **found.groupdict()) for found, text in shapes if found), None)

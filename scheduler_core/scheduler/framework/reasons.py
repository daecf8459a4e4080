"""Reasons: a plugin's possible reasons against a pod, each with a stable code (docs/explain.md).

A Reason both formats kube's text and parses it, so that the code is known from the text alone, even in a trace.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

_HOLE = re.compile(r"<(\w+)>")
REFUSED = "Refused"  # the code of a reason that its plugin does not name
ERROR = "Error"  # of an internal error with any text
LEFT_OUT = "LeftOut"  # of a node outside PreFilter's result


@dataclass(frozen=True)
class Reason:
    """`text` is kube's, with variable parts as <name>. `waits_for_claim`: the pod waits for a claim, independent of the nodes."""

    code: str
    text: str
    waits_for_claim: bool = False

    def __call__(self, **values: object) -> str:
        """Return the text with its values."""
        return _HOLE.sub(lambda hole: str(values[hole[1]]), self.text)

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        pieces = _HOLE.split(self.text)
        texts = [re.escape(piece) if i % 2 == 0 else f"(?P<{piece}>.*)" for i, piece in enumerate(pieces)]
        return re.compile("".join(texts), re.DOTALL)

    def read(self, text: str) -> Mapping[str, str] | None:
        """Return the values in a text, or None if the text has another reason."""
        found = self._pattern.fullmatch(text)
        return None if found is None else found.groupdict()


@dataclass(frozen=True, slots=True)
class RefusalReason:
    """A reason in a status: its code, and the values in its text."""

    code: str
    values: Mapping[str, str]
    waits_for_claim: bool = False


def read_reason(reasons: Iterable[Reason], text: str) -> RefusalReason:
    """Return the first of a plugin's reasons that matches a text."""
    for reason in reasons:
        values = reason.read(text)
        if values is not None:
            return RefusalReason(reason.code, values, reason.waits_for_claim)
    return RefusalReason(REFUSED, {})

"""Reasons: what a plugin can say against a pod, each with a code of its own that never changes (docs/explain.md).

A Reason both writes kube's text and reads it again, so that the code of a status is known wherever its text is: in a trace, too.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

_HOLE = re.compile(r"<(\w+)>")
REFUSED = "Refused"  # the code of a reason that its plugin does not name
ERROR = "Error"  # of an internal error, whatever its text
LEFT_OUT = "LeftOut"  # of a node that is not among those that PreFilter left


@dataclass(frozen=True)
class Reason:
    """`text` is kube's; what varies in it stands as <name>. `waits_for_claim`: the pod waits for a claim, whatever nodes there are."""

    code: str
    text: str
    waits_for_claim: bool = False

    def __call__(self, **values: object) -> str:
        """The text with its values."""
        return _HOLE.sub(lambda hole: str(values[hole[1]]), self.text)

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        pieces = _HOLE.split(self.text)
        texts = [re.escape(piece) if i % 2 == 0 else f"(?P<{piece}>.*)" for i, piece in enumerate(pieces)]
        return re.compile("".join(texts), re.DOTALL)

    def read(self, text: str) -> Mapping[str, str] | None:
        """The values in a text; None where it is another reason's."""
        found = self._pattern.fullmatch(text)
        return None if found is None else found.groupdict()


@dataclass(frozen=True, slots=True)
class RefusalReason:
    """A reason as it was said: its code, and the values in its text."""

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

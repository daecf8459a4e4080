"""The results of a row: how much was tried, how long it took, and what should not have happened."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from http.client import HTTPException, HTTPMessage
from typing import Any

from tests.faults.visitor import Answer

# Answers of a server that is busy or full: they say so in words and when to come again.
EXPECTED = (503, 507)
# Markup of the hostile values that came out as it went in.
RAW = re.compile(r"<script>alert|<img src=x|href=\"javascript:")


@dataclass
class Tally:
    """A row of the table."""

    what: str
    tried: int = 0
    slowest: float = 0.0
    statuses: dict[int, int] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)

    def take(self, label: str, ask: Callable[..., Answer], *asked: Any, **headers: str) -> Answer:
        """Ask, and count the answer; none at all, or a 5xx that is not expected, is a fault."""
        self.tried += 1
        try:
            answer = ask(*asked, **headers)
        except (OSError, HTTPException) as error:
            self.demand(False, f"{label}: {type(error).__name__}: {error}")
            return Answer(0, "", HTTPMessage(), "")
        self.slowest = max(self.slowest, answer.seconds)
        self.statuses[answer.status] = self.statuses.get(answer.status, 0) + 1
        if answer.status >= 500:
            self.demand(answer.status in EXPECTED and "Retry-After" in answer.headers, f"{label}: {answer.status}")
        is_page = "html" in answer.headers.get("Content-Type", "")
        self.demand(not (is_page and RAW.search(answer.text)), f"{label}: raw markup")
        self.demand("stolen" not in (answer.headers.get("Set-Cookie") or ""), f"{label}: a header was split")
        return answer

    def demand(self, holds: object, fault: str) -> None:
        """Count what does not hold as a fault."""
        if not holds:
            self.faults.append(fault[:800])

    @property
    def numbers(self) -> str:
        """The answers by status, and the longest wait."""
        answers = ", ".join(f"{count} x {status}" for status, count in sorted(self.statuses.items()))
        return f"{self.tried:,} ({answers}), slowest {self.slowest:.1f} s" if answers else f"{self.tried:,}"

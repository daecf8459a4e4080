"""A whole as a bar: what each takes of it, one after the other, and what is left."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypedDict

WIDTH = 100.0


class BarPart(TypedDict):
    x: float
    width: float
    owner: str
    amount: str


class Bar(TypedDict):
    name: str
    used: str
    total: str
    parts: list[BarPart]
    full: bool


def bar(name: str, total: int, parts: Sequence[tuple[str, int]], text: Callable[[int], str]) -> Bar:
    """`parts` are who takes how much. More than there is is drawn as a full bar."""
    used = sum(amount for _, amount in parts)
    whole = max(total, used, 1)
    drawn: list[BarPart] = []
    x = 0.0
    for owner, amount in parts:
        width = WIDTH * amount / whole
        if width > 0:
            drawn.append({"x": round(x, 2), "width": round(width, 2), "owner": owner, "amount": text(amount)})
        x += width
    return {"name": name, "used": text(used), "total": text(total), "parts": drawn, "full": used >= total > 0}

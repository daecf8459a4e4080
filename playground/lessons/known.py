"""Facts in time: what a learner can read from the screen at a card, and what is still ahead."""

from __future__ import annotations

from collections.abc import Mapping

from playground.lessons.evidence import STAGES
from playground.lessons.facts import BadFact, Fact, Seen, Value, attempt_of, value_of
from playground.lessons.named import key_of

DECIDING = {
    "filter": "Filter",
    "preemption": "PostFilter",
    "score": "Reserve",
}  # a fact of that stage is known after it


def is_known(fact: Fact, value: Value, card: str, seen: Seen, positions: Mapping[str, int]) -> bool:
    """Return whether a fact has its value already by what has been seen at a card."""
    here, ids = positions[card], list(positions)
    earlier = {name: seen.at[name] for name in ids[: ids.index(card) + 1]}
    word = next((word for word in fact if word in STAGES), next(iter(fact)))
    if word in ("woken_by", "hint_of"):
        return any(value in move.why for move in seen.at[card].journal.lane(key_of(fact[word])))
    try:
        return value_of(fact, Seen(seen.at[card], earlier, points=seen.points), ids[0]) == value
    except BadFact:
        if word not in STAGES or fact.get("card", card) not in earlier:
            return False
    if word in ("points", "total_of"):
        stage = fact.get("stage", "normalized" if word == "points" else "weighted")
        points = seen.board.get(card, {}).get(stage, {}).get(fact["node"], {})
        return points.get(fact.get("plugin", "total")) == value
    attempt, point = attempt_of(fact[word], fact, seen), DECIDING[STAGES[word]]
    at = [ran.position for ran in seen.ran if ran.pod == attempt.pod and ran.point == point]
    begun = any(attempt.first_position <= each <= here for each in at)
    return begun and not any(here < each <= attempt.last_position for each in at)

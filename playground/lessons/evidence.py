"""The places in the engine's record that answer a question, and the reasons against the wrong answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from playground.lessons.facts import BadFact, Fact, LessonObservations, Points, Value, attempt_of, value_of
from playground.lessons.named import key_of
from scheduler_core.world.readonly import Attempt, SchedulingCycleView

# Of facts about an attempt: the stage that shows them.
_OF_STAGES = {
    "score": ("node_of", "points", "total_of", "tied_for"),
    "filter": (
        "outcome_of",
        "scheduled",
        "feasible_for",
        "evaluated_for",
        "plugins_against",
        "refused_for",
        "message_of",
    ),
    "preemption": ("nominated_for", "victims_of", "preempts"),
}
STAGES = {word: stage for stage, words in _OF_STAGES.items() for word in words}


@dataclass(frozen=True)
class Evidence:
    """The end of a pod's attempt (number `attempt`, from 1) with its step and stage. `said`: the rejection or score by node."""

    pod: str
    attempt: int
    position: int
    stage: str
    said: Mapping[str, str] = field(default_factory=dict)


def evidence_of(fact: Fact, seen: LessonObservations) -> Evidence | None:
    """Return the evidence from which a fact was read, if that is an attempt; else None."""
    word = next((word for word in fact if word in STAGES), None)
    if word is None:
        return None
    attempt = attempt_of(fact[word], fact, seen)
    scored = seen.points.get(attempt.number, {})
    said = {**_totals(scored), **seen.refused.get(attempt.number, {})}
    stage = STAGES[word] if STAGES[word] != "score" or scored else "filter"
    return Evidence(key_of(fact[word]), int(fact.get("attempt", 1)), attempt.last_position, stage, said)


def is_drawn(said: Mapping[str, str]) -> bool:
    """Return True if several nodes have the highest total, so that a draw decides among them."""
    totals = [float(text) for text in said.values() if text.isdecimal()]
    return totals.count(max(totals, default=0)) > 1


def refusals(cycle: SchedulingCycleView) -> dict[str, str]:
    """Return, for each refused node, the plugin and kube's message."""
    found = {}
    for row, name in enumerate(cycle.nodes.names):
        status = cycle.status_of(row)
        if status is not None and not status.ok:
            found[name] = f"{status.plugin}: {status.message}" if status.plugin else status.message
    return found


def _totals(points: Points) -> dict[str, str]:
    return {
        node: f"{by_plugin['total']:g}"
        for node, by_plugin in points.get("weighted", {}).items()
        if "total" in by_plugin
    }


def nth_attempt(attempts: Sequence[Attempt], pod: str, number: int) -> Attempt | None:
    """A pod's attempt by its place among the pod's own, from 1."""
    own = [each for each in attempts if each.pod == pod]
    return own[number - 1] if 1 <= number <= len(own) else None


# Facts in time: what a learner can read from the screen at a card, and what is still ahead.

DECIDING = {
    "filter": "Filter",
    "preemption": "PostFilter",
    "score": "Reserve",
}  # a fact of that stage is known after it


def is_known(fact: Fact, value: Value, card: str, seen: LessonObservations, positions: Mapping[str, int]) -> bool:
    """Return whether the learner can already know a fact from the cards up to here."""
    here, ids = positions[card], list(positions)
    earlier = {name: seen.at[name] for name in ids[: ids.index(card) + 1]}
    word = next((word for word in fact if word in STAGES), next(iter(fact)))
    if word in ("woken_by", "hint_of"):
        return any(value in move.why for move in seen.at[card].journal.lane(key_of(fact[word])))
    try:
        return value_of(fact, LessonObservations(seen.at[card], earlier, points=seen.points), ids[0]) == value
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

"""The records of a dry run in words: candidate by candidate, victim by victim, then the choice."""

from typing import Any, NotRequired, TypedDict

from playground.presenters.cluster_map.preempting import Step
from playground.presenters.scene import short
from playground.presenters.stage.preemption.ladder import COLUMNS
from playground.presenters.words import Message, gettext_noop, message
from scheduler_core.world.readonly import Candidate, Evidence, Pod, Reprieve

NAMES = 6


class StepLine(TypedDict):
    """A step in words. `mark` is yes, no or "" as a sign before the line."""

    mark: str
    line: Message
    candidate: int
    by: NotRequired[str]
    budget: NotRequired[bool]


def describe_step(step: Step, evidence: Evidence, pod: Pod) -> StepLine:
    if step.kind == "criterion":
        criterion = evidence.criteria[step.number]
        line = message(
            gettext_noop("%(best)s: %(k)s of %(n)s left"),
            best=COLUMNS[step.number][1],
            k=len(criterion.best),
            n=len(criterion.compared),
        )
        return {"mark": "", "line": line, "candidate": -1}
    if step.kind == "choice":
        text = (
            gettext_noop("%(node)s is chosen")
            if evidence.draw is None
            else gettext_noop("%(node)s is picked at random among the tied candidates")
        )
        return {"mark": "yes", "line": message(text, node=evidence.nominated), "candidate": -1}
    candidate = evidence.candidates[step.candidate]
    if step.kind == "reprieve":
        return _of_reprieve(candidate.reprieves[step.number], step.candidate)
    line = _describe_removal(candidate, pod) if step.kind == "remove" else message(_FITS, pod=short(pod.key))
    return {"mark": "yes", "line": line, "candidate": step.candidate}


_FITS = gettext_noop("filter: %(pod)s fits")


def _describe_removal(candidate: Candidate, pod: Pod) -> Message:
    names = [short(reprieve.pod) for reprieve in candidate.reprieves]
    listed = ", ".join(names[:NAMES]) + (f" +{len(names) - NAMES}" if len(names) > NAMES else "")
    return message(
        gettext_noop("remove all pods below priority %(priority)s: %(names)s"), priority=pod.priority, names=listed
    )


def _of_reprieve(reprieve: Reprieve, candidate: int) -> StepLine:
    values: dict[str, Any] = {"pod": short(reprieve.pod), "priority": reprieve.priority}
    if reprieve.kept:
        line: Message = message(gettext_noop("reprieve %(pod)s (%(priority)s): still fits → kept"), **values)
    else:
        reason = reprieve.refusal.message if reprieve.refusal is not None else ""
        line = message(gettext_noop("reprieve %(pod)s (%(priority)s): %(reason)s → victim"), **values, reason=reason)
    return {
        "mark": "yes" if reprieve.kept else "no",
        "line": line,
        "candidate": candidate,
        "by": reprieve.refusal.plugin if reprieve.refusal is not None else "",
        "budget": reprieve.violates_budget,
    }

"""Words of the page on which a lesson is made: for moments, for questions and what they are answered with, for what is wrong."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, override

from playground.lessons.authoring import Finding, Moment, Suggestion

MOMENTS = {
    ("outcome", "scheduled"): gettext_noop("%(pod)s gets the node %(node)s"),
    ("outcome", "unschedulable"): gettext_noop("%(pod)s finds no node"),
    ("outcome", "error"): gettext_noop("An attempt of %(pod)s ends with an error"),
    ("place", "gated"): gettext_noop("%(pod)s is held back by a scheduling gate"),
    ("place", "active"): gettext_noop("%(pod)s goes to the active queue"),
    ("place", "backoff"): gettext_noop("%(pod)s backs off"),
    ("place", "unschedulable"): gettext_noop("%(pod)s is put among the unschedulable pods"),
    ("place", "waiting on permit"): gettext_noop("%(pod)s waits on Permit"),
    ("place", "bound"): gettext_noop("%(pod)s is bound"),
    ("place", "running"): gettext_noop("%(pod)s runs"),
    ("place", "deleted"): gettext_noop("%(pod)s is deleted"),
    ("point", "PreFilter"): gettext_noop("The scheduler takes up %(pod)s"),
    ("point", "Filter"): gettext_noop("The nodes are filtered for %(pod)s"),
    ("point", "PostFilter"): gettext_noop("No node is left: PostFilter tries to make room for %(pod)s"),
    ("point", "Score"): gettext_noop("The nodes are scored for %(pod)s"),
    ("point", "Permit"): gettext_noop("Permit decides on %(pod)s"),
}
EVENT = gettext_noop("The Event %(event)s is recorded about %(pod)s")
QUESTIONS = {
    "next_pod": gettext_noop("Which pod comes next?"),
    "order": gettext_noop("In which order are these pods tried?"),
    "node": gettext_noop("Which node does %(pod)s get?"),
    "scheduled": gettext_noop("Does %(pod)s get a node?"),
    "feasible": gettext_noop("How many nodes could take %(pod)s?"),
    "plugin": gettext_noop("Which plugin refuses %(pod)s?"),
    "plugins": gettext_noop("Which plugins refuse %(pod)s?"),
    "preempts": gettext_noop("Does preemption make room for %(pod)s?"),
    "nominated": gettext_noop("Which node does preemption choose for %(pod)s?"),
    "victims": gettext_noop("Which pods have to go for %(pod)s?"),
    "backoff": gettext_noop("For how many seconds does %(pod)s back off?"),
    "total": gettext_noop("How many points does %(node)s get for %(pod)s in all?"),
    "tied": gettext_noop("How many nodes share the highest total for %(pod)s?"),
    "fits": gettext_noop("How many more pods like %(pod)s fit in?"),
    "attempts": gettext_noop("How many attempts does %(pod)s need in all?"),
}
RIGHT = gettext_noop("That is right.")
WRONG = gettext_noop("The engine says: {answer}.")
PROBLEMS = (
    (r"(?:en|zh-hans)\.yaml: card (?P<card>\S+) has no words", gettext_noop("This card has no words in one of the languages.")),
    (r"(?:en|zh-hans)\.yaml: card (?P<card>\S+) asks, and needs ask, right and wrong",
     gettext_noop("This card asks: write the question, and what is said after a right and after a wrong answer.")),
    (r"(?:en|zh-hans)\.yaml: card (?P<card>\S+) offers something, and needs do",
     gettext_noop("This card offers a change: write what its button says.")),
    (r"(?:en|zh-hans)\.yaml: card (?P<card>\S+): there is no fact (?P<name>\S+)",
     gettext_noop("{%(name)s} stands in the words of this card, and there is no fact of that name.")),
    (r"own: the step of card (?P<card>\S+) is never reached; .*",
     gettext_noop("The lesson never comes to this card: what it waits for does not happen after the card before.")),
    (r"card (?P<card>\S+) is passed over: card (?P<name>\S+) comes at the same step",
     gettext_noop("A later card comes at the same step as this one, so this one would never be seen. Remove one of them.")),
    (r"card (?P<card>\S+): its question has no answer", gettext_noop("The engine has no answer to the question of this card.")),
    (r"card (?P<card>\S+): the answer (?P<name>.+) can't be chosen among .*",
     gettext_noop("The answer, %(name)s, is not among what can be chosen here.")),
    (r"card (?P<card>\S+): there is nothing to choose from",
     gettext_noop("There is only one answer to choose from. Ask something else here.")),
    (r"two cards have the id (?P<card>\S+)", gettext_noop("Two cards have the same id.")),
    (r"card (?P<card>\S+) says nothing", gettext_noop("Tell the learner something on this card.")),
    (r"the lesson has no title", gettext_noop("Give the lesson a title.")),
    (r"task: its check holds before anything is done", gettext_noop("The task is done already before the learner does anything.")),
    (r"task: its check does not hold after the solution", gettext_noop("The task's solution does not bring about what it asks for.")),
    (r"task: its check does not hold after the solution, as it has none",
     gettext_noop("The task has no solution yet. Write one in the files.")),
    (r"variant (?P<name>\d+) can't be shown: .*",
     gettext_noop("Variant %(name)s can't be shown, nor what else its number draws: not every question has one answer, or what is "
                  "required does not hold. Declare narrower ranges in the files.")),
    (r"(?:en|zh-hans)\.yaml: it says `(?P<name>.+)`, which varies; .*",
     gettext_noop("The words say %(name)s, which varies: write its name between braces.")),
    (r"vary: nothing uses (?P<name>\w+); .*", gettext_noop("%(name)s varies, and nothing uses it.")),
)  # fmt: skip


class Problem(NamedTuple):
    """An error in the reader's words; the card's id, the file, and the line if it concerns these."""

    text: str
    card: str = ""
    file: str = ""
    line: int = 0


def of_moment(moment: Moment) -> str:
    """Return the text of a moment."""
    if moment.kind == "event":
        return _(EVENT) % {"event": moment.detail, "pod": moment.pod}
    return _(MOMENTS[moment.kind, moment.detail]) % {"pod": moment.pod, "node": moment.node}


def of_question(suggestion: Suggestion) -> str:
    """Return the text of a question, with the attempt unless it is the pod's first."""
    asked = _(QUESTIONS[suggestion.what]) % {"pod": suggestion.pod, "node": suggestion.node}
    if suggestion.attempt > 1:
        return _("In attempt %(number)d: %(question)s") % {"number": suggestion.attempt, "question": asked}
    return asked


def default_words(suggestion: Suggestion, language: str) -> dict[str, str]:
    """Return a card's default texts for a question, in a language."""
    with override(language):
        return {"ask": of_question(suggestion), "right": _(RIGHT), "wrong": _(WRONG)}


def of_findings(findings: Sequence[Finding]) -> list[Problem]:
    """Return a check's findings in words; the engine's own text stays unchanged."""
    return list(dict.fromkeys(map(_problem, findings)))


def _problem(finding: Finding) -> Problem:
    for pattern, text in PROBLEMS:
        match = re.fullmatch(pattern, finding.text, re.DOTALL)
        if match:
            named = match.groupdict()
            said: Mapping[str, Any] = {"name": named.get("name", "")}
            return Problem(_(text) % said, named.get("card", ""), finding.file, finding.line)
    card = re.match(r"card (\S+?):? ", finding.text)
    return Problem(finding.text, card[1] if card else "", finding.file, finding.line)

"""Words of the page on which a lesson is made: for moments, for questions and what they are answered with, for what is wrong."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, override

from playground.lessons.authoring import Finding, Moment, SuggestedTask, Suggestion

MOMENTS = {
    ("outcome", "scheduled"): gettext_noop("%(pod)s gets the node %(node)s"),
    ("outcome", "unschedulable"): gettext_noop("%(pod)s finds no node"),
    ("outcome", "error"): gettext_noop("An attempt of %(pod)s ends with an error"),
    ("place", "gated"): gettext_noop("A scheduling gate holds %(pod)s"),
    ("place", "active"): gettext_noop("%(pod)s moves to the active queue"),
    ("place", "backoff"): gettext_noop("%(pod)s backs off"),
    ("place", "unschedulable"): gettext_noop("%(pod)s moves to the unschedulable pods"),
    ("place", "waiting on permit"): gettext_noop("%(pod)s waits on Permit"),
    ("place", "bound"): gettext_noop("%(pod)s is bound"),
    ("place", "running"): gettext_noop("%(pod)s runs"),
    ("place", "deleted"): gettext_noop("%(pod)s is deleted"),
    ("point", "PreFilter"): gettext_noop("The scheduler starts an attempt for %(pod)s"),
    ("point", "Filter"): gettext_noop("The nodes are filtered for %(pod)s"),
    ("point", "PostFilter"): gettext_noop("No node is feasible: PostFilter tries to make room for %(pod)s"),
    ("point", "Score"): gettext_noop("The nodes are scored for %(pod)s"),
    ("point", "Permit"): gettext_noop("Permit decides on %(pod)s"),
}
EVENT = gettext_noop("The Event %(event)s about %(pod)s is recorded")
QUESTIONS = {
    "next_pod": gettext_noop("Which pod is next?"),
    "order": gettext_noop("In which order will these pods be tried?"),
    "node": gettext_noop("Which node will %(pod)s get?"),
    "scheduled": gettext_noop("Will %(pod)s get a node?"),
    "feasible": gettext_noop("How many nodes are feasible for %(pod)s?"),
    "plugin": gettext_noop("Which plugin will refuse %(pod)s?"),
    "plugins": gettext_noop("Which plugins will refuse %(pod)s?"),
    "preempts": gettext_noop("Will preemption make room for %(pod)s?"),
    "nominated": gettext_noop("Which node will preemption choose for %(pod)s?"),
    "victims": gettext_noop("Which pods will be preempted for %(pod)s?"),
    "backoff": gettext_noop("For how many seconds will %(pod)s back off?"),
    "total": gettext_noop("What is the total score of %(node)s for %(pod)s?"),
    "tied": gettext_noop("How many nodes share the highest total for %(pod)s?"),
    "fits": gettext_noop("How many more pods like %(pod)s fit?"),
    "attempts": gettext_noop("How many attempts will %(pod)s need?"),
}
RIGHT = gettext_noop("That is right.")
WRONG = gettext_noop("The engine says: {answer}.")
PROBLEMS = (
    (r"(?:en|zh-hans)\.yaml: card (?P<card>\S+) has no words", gettext_noop('This card lacks a text in one of the languages.')),
    (r"(?:en|zh-hans)\.yaml: card (?P<card>\S+) asks, and needs ask, right and wrong",
     gettext_noop('This card has a question. Write the question and the texts after a right and after a wrong answer.')),
    (r"(?:en|zh-hans)\.yaml: card (?P<card>\S+) offers something, and needs do",
     gettext_noop('This card offers a change. Write the text of its button.')),
    (r"(?:en|zh-hans)\.yaml: card (?P<card>\S+): there is no fact (?P<name>\S+)",
     gettext_noop('The text of this card uses {%(name)s}, but no fact has this name.')),
    (r"own: the step of card (?P<card>\S+) is never reached; .*",
     gettext_noop('The lesson never reaches this card: its condition does not occur after the previous card.')),
    (r"card (?P<card>\S+) is passed over: card (?P<name>\S+) comes at the same step",
     gettext_noop('A later card appears at the same step, so learners would never see this card. Remove one of them.')),
    (r"card (?P<card>\S+): its question has no answer", gettext_noop("The engine has no answer to the question of this card.")),
    (r"card (?P<card>\S+): the answer (?P<name>.+) can't be chosen among .*",
     gettext_noop('The answer, %(name)s, is not one of the choices.')),
    (r"card (?P<card>\S+): there is nothing to choose from",
     gettext_noop('The question has only one choice. Ask another question.')),
    (r"two cards have the id (?P<card>\S+)", gettext_noop("Two cards have the same id.")),
    (r"card (?P<card>\S+) says nothing", gettext_noop('Write a text for this card.')),
    (r"the lesson has no title", gettext_noop("Give the lesson a title.")),
    (r"task: its check holds before anything is done", gettext_noop('The task is already done at its start.')),
    (r"task: its check does not hold after the solution", gettext_noop('The solution of the task does not meet its condition.')),
    (r"task: its check does not hold after the solution, as it has none",
     gettext_noop("The task has no solution yet. Write one in the files.")),
    (r"variant (?P<name>\d+) can't be shown: .*",
     gettext_noop('Variant %(name)s and others with the same values cannot be shown: a question has no unique answer, '
                  'or a requirement does not hold. Declare narrower ranges in the files.')),
    (r"(?:en|zh-hans)\.yaml: it says `(?P<name>.+)`, which varies; .*",
     gettext_noop('The text contains %(name)s, which varies. Write its name in braces.')),
    (r"vary: nothing uses (?P<name>\w+); .*", gettext_noop('%(name)s varies but is not used.')),
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
        reasons = [f"`{node}`: {text}." for node, text in suggestion.said]
        return {"ask": of_question(suggestion), "right": _(RIGHT), "wrong": " ".join([_(WRONG), *reasons])}


def of_task(suggested: SuggestedTask, mark: str = "") -> str:
    """Return the text of a task; `mark` encloses the names in it."""
    text = _("Create the pod %(pod)s so that it runs on %(node)s.") if suggested.node else _("Get a node for %(pod)s.")
    return text % {"pod": f"{mark}{suggested.pod}{mark}", "node": f"{mark}{suggested.node}{mark}"}


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

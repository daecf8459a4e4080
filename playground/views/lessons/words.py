"""Texts of the lesson editor: for moments, for questions and their answers, and for problems."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from django.utils.translation import gettext as _
from django.utils.translation import override

from playground.common.catalogs import read_yaml
from playground.lessons.authoring import Finding, Moment, SuggestedTask, Suggestion

WORDS = read_yaml(Path(__file__).with_suffix(".yaml"))
MOMENTS, QUESTIONS = WORDS["moments"], WORDS["questions"]
EVENT, RIGHT, WRONG = WORDS["event"], WORDS["right"], WORDS["wrong"]


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
    return _(MOMENTS[moment.kind][moment.detail]) % {"pod": moment.pod, "node": moment.node}


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
    text = _("Create the pod %(pod)s so that it runs on %(node)s.") if suggested.node else _("Get %(pod)s scheduled.")
    return text % {"pod": f"{mark}{suggested.pod}{mark}", "node": f"{mark}{suggested.node}{mark}"}


def of_findings(findings: Sequence[Finding]) -> list[Problem]:
    """Return a check's findings in words; the engine's own text stays unchanged."""
    return list(dict.fromkeys(map(_problem, findings)))


def _problem(finding: Finding) -> Problem:
    for pattern, text in WORDS["problems"].items():
        match = re.fullmatch(pattern, finding.text, re.DOTALL)
        if match:
            named = match.groupdict()
            said: Mapping[str, Any] = {"name": named.get("name", "")}
            return Problem(_(text) % said, named.get("card", ""), finding.file, finding.line)
    card = re.match(r"card (\S+?):? ", finding.text)
    return Problem(finding.text, card[1] if card else "", finding.file, finding.line)

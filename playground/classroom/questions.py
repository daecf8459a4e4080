"""Questions to a room: their words in every language, their options, and the key that the engine computes."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.conf import settings
from django.utils.translation import gettext as _
from django.utils.translation import override

from playground.classroom import messages
from playground.classroom.polls import PollQuestion
from playground.models import Poll
from playground.presenters.words import message
from playground.sessions.protocol.errors import SessionError
from playground.sessions.protocol.looking import About, OpenQuestion, Predict, Prediction, WhyNot
from playground.sessions.web.client import SessionClient

MOST_OPTIONS = 24
MOST_REASONS = 40  # wrong answers whose reasons are looked for


async def build_question(client: SessionClient, ask: messages.Ask) -> PollQuestion:
    """Build the teacher's question. Raise SessionError if there is none."""
    if ask.kind == "free":
        return _free(ask)
    if ask.kind == "card":
        question = await client.ask(OpenQuestion(at=ask.at))
        if question is None:
            raise SessionError(message("The lesson has no question at this step. Move on to a card with a question."))
        why: dict[str, Any] = {given: {"why": "meant", "text": {}} for given in question.meant}
        for language, _name in settings.LANGUAGES:
            with override(language):
                for given, mistake in question.meant.items():
                    why[given]["text"][language] = _(mistake["text"]) % mistake.get("values", {})
        asked = (question.kind, question.words, question.options, question.key, question.tolerance, question.position)
        return PollQuestion(*asked, reasons=why)
    seen = await client.ask(Predict(at=ask.at, about=ask.kind, pod=ask.pod))
    if seen.key is None:
        raise SessionError(
            message(
                "The engine finds no answer: the next %(steps)s steps contain no such attempt.",
                steps=f"{seen.looked:,}",
            )
        )
    key: str = seen.key
    options = _within(seen.options, key) if seen.kind in ("node", "pod") else list(seen.options)
    words = {language: {"ask": _ask(ask.kind, seen, language)} for language, _name in settings.LANGUAGES}
    return PollQuestion(seen.kind, words, options, key, 0, seen.position, seen.pod, seen.reasons)


def _free(ask: messages.Ask) -> PollQuestion:
    text, options = ask.ask.strip(), list(dict.fromkeys(each.strip() for each in ask.options if each.strip()))
    if not text or len(options) < 2:
        raise SessionError(message("A question needs a text and at least two answers."))
    right = ask.right.strip()
    if right and right not in options:
        raise SessionError(message("The right answer must be one of the possible answers."))
    return PollQuestion(
        "choice", {language: {"ask": text} for language, _name in settings.LANGUAGES}, options, right or None
    )


def _ask(about: About, seen: Prediction, language: str) -> str:
    pod = seen.pod.removeprefix("default/")
    with override(language):
        if about == "node":
            return _("Which node will pod %(pod)s get in its next attempt?") % {"pod": pod}
        if about == "scheduled":
            return _("Will the next attempt find a node for pod %(pod)s?") % {"pod": pod}
        if about == "feasible":
            return _("How many nodes will be feasible for pod %(pod)s in its next attempt?") % {"pod": pod}
        return _("Which pod will the scheduler try next?")


def _within(options: Sequence[str], key: str) -> list[str]:
    """Not more answers than a phone shows, the right one among them, in their order."""
    if len(options) <= MOST_OPTIONS or key not in options:
        return list(options[:MOST_OPTIONS])
    first = max(0, min(list(options).index(key) - MOST_OPTIONS // 2, len(options) - MOST_OPTIONS))
    return list(options[first : first + MOST_OPTIONS])


async def reasons(client: SessionClient, poll: Poll, wrong: Sequence[str]) -> dict[str, Any]:
    """Explain each wrong answer with the engine; `why` is a key for a sentence on the pages, `text` is kube's own."""
    found: dict[str, Any] = dict(poll.reasons)
    for given in wrong[:MOST_REASONS]:
        if poll.kind == "number" and isinstance(poll.key, str):
            known = found.get(f"{float(given):g}")
            found[given] = known or {"why": "high" if float(given) > float(poll.key) else "low"}
        elif poll.kind == "node" and poll.pod and given not in found:
            there: Any = await client.ask(WhyNot(at=poll.position, pod=poll.pod, node=given))
            found[given] = _of_node(there)
        elif poll.kind in ("order", "victims") and isinstance(poll.key, list):
            found[given] = _of_list(given.split(", "), poll.key)
    return found


def _of_node(seen: Mapping[str, Any] | None) -> dict[str, str]:
    """Explain why a node was not chosen: the plugin that rejects it, or its score."""
    found = None if seen is None else seen["found"]
    if found is None:
        return {"why": "unknown"}
    if not found["feasible"]:
        return {"why": "refused", "text": f"{found['first']}: {found['why']}" if found["first"] else found["why"]}
    if found["total"] is not None and found["total"] < found["top"]:
        return {"why": "lower", "text": f"{found['total']} < {found['top']}"}
    return {"why": "tied"}


def _of_list(given: list[str], key: list[str]) -> dict[str, str]:
    """Describe how a list of names differs from the correct one."""
    missed, added = [each for each in key if each not in given], [each for each in given if each not in key]
    if missed and not added:
        return {"why": "missed", "text": ", ".join(missed)}
    if added:
        return {"why": "added", "text": ", ".join(added)}
    place = next((number for number, (a, b) in enumerate(zip(given, key, strict=False), 1) if a != b), 1)
    return {"why": "order", "text": str(place)}

"""The sentences that a classroom's scripts show, in the language of the page."""

from __future__ import annotations

from django.utils.translation import gettext as _


def words() -> dict[str, str]:
    """Return the texts by the names that the scripts use; {text} and the like are placeholders for values."""
    return {
        "yes": _("Yes"),
        "no": _("No"),
        "answer": _("Answer"),
        "answers": _("Answers: {count}"),
        "number": _("Your number"),
        "nobody": _("Student {id}"),
        "right": _("right"),
        "kept": _("Your answer is saved: {text}. You can change it until the question is closed."),
        "was": _("Your answer: {text}."),
        "closed": _("The question is closed. Wait for the answers."),
        "yours-right": _("That is right."),
        "yours-wrong": _("That is not right."),
        "key": _("Right: {text}"),
        "wrong-why": _("Why the wrong answers are wrong"),
        "why-refused": _("Refused: {text}"),
        "why-lower": _("Feasible, but another node has a higher score: {text}"),
        "why-tied": _("Same score as the chosen node: the tie was decided at random"),
        "why-fits": _("Feasible: {text}"),
        "why-waits": _("This pod is not next: {text}"),
        "why-high": _("Too high"),
        "why-low": _("Too low"),
        "why-missed": _("Missing: {text}"),
        "why-added": _("Not part of the answer: {text}"),
        "why-order": _("The order differs from position {text} on"),
        "why-unknown": _("No such pod or node exists"),
        "following": _("You follow the teacher."),
        "roaming": _("You are at step {step} of {head}, on your own."),
        "forked": _("This is your own fork. Change anything you like."),
        "shown": _("On screen: {name}'s fork"),
        "lost": _("Connection lost. Reconnecting…"),
        "over": _("The classroom has ended."),
        "gone": _("The classroom was removed."),
        "removed": _("The teacher removed you from the classroom."),
        "remove": _("Remove"),
        "answered": _("answered"),
        "so-far": _("{right} of {asked} right"),
        "hand": _("hand raised"),
        "stuck": _("stuck: three wrong answers in a row"),
        "joined": _("Students: {count}"),
        "hands": _("Raised hands: {count}"),
        "lower": _("Lower"),
        "show": _("Show to all"),
        "hand-up": _("Raise hand"),
        "hand-down": _("Lower hand"),
        "copied": _("Copied."),
    }

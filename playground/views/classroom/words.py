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
        "kept": _("Your answer is kept: {text}. You may change it until the question is closed."),
        "was": _("Your answer: {text}"),
        "closed": _("The question is closed. Wait for the answers."),
        "yours-right": _("That is right."),
        "yours-wrong": _("That is not right."),
        "key": _("Right: {text}"),
        "wrong-why": _("What the engine sees in the wrong answers"),
        "why-refused": _("Refused. {text}"),
        "why-lower": _("It would fit, but another node has more points: {text}"),
        "why-tied": _("As many points as the chosen node: the draw decided"),
        "why-fits": _("It fits: {text}"),
        "why-waits": _("This pod is not in front: {text}"),
        "why-high": _("Too many"),
        "why-low": _("Too few"),
        "why-missed": _("Something is missing: {text}"),
        "why-added": _("Something does not belong there: {text}"),
        "why-order": _("The order is different from place {text} on"),
        "why-unknown": _("The engine knows no such pod or node"),
        "following": _("You follow the teacher."),
        "roaming": _("You look around on your own, at step {step} of {head}."),
        "forked": _("This is your own fork: change what you like."),
        "shown": _("On screen: the fork of {name}"),
        "lost": _("The connection is lost. It comes back by itself."),
        "over": _("The classroom is over."),
        "gone": _("The classroom was removed."),
        "removed": _("The teacher has removed you from the classroom."),
        "remove": _("Remove"),
        "joined": _("Students: {count}"),
        "hands": _("Raised hands: {count}"),
        "lower": _("Lower"),
        "show": _("Show to all"),
        "hand-up": _("Raise hand"),
        "hand-down": _("Lower hand"),
        "copied": _("Copied."),
    }

"""What can be done to disruption budgets."""

from __future__ import annotations

from playground.workbench.actions.contract import Action, Field, Subject, Values, Wrong, gettext_noop
from scheduler_core.world.commands import PatchObject

LEAST, MOST = "minAvailable", "maxUnavailable"


def _budget(subject: Subject, values: Values) -> PatchObject:
    given = {LEAST: values["least"], MOST: values["most"]}
    chosen = {name: int(text) if text.isdecimal() else text for name, text in given.items() if text}
    if len(chosen) != 1:
        raise Wrong("least", gettext_noop("Fill in one of the two: a number, or a share such as 50%"))
    return PatchObject(subject.ref, {"spec": {name: chosen.get(name) for name in given}})


BUDGET = Action(
    "budget",
    ("PodDisruptionBudget",),
    gettext_noop("Change the budget"),
    gettext_noop("How many of its pods have to stay, or may be missing. A number, or a share such as 50%."),
    gettext_noop("The budget of %(name)s was changed."),
    _budget,
    (
        Field("least", "text", LEAST, initial=lambda subject: subject.part("spec", LEAST)),
        Field("most", "text", MOST, initial=lambda subject: subject.part("spec", MOST)),
    ),
    letter="b",
    icon="resize",
)

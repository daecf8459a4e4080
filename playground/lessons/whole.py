"""A lesson with all manifests and commands written out, so that its recipients build none."""

import msgspec

from playground.lessons.format import CardAction, Lesson, Plan
from playground.lessons.reading import beginning, command_of
from scheduler_core.world.commands import ApplyObjects


def expand_lesson(lesson: Lesson, most_objects: int) -> Lesson:
    """Return the lesson written out. Raise ValueError if its world has too many objects."""
    plan = lesson.plan
    world = next(command for command in beginning(plan) if isinstance(command, ApplyObjects))
    if len(world.objects) > most_objects:
        raise ValueError(f"the lesson's world has {len(world.objects):,} objects; {most_objects:,} are allowed here")
    whole = msgspec.structs.replace(
        plan,
        nodes=(),
        pods=(),
        objects=tuple(dict(manifest) for manifest in world.objects),
        cards=tuple(msgspec.structs.replace(card, do=_command(card.do)) for card in plan.cards),
        task=None
        if plan.task is None
        else msgspec.structs.replace(
            plan.task,
            start=tuple(filter(None, map(_command, plan.task.start))),
            solution=tuple(filter(None, map(_command, plan.task.solution))),
        ),
    )
    return msgspec.structs.replace(lesson, plan=msgspec.convert(msgspec.to_builtins(whole), Plan))


def _command(act: CardAction | None) -> CardAction | None:
    return None if act is None else CardAction(command=msgspec.to_builtins(command_of(act)), until=act.until)

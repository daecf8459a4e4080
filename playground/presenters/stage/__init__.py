"""The stage: one decision at a time, in large. Each extension point has a stage for its question, in a module of its own (look.STAGES)."""

from collections.abc import Callable
from functools import partial
from typing import TypedDict

from playground.presenters.look import Look
from playground.presenters.panel import Panel, Stage
from playground.presenters.scene import scheduler_of, short, table_of
from playground.presenters.stage import (
    binding,
    cluster,
    controller,
    group,
    pending,
    placed,
    preemption,
    prepare,
    queue,
    score,
)
from playground.presenters.stage import filter as filtering
from playground.presenters.stage.aim import Aim, aim_of
from playground.presenters.stage.binding.lanes import Lane
from playground.presenters.stage.queue.flow import PoolCard
from playground.presenters.words import Message, clock, ordinal
from scheduler_core.world.readonly import Point, WorldView

MAP = "nodes"  # the form that is the cluster map
FEW = 6  # nodes; up to this number, the map fits below a stage about one pod
_SPARSE = ("prefilter", "prescore", "score", "group", "pending", "preemption", "binding")


Body = (
    cluster.ClusterBody
    | queue.QueueBody
    | prepare.PrepareBody
    | filtering.FilterBody
    | score.Board
    | score.NoBoard
    | group.GroupBody
    | None
    | pending.PendingBody
    | placed.PlacedBody
    | preemption.PreemptionBody
    | binding.BindingBody
    | controller.ControllerBody
)
Card = PoolCard | filtering.FilterCard | Lane
_STAGES: dict[str, Callable[[WorldView, Look, str], Stage[Body, Card]]] = {
    "cluster": cluster.present,
    "queue": queue.present,
    "prefilter": prepare.present,
    "prescore": partial(prepare.present, point=Point.PRE_SCORE),
    "filter": filtering.present,
    "score": score.present,
    "group": group.present,
    "pending": pending.present,
    "preemption": preemption.present,
    "binding": binding.present,
    "placed": placed.present,
    "controller": controller.present,
}


_TEMPLATES = {"prefilter": "prepare", "prescore": "prepare"}


class Form(TypedDict):
    name: str
    title: str


class StageContext(TypedDict):
    stage: str
    template: str
    pod: str
    past: "PastAttempt | None"
    question: Message
    detail: Message | None
    facts: list[Message]
    forms: list[Form]
    form: str
    map: bool
    body: Body


def present(sim: WorldView, look: Look, past: WorldView | None = None) -> Panel[StageContext, Card]:
    """Return the present or the chosen stage, for the chosen pod or the pod of the present cycle.

    `past` is the world in which the chosen pod's last attempt ended, if it is another world (aim.past_of).
    """
    aim = aim_of(sim, look)
    name, world = aim.stage, sim if past is None or aim.attempt is None else past
    stage = (
        preemption.present(world, look, aim.pod, sim) if name == "preemption" else _STAGES[name](world, look, aim.pod)
    )
    form = look.form if look.form in stage.forms else next(iter(stage.forms), "")
    context: StageContext = {
        "stage": name,
        "template": _TEMPLATES.get(name, name),
        "pod": aim.pod,
        "past": _past(sim, aim) if world is not sim else None,
        "question": stage.question,
        "detail": stage.detail,
        "facts": stage.facts,
        "forms": [{"name": key, "title": title} for key, title in stage.forms.items()],
        "form": form,
        "map": stage.map or form == MAP or (name in _SPARSE and len(table_of(scheduler_of(world))) <= FEW),
        "body": stage.body,
    }
    return Panel("stage", context, stage.cards)


class PastAttempt(TypedDict):
    number: Message
    pod: str
    at: int
    t: str


def _past(sim: WorldView, aim: Aim) -> PastAttempt | None:
    """Return the finished attempt that the stage shows, or None."""
    attempt = aim.attempt
    if attempt is None:
        return None
    count = sum(each.number <= attempt.number for each in sim.journal.attempts_of(attempt.pod))
    return {"number": ordinal(count), "pod": short(attempt.pod), "at": attempt.last_position, "t": clock(attempt.ended)}

"""What the totals have come to, in one sentence: how far the plugins are, who leads, who ties and how the draw went."""

from __future__ import annotations

from playground.presenters.stage.score.board import Scored
from playground.presenters.words import Message, gettext_noop, message
from scheduler_core.world.readonly import WorldView

PAIR, NAMED = 2, 3


def summarize_totals(sim: WorldView, scored: Scored) -> Message:
    cycle, total = scored.cycle, int(scored.totals.max())
    if not scored.summed:
        return _so_far(scored)
    if cycle.chosen is None:
        return message(
            gettext_noop("The totals stand, the highest is %(total)s; the node is picked next."), total=total
        )
    if len(cycle.tied) < 2:
        return message(
            gettext_noop("%(node)s has the highest total: %(total)s."), node=cycle.chosen, total=total
        )
    return _describe_draw(sim, scored, cycle.chosen, total)


def _describe_draw(sim: WorldView, scored: Scored, chosen: str, total: int) -> Message:
    tied = scored.cycle.tied
    if len(tied) == PAIR:
        text = gettext_noop(
            "%(one)s and %(other)s both total %(total)s; "
            "%(node)s was picked at random: number %(number)s of the two in list order (seed %(seed)s)."
        )
        number = (scored.cycle.draw or 0) + 1
        return message(
            text, one=tied[0], other=tied[1], total=total, node=chosen, number=number, seed=sim.seed
        )
    text = gettext_noop(
        "%(nodes)s all total %(total)s; %(node)s was picked at random: number %(number)s of %(count)s in list order (seed %(seed)s)."
    )
    if len(tied) > NAMED:
        text = gettext_noop(
            "%(count)s nodes total %(total)s; %(node)s was picked at random: number %(number)s of them in list order (seed %(seed)s)."
        )
    return message(
        text,
        nodes=", ".join(tied),
        node=chosen,
        total=total,
        number=(scored.cycle.draw or 0) + 1,
        count=f"{len(tied):,}",
        seed=sim.seed,
    )


def other_draws(scored: Scored) -> Message | None:
    """Return the other possible draws: kube-scheduler picks one of the tied nodes, each with the same chance."""
    tied = scored.cycle.tied
    if scored.cycle.chosen is None or len(tied) < 2:
        return None
    others = [name for name in tied if name != scored.cycle.chosen]
    text = gettext_noop("With another seed it may as well be %(nodes)s: each has a chance of 1 in %(count)s.")
    if len(others) > NAMED:
        text = gettext_noop(
            "With another seed it may as well be any of the %(count)s: each has a chance of 1 in %(count)s."
        )
    return message(text, nodes=", ".join(others[:NAMED]), count=f"{len(tied):,}")


def _so_far(scored: Scored) -> Message:
    answered = [column for column in scored.columns if column.state != "todo"]
    raw = [column.name for column in scored.columns if column.state == "raw"]
    if not answered:
        text = gettext_noop("None of the %(all)s Score plugins has answered yet.")
        return message(text, all=len(scored.columns))
    if len(answered) < len(scored.columns):
        return message(
            gettext_noop("%(count)s of %(all)s plugins have answered: %(names)s."),
            count=len(answered),
            all=len(scored.columns),
            names=", ".join(column.name for column in answered),
        )
    if raw:
        return message(
            gettext_noop("All plugins have answered; NormalizeScore still scales the scores of %(names)s."),
            names=", ".join(raw),
        )
    return message(gettext_noop("All plugins have answered; the points are added up next."))

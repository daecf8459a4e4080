"""Schedulers as processes, as lessons ask about them: who leads, and who has come to which stage when."""

from collections.abc import Iterator

from scheduler_core.world.readonly import WorldView

LEADING, CUT_OFF = "leading", "cut off"


def leaders(world: WorldView) -> tuple[str, ...]:
    """The schedulers that believe that they lead, by name."""
    last = {move.scheduler: move.state for move in world.journal.processes}
    return tuple(sorted(name for name, state in last.items() if state == LEADING))


def entries(name: str, stage: str, world: WorldView) -> Iterator[int]:
    """Yield the times (ns) at which a scheduler's process entered a stage; the cut-off stage runs beside the others."""
    before = ""
    for move in world.journal.processes:
        if move.scheduler == name:
            state = move.state if stage != CUT_OFF else CUT_OFF if move.cut_off else ""
            if state == stage != before:
                yield move.t
            before = state

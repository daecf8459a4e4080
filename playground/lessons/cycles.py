"""What a scheduler's present cycles have run, as lessons ask about it."""

from scheduler_core.world.readonly import WorldView


def points_run(pod: str, world: WorldView) -> list[str]:
    """The extension points that have run for a pod in its cycle, and in the binding that follows it, in their order."""
    run: dict[str, None] = {}
    for scheduler in world.schedulers:
        cycle = scheduler.cycle
        if cycle is None or cycle.pod.key != pod:
            continue
        steps = [*cycle.steps]
        if cycle.number in scheduler.bindings:
            steps += scheduler.bindings[cycle.number].steps
        run |= dict.fromkeys(step.point.value for step in steps)
    return list(run)


def nodes_of_search(pod: str, world: WorldView) -> tuple[str, ...]:
    """The nodes in the order in which the pod's present cycle asks them."""
    for scheduler in world.schedulers:
        cycle = scheduler.cycle
        if cycle is not None and cycle.pod.key == pod and cycle.search is not None:
            return tuple(str(cycle.nodes.names[row]) for row in cycle.search.order)
    return ()

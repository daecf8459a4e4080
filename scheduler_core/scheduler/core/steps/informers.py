"""Informers with a lag: changes in the API server reach a scheduler after a delay.

```
            lag 0                                  lag > 0
  write -> handlers                    write -> inbox -> (lag) -> replica, handlers
           listers read the store                                 listers read the replica
```
Changes stay in order even if the lag becomes shorter. API calls reach the server itself. Without a lag there is no replica and no cost.
DEVIATION: all kinds lag alike; kube has one watch per kind.
"""

from scheduler_core.apimachinery.objects.manifest import version_of
from scheduler_core.apiserver.watch import WatchEvent
from scheduler_core.base.clock.agenda import FOREVER
from scheduler_core.base.trace.kinds import WatchEventHeard
from scheduler_core.scheduler.core.actions import HearChange
from scheduler_core.scheduler.core.scheduler import Scheduler
from scheduler_core.scheduler.core.steps import handlers


def list_all(scheduler: Scheduler) -> None:
    """List all objects: add nodes and bound pods to the cache, and pending pods to the queue."""
    store = scheduler.world.store
    scheduler.claims.list_anew()
    for node in store.nodes():
        scheduler.cache.add_node(node)
    for pod in store.pods():
        if pod.terminal:
            continue
        if pod.node_name:
            scheduler.left(pod.key)
            scheduler.cache.add_pod(pod)
        elif scheduler.responsible_for(pod):
            scheduler.queue.add(pod, scheduler.world.now)


def list_anew(scheduler: Scheduler) -> None:
    """Reset the informers and list all, as after a start."""
    scheduler.replica, scheduler.inbox = None, []
    set_lag(scheduler)
    list_all(scheduler)


def set_lag(scheduler: Scheduler) -> None:
    """Begin or end the lag according to the world's settings and the connection. Pending changes keep their times."""
    if not scheduler.world.settings.informer_lag and scheduler.hang is None:
        scheduler.replica = scheduler.replica if scheduler.inbox else None
    elif scheduler.replica is None:
        scheduler.replica = scheduler.world.store.replica()


def receive(scheduler: Scheduler, event: WatchEvent) -> None:
    """Queue a change until the informer delivers it."""
    world = scheduler.world
    due = world.now + world.settings.informer_lag
    if scheduler.inbox:
        due = max(due, scheduler.inbox[-1][0])
    if scheduler.hang is not None:
        due = FOREVER + 1
    scheduler.inbox.append((due, event))
    world.agenda.push(due, HearChange(scheduler.name))


def catch_up(scheduler: Scheduler) -> None:
    """Deliver the changes missed while cut off. kube: its watches are broken off, and its informers list anew"""
    world = scheduler.world
    due = world.now + world.settings.informer_lag
    missed = [at > FOREVER for at, _ in scheduler.inbox]
    scheduler.inbox = [(due if at > FOREVER else at, event) for at, event in scheduler.inbox]
    for _ in range(sum(missed)):
        world.agenda.push(due, HearChange(scheduler.name))
    set_lag(scheduler)


def hear(scheduler: Scheduler) -> None:
    """Deliver the first pending change."""
    world = scheduler.world
    _, event = scheduler.inbox.pop(0)
    replica = scheduler.replica
    assert replica is not None
    replica.mirror(event)
    facts = WatchEventHeard(event.type, event.kind, event.namespace, event.name)
    world.record(facts, scheduler.name)
    if not scheduler.inbox and not world.settings.informer_lag and scheduler.hang is None:
        scheduler.replica = None  # it has caught up
    pass_on(scheduler, event)
    if event.kind == "Pod" and (event.new_pod is None or event.new_pod.node_name):
        scheduler.left(f"{event.namespace}/{event.name}")


def pass_on(scheduler: Scheduler, event: WatchEvent) -> None:
    """Handle a watch event that reaches the scheduler."""
    handlers.on_watch(scheduler, event)
    if scheduler.assumed:
        # Drop a plugin's assumed object if a newer version is known. kube: scheduler/util/assumecache.
        key = (event.kind, event.namespace, event.name)
        assumed = scheduler.assumed.get(key)
        if assumed is not None and (event.new is None or version_of(event.new) > version_of(assumed)):
            del scheduler.assumed[key]

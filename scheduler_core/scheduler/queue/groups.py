"""Pod groups in the queue: the members of a group are one entity, which is popped, backs off, and is gated as a whole.

| a member is added | its place |
|---|---|
| its PodGroup does not exist | among the incomplete ones; PreEnqueue does not run |
| the group is in a queue | the group's entity, which stays in its place |
| the group is in flight | among the pending ones, until the cycle ends |
| else | a new entity |

kube: backend/queue/scheduling_queue.go, framework/types.go (QueuedPodGroupInfo) @ v1.37.2
"""

from collections.abc import Iterable
from dataclasses import replace

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.base.trace.journal import Place
from scheduler_core.scheduler.framework.events import ATTEMPT_FAILED, FORCE_ACTIVATE, Action, ObjectEvent
from scheduler_core.scheduler.framework.status import Status
from scheduler_core.scheduler.queue.placing import QueuePlacement
from scheduler_core.scheduler.queue.state import QueueState
from scheduler_core.scheduler.queue.types import GROUP, QueuedPod, QueueOptions, RequeueDecision, Rules, Strategy


def group_key(pod: Pod) -> str:
    """Return the key of a member's PodGroup."""
    return f"{pod.namespace}/{pod.spec.group}"


def in_cycle_order(members: Iterable[QueuedPod]) -> tuple[QueuedPod, ...]:
    """Return members as the cycle tries them. kube: PodGroupMemberPodsOrderingFunc"""
    order = lambda each: (-each.pod.priority, -each.attempts, each.timestamp, each.pod.name)  # noqa: E731
    return tuple(sorted(members, key=order))


class GroupQueue:
    """The part of the queue for members of groups."""

    def __init__(self, state: QueueState, placing: QueuePlacement, options: QueueOptions, rules: Rules) -> None:
        self._state = state
        self._placing = placing
        self._rules = rules
        self._added = options.events.label(Action.ADD)
        self._pops_from_backoff = options.pop_from_backoff

    # Members

    def add(self, entry: QueuedPod, now: int) -> None:
        """Add a member that is new or whose attempt failed. kube: addPodGroupMember"""
        group, state = group_key(entry.pod), self._state
        stand_in = self._rules.group(group, entry.pod)
        if stand_in is None:
            state.incomplete.setdefault(group, {})[entry.key] = entry
            self._rules.moved(entry, Place.GATED, "PodGroupMissing", None)
            return
        found, strategy = self._take(group)
        if found is not None:
            grown = replace(found, members=in_cycle_order((*found.members, entry)))
            self._placing.follow(grown, RequeueDecision(strategy), self._added, now)
        elif state.popped == GROUP + group:
            state.pending.setdefault(group, {})[entry.key] = entry
        else:
            state.sequence += 1
            entity = QueuedPod(
                stand_in, entry.timestamp, state.sequence, initial_timestamp=entry.initial_timestamp, members=(entry,)
            )
            self._placing.to_active(entity, self._added, now)

    def update(self, old: Pod, new: Pod, happened: list[ObjectEvent], now: int) -> bool:
        """Update a changed member. Return False if the queue does not have it. kube: Update"""
        group, state = group_key(old), self._state
        if self._rules.group(group, old) is None:
            return self._renew(state.incomplete, group, old, new)
        heap_entity = next((h.get(GROUP + group) for h in (state.active, state.backoff, state.errors)), None)
        entity = state.find(GROUP + group)
        if entity is None or all(each.key != new.key for each in entity.members):
            return self._renew(state.pending, group, old, new)
        state.nominator.update(old, new)
        renewed = tuple(replace(each, pod=new) if each.key == new.key else each for each in entity.members)
        entity = replace(entity, members=renewed)
        if heap_entity is not None or state.parked(entity.key) is None:
            self._placing.put_back(entity)
            return True
        state.keep(entity)
        for what in happened:
            decision = self._rules.requeue_decision(entity, what)
            place = self._placing.follow(entity, decision, what.event.label, now)
            if place is Place.ACTIVE or (self._pops_from_backoff and place is Place.BACKOFF):
                break
            entity = state.parked(entity.key) or entity
        return True

    def _renew(self, members: dict[str, dict[str, QueuedPod]], group: str, old: Pod, new: Pod) -> bool:
        entry = members.get(group, {}).get(new.key)
        if entry is None:
            return False
        members[group][new.key] = replace(entry, pod=new)
        self._state.nominator.update(old, new)
        return True

    def delete(self, pod: Pod, now: int) -> None:
        """Delete a member that is deleted or bound. kube: deletePodGroupMember"""
        group, state = group_key(pod), self._state
        if self._rules.group(group, pod) is None:
            gone = state.incomplete.get(group, {}).pop(pod.key, None)
        else:
            entity, strategy = self._take(group)
            if entity is None:
                gone = state.pending.get(group, {}).pop(pod.key, None)
            else:
                gone = next((each for each in entity.members if each.key == pod.key), None)
                left = tuple(each for each in entity.members if each.key != pod.key)
                if left:
                    self._placing.follow(replace(entity, members=left), RequeueDecision(strategy), self._added, now)
        if gone is not None:
            self._placing.uncount(gone)

    def activate(self, pod: Pod, now: int) -> bool:
        """Move the group of a member to the active queue. Return whether the group moved."""
        key = GROUP + group_key(pod)
        entity = self._state.parked(key) or self._state.take_from_backoff(key)
        return entity is not None and self._placing.to_active(entity, FORCE_ACTIVATE.label, now)

    # Groups

    def add_group(self, group: str, now: int) -> None:
        """Add a new PodGroup: the members that waited for it are queued, the earliest first."""
        waiting = self._state.incomplete.pop(group, {}).values()
        for entry in sorted(waiting, key=lambda each: (each.timestamp, each.sequence)):
            self.add(entry, now)

    def update_group(self, group: str) -> None:
        """Update the priority of a changed PodGroup's entity."""
        entity = self._state.find(GROUP + group)
        stand_in = None if entity is None else self._rules.group(group, entity.members[0].pod)
        if entity is None or stand_in is None:
            return
        entity = replace(entity, pod=stand_in)
        if self._state.parked(entity.key):
            self._state.keep(entity)
        else:
            self._placing.put_back(entity)

    def delete_group(self, group: str) -> None:
        """Delete a PodGroup: its members wait for a new PodGroup of this name."""
        entity, _ = self._take(group)
        pending = self._state.pending.pop(group, {}).values() if self._state.popped == GROUP + group else ()
        for entry in pending if entity is None else entity.members:
            self._state.incomplete.setdefault(group, {})[entry.key] = entry
            self._rules.moved(entry, Place.GATED, "PodGroupMissing", None)

    def take_back(self, entity: QueuedPod, status: Status, now: int) -> None:
        """Requeue the members that returned from a cycle as the new entity. kube: AddAttemptedPodGroupIfNeeded"""
        state, group = self._state, entity.pod.key
        state.popped = ""
        pending = tuple(state.pending.pop(group, {}).values())
        if not pending:
            return
        stand_in = self._rules.group(group, pending[0].pod)
        if stand_in is None:
            state.incomplete.setdefault(group, {}).update({each.key: each for each in pending})
            return
        tried = {each.pod.uid for each in entity.members}
        came_back = any(each.pod.uid in tried for each in pending)
        entity = replace(entity, pod=stand_in, members=in_cycle_order(pending))
        if not (status.ok and came_back):
            entity = replace(entity, timestamp=now)
        if status.ok:
            self._placing.to_active(replace(entity, unschedulable_count=0, error_count=0), ATTEMPT_FAILED, now)
            return
        rejected = status.rejected
        entity = replace(
            entity,
            unschedulable_count=entity.unschedulable_count + rejected,
            error_count=0 if rejected else entity.error_count + 1,
        )
        entity = self._placing.backoff.begin(entity)
        if self._placing.backoff.lasts(entity, now):
            self._placing.to_backoff(entity, ATTEMPT_FAILED, None)
        else:
            self._placing.to_active(entity, ATTEMPT_FAILED, now)

    def _take(self, group: str) -> tuple[QueuedPod | None, Strategy]:
        """Remove an entity from its queue. Return it with the strategy that puts it back. kube: deleteFromAnyQueue"""
        state, key = self._state, GROUP + group
        if (entity := state.active.remove(key)) is not None:
            return entity, Strategy.IMMEDIATELY
        if (entity := state.take_from_backoff(key)) is not None:
            return entity, Strategy.AFTER_BACKOFF
        entity = state.parked(key)
        if entity is not None:
            state.unpark(key, bool(entity.gated_by))
        return entity, Strategy.SKIP

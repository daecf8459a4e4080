"""The attach/detach controller: attaches volumes to the nodes whose pods use them, and detaches them from others. Keys are volumes.

A volume for only one node stays attached until its kubelet reports that it is no longer in use; for pods on other nodes that is a
Multi-Attach error. Nodes that are not ready lose it after 6 minutes, those with the taint out-of-service at once.

DEVIATION: only volumes of CSI drivers, and those migrated to such drivers, and none that a pod names itself; a node's
status.volumesAttached and volumesInUse are not written; every node is managed by the controller.

kube: pkg/controller/volume/attachdetach/{attach_detach_controller,reconciler/reconciler}.go,
pkg/volume/util/operationexecutor/{operation_executor,operation_generator}.go @ v1.34.1
"""

from collections.abc import Iterator

from scheduler_core.apimachinery.objects import SECOND, Manifest, Pod
from scheduler_core.apimachinery.objects.storage.volumes import CLAIM, VOLUME, deleting, name_of, volume_name
from scheduler_core.apiserver import DELETED, NORMAL, WARNING, WatchEvent
from scheduler_core.base.clock.agenda import FOREVER
from scheduler_core.controllers.contract import Controller, World
from scheduler_core.controllers.memory.volumes import claims_of
from scheduler_core.controllers.volumes.attachments import (
    ATTACHMENT,
    CONTROLLER,
    can_be_shared,
    find_claim,
    find_driver,
    find_end_of_use,
    find_wanted,
    get_node,
    get_volume,
    is_attached,
    name_attachment,
)

FAILED, ATTACHED = "FailedAttachVolume", "SuccessfulAttachVolume"
OUT_OF_SERVICE = "node.kubernetes.io/out-of-service"
MOST_WAIT = 360 * SECOND  # for a node that is not ready to report that a volume is not in use
_ELSEWHERE = "Volume is already exclusively attached to one node and can't be attached to another"
Wanted = dict[str, list[Pod]]


class AttachDetach(Controller):
    """The attach/detach controller."""

    name = CONTROLLER
    component = "attachdetach-controller"
    watches = ("Pod", CLAIM, VOLUME, ATTACHMENT, "Node", "CSIDriver")

    def on_start(self, world: World) -> None:
        memory = world.surroundings.volumes
        memory.attachments = {}
        for attachment in world.store.list(ATTACHMENT):
            memory.follow(get_volume(attachment), name_of(attachment), True)
        for volume in world.store.list(VOLUME):
            self._ask(world, volume)
        for name in memory.attachments:
            self.enqueue(world, name)

    def on_watch(self, world: World, event: WatchEvent) -> None:
        if event.kind == "Pod":
            self._on_pod(world, event)
        elif event.kind == "Node":
            self._on_node(world, event)
        elif event.kind == ATTACHMENT:
            manifest = event.new or event.old or {}
            world.surroundings.volumes.follow(get_volume(manifest), event.name, event.type != DELETED)
            self.enqueue(world, get_volume(manifest))
        elif event.kind == "CSIDriver":
            for volume in world.store.list(VOLUME):
                self._ask(world, volume)
        elif event.kind == VOLUME:
            if event.new is not None:
                self._ask(world, event.new)
        elif event.new is not None and volume_name(event.new):
            self.enqueue(world, volume_name(event.new))

    def _ask(self, world: World, volume: Manifest) -> None:
        known = name_of(volume) in world.surroundings.volumes.attachments
        if known or (find_claim(world, volume) is not None and find_driver(world.store, volume)[0]):
            self.enqueue(world, name_of(volume))

    def _on_pod(self, world: World, event: WatchEvent) -> None:
        old, new = event.old_pod, event.new_pod
        pod = new or old
        if pod is None or not pod.spec.volumes or not pod.node_name:
            return
        memory = world.surroundings.volumes
        memory.users.follow(old, new)
        for key in claims_of(pod):
            claim = world.store.get(CLAIM, *key.split("/", 1))
            volume = "" if claim is None else volume_name(claim)
            if not volume:
                continue
            if new is None or (new.terminal and not (old is not None and old.terminal)):
                memory.left[f"{volume}/{pod.node_name}"] = world.now
            self.enqueue(world, volume)

    def _on_node(self, world: World, event: WatchEvent) -> None:
        old, new = event.old_node, event.new_node
        if old is None or (new is not None and (old.ready, old.taints) == (new.ready, new.taints)):
            return
        for name in list(world.surroundings.volumes.attachments):
            if any(get_node(attachment) == event.name for attachment in _list_attachments(world, name)):
                self.enqueue(world, name)

    def sync(self, world: World, key: str) -> str:
        volume = world.store.get(VOLUME, "", key)
        wanted = find_wanted(world, volume)
        memory, there = world.surroundings.volumes, {get_node(each) for each in _list_attachments(world, key)}
        for place in [place for place in (*memory.refused, *memory.left) if place.startswith(f"{key}/")]:
            node = place.removeprefix(f"{key}/")
            if node not in wanted:
                memory.refused.pop(place, None)
                if node not in there:
                    memory.left.pop(place, None)
        texts = [*self._detach(world, key, volume, wanted)]
        if volume is not None:
            texts += self._attach(world, volume, wanted)
        return "; ".join(texts)

    def _detach(self, world: World, key: str, volume: Manifest | None, wanted: Wanted) -> Iterator[str]:
        memory = world.surroundings.volumes
        claim = None if volume is None else find_claim(world, volume)
        for attachment in _list_attachments(world, key):
            name, node_name = name_of(attachment), get_node(attachment)
            if node_name in wanted:
                memory.detaching.pop(name, None)
            if node_name in wanted or deleting(attachment):
                continue
            node = world.store.node(node_name)
            # The wait runs from when the volume was first not wanted here, so a later sync must not start it again.
            over = memory.detaching.setdefault(name, world.now) + MOST_WAIT
            lost = node is None or node.ready != "True"
            out = node is not None and any(taint.key == OUT_OF_SERVICE for taint in node.taints)
            until = find_end_of_use(world, key, claim, node_name)
            if until and not out and not (lost and world.now >= over):
                again = min(until, over) if lost else until
                if again < FOREVER:
                    self.enqueue_at(world, key, again)
                yield f"left {key} attached to {node_name}: it is in use there"
                continue
            why = " by force" if until else ""
            world.api.delete((ATTACHMENT, "", name))
            yield f"detaches {key} from {node_name}{why}"

    def _attach(self, world: World, volume: Manifest, wanted: Wanted) -> Iterator[str]:
        memory, name, shared = world.surroundings.volumes, name_of(volume), can_be_shared(volume)
        attachments = {get_node(each): each for each in _list_attachments(world, name)}
        busy = any(deleting(each) or not is_attached(each) for each in attachments.values())
        for node, pods in wanted.items():
            if node in attachments:
                if is_attached(attachments[node]) and memory.attaching.pop(name_of(attachments[node]), False):
                    yield self._record(world, pods, NORMAL, ATTACHED, "AttachVolume.Attach succeeded", name, "")
            elif world.store.node(node) is None or (busy and not shared):
                continue
            elif attachments and not shared:
                # kube reports the error once for a volume and a node (MultiAttachErrorReported), not on each round.
                if f"{name}/{node}" not in memory.refused:
                    memory.refused[f"{name}/{node}"] = True
                    others = [pod for other in attachments for pod in wanted.get(other, ())]
                    yield self._refuse(world, name, pods, others)
            else:
                attachment = _create(world, volume, node)
                memory.attaching[name_of(attachment)] = busy = True
                attachments[node] = attachment
                yield f"attaches {name} to {node}"

    def _refuse(self, world: World, volume: str, pods: list[Pod], others: list[Pod]) -> str:
        """Record the Multi-Attach error for pods. Pods of other namespaces are counted, not named."""
        text = ""
        for pod in pods:
            local = sorted(other.name for other in others if other.namespace == pod.namespace)
            foreign = len(others) - len(local)
            why = _ELSEWHERE
            if local:
                why = f"Volume is already used by pod(s) {', '.join(local)}"
                why += f" and {foreign} pod(s) in different namespaces" if foreign else ""
            elif foreign:
                why = f"Volume is already used by {foreign} pod(s) in different namespaces"
            text = self._record(world, [pod], WARNING, FAILED, "Multi-Attach error", volume, why)
        return text

    def _record(self, world: World, pods: list[Pod], type_: str, reason: str, what: str, volume: str, why: str) -> str:
        message = f'{what} for volume "{volume}" {why}'
        for pod in pods:
            self.event(world, type_, reason, "Pod", pod.key, message)
        return message.rstrip()


def _list_attachments(world: World, volume: str) -> list[Manifest]:
    names = world.surroundings.volumes.attachments.get(volume, ())
    found = (world.store.get(ATTACHMENT, "", name) for name in names)
    return [attachment for attachment in found if attachment is not None]


def _create(world: World, volume: Manifest, node: str) -> Manifest:
    driver, handle = find_driver(world.store, volume)
    return world.api.create(
        {
            "apiVersion": "storage.k8s.io/v1",
            "kind": ATTACHMENT,
            "metadata": {"name": name_attachment(driver, handle, node)},
            "spec": {"attacher": driver, "nodeName": node, "source": {"persistentVolumeName": name_of(volume)}},
        }
    )

"""resourcequota-controller: updates the usage of each quota."""

from typing import Any

from scheduler_core.apimachinery.objects.demand import Amount, Amounts, add, amounts, texts
from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apiserver import ADDED, DELETED, WatchEvent, get_kind_by_key
from scheduler_core.apiserver.quota import counts, in_scope, is_terminating, matching, overdue_at, scopes_of, usage
from scheduler_core.base.clock.agenda import SECOND
from scheduler_core.controllers.contract import EVERY_KIND, Controller, World

# resourcequota-controller: counts the usage of a quota when the quota is new or its limits change, and when usage is returned.
#
# Admission charges new usage at once. A pod that has overstayed its deletion stops counting at the next full resync, every 5
# minutes.
# kube: pkg/controller/resourcequota/resource_quota_controller.go, pkg/quota/v1/install/update_filter.go @ v1.34.1

RESYNC = 300 * SECOND
QUOTA = "ResourceQuota"


class ResourceQuotaController(Controller):
    name = "resourcequota-controller"
    watches = (EVERY_KIND,)

    def on_watch(self, world: World, event: WatchEvent) -> None:
        if not world.store.count(QUOTA):
            return
        if event.kind == QUOTA and event.type != DELETED:
            if event.type == ADDED or _hard(event.old) != _hard(event.new):
                self.enqueue(world, f"{event.namespace}/{event.name}")
            return
        if event.namespace and (event.type != ADDED or _is_older(world, event)):
            self._replenish(world, event)

    def on_start(self, world: World) -> None:
        for quota in world.store.list(QUOTA):
            self.enqueue(world, _key(quota))

    def sync(self, world: World, key: str) -> str:
        namespace, _, name = key.partition("/")
        quota = world.store.get(QUOTA, namespace, name)
        if quota is None:
            return ""
        hard = amounts((quota.get("spec") or {}).get("hard"))
        status = quota.get("status") or {}
        before = {name: amount for name, amount in amounts(status.get("used")).items() if name in hard}
        used = {**before, **count_usage(world, quota, hard)}
        if amounts(status.get("hard")) == hard and status.get("used") is not None and before == used:
            return ""
        world.api.patch_status((QUOTA, namespace, name), {"hard": texts(hard), "used": texts(used)})
        listed = ", ".join(f"{each} {used[each].text} of {hard[each].text}" for each in sorted(used))
        return f"counted the usage of {key}: {listed}"

    def _replenish(self, world: World, event: WatchEvent) -> None:
        """Enqueue the quotas to which a deletion or change returns usage, and those that an import did not charge."""
        quotas = [each for each in world.store.list(QUOTA) if each["metadata"]["namespace"] == event.namespace]
        if not quotas:
            return
        wall = world.store.epoch + world.now
        overdue = overdue_at(event.new) if event.kind == "Pod" and event.new is not None else None
        gives = event.type in (ADDED, DELETED) or _gives_back(event, wall)
        kind = get_kind_by_key(event.kind)
        for quota in quotas:
            if not matching(kind, (quota.get("status") or {}).get("hard") or ()):
                continue
            if gives:
                self.enqueue(world, _key(quota))
            if overdue is not None:
                resync = -(-(overdue + 1 - world.store.epoch) // RESYNC) * RESYNC
                self.enqueue_at(world, _key(quota), resync)


def _key(quota: Manifest) -> str:
    return f"{quota['metadata']['namespace']}/{quota['metadata']['name']}"


def _is_older(world: World, event: WatchEvent) -> bool:
    """Return whether an added object has another creation time than now."""
    created = (event.new or {})["metadata"].get("creationTimestamp")
    return bool(created != world.store.timestamp(world.now))


def _hard(quota: Manifest | None) -> Any:
    return amounts(((quota or {}).get("spec") or {}).get("hard"))


def _gives_back(event: WatchEvent, wall: int) -> bool:
    old, new = event.old, event.new
    if old is None or new is None:
        return False
    if event.kind == "Pod":
        if is_terminating(old) != is_terminating(new) or (counts(old, wall) and not counts(new, wall)):
            return True
        return _running_resources(old) != _running_resources(new)
    if event.kind == "Service":
        return bool((old.get("spec") or {}).get("type") != (new.get("spec") or {}).get("type"))
    return event.kind == "PersistentVolumeClaim" and _get_claim_fields(old) != _get_claim_fields(new)


def _running_resources(pod: Manifest) -> list[Any]:
    status = pod.get("status") or {}
    fields = ("containerStatuses", "initContainerStatuses")
    return [each.get("resources") for field in fields for each in status.get(field) or ()]


def _get_claim_fields(claim: Manifest) -> list[Any]:
    """Return the status fields of a claim that affect quotas."""
    status = claim.get("status") or {}
    fields = ("allocatedResources", "currentVolumeAttributesClassName", "modifyVolumeStatus")
    return [status.get(field) for field in fields]


def count_usage(world: World, quota: Manifest, hard: Amounts) -> Amounts:
    """Count the usage of a quota's resources by all objects in its namespace and scopes."""
    namespace, scopes = quota["metadata"]["namespace"], scopes_of(quota)
    wall = world.store.epoch + world.now
    total = dict.fromkeys(hard, Amount(0))
    for kind in map(get_kind_by_key, world.store.kinds()):
        names = matching(kind, hard) if kind.namespaced else ()
        for manifest in world.store.list(kind.key) if names else ():
            if manifest["metadata"].get("namespace") != namespace:
                continue
            if all(in_scope(scope, kind, manifest) for scope in scopes):
                add(total, {n: a for n, a in usage(kind, manifest, wall).items() if n in names})
    return total

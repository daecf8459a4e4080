"""The devices of an attempt in the format of the corpus. Reserve and PreBind really run for the chosen node.

README-dra.md, "Additions to an attempt".
"""

from collections.abc import Mapping

from scheduler_core.apimachinery.dra.claims import KIND
from scheduler_core.apimachinery.objects import Manifest, Pod, is_extended_name
from scheduler_core.controllers.memory.devices import list_named_claims
from scheduler_core.scheduler.core.cycles.scheduling_cycle import SchedulingCycle
from scheduler_core.scheduler.framework import Code, Plugin, PluginStep, Point
from scheduler_core.scheduler.framework.runtime.framework import Framework, Trial
from scheduler_core.scheduler.framework.runtime.points import run_pre_bind, run_reserve, run_unreserve
from scheduler_core.scheduler.plugins.dynamicresources.plugin import (
    DEALLOCATED,
    DELETED,
    UNAVAILABLE,
    DynamicResources,
    may_be_freed,
)
from scheduler_core.scheduler.plugins.dynamicresources.pod_claims import key_of
from scheduler_core.scheduler.plugins.dynamicresources.prebind import ALLOCATIONS, FACTS
from scheduler_core.scheduler.plugins.dynamicresources.prefilter import ALLOCATION, STATUS
from scheduler_core.scheduler.plugins.dynamicresources.state import Facts, NodeAllocation
from scheduler_core.testing.conformance.corpus.observe import Observed, without_empty
from scheduler_core.testing.conformance.corpus.world import CorpusWorld

NAME = "DynamicResources"
NOW = "<now>"


def has_devices(data: Manifest) -> bool:
    """Return whether a scenario uses devices."""
    objects = [*data["objects"], *data["pending"]]
    return any(
        str(o["apiVersion"]).startswith("resource.k8s.io/") or (o.get("spec") or {}).get("resourceClaims")
        for o in objects
    )


def node_allocations(cycle: SchedulingCycle, passing: list[str]) -> Observed:
    """Return, by feasible node, the allocation of each claim."""
    facts: Facts | None = cycle.state.get(FACTS)
    found: Mapping[str, NodeAllocation] = cycle.state.get(ALLOCATIONS) or {}
    if facts is None:
        return {}
    keys = [key_of(claim) for _, claim in facts.store.to_allocate()]
    return {
        node: {
            key: list(result.texts())
            for (key, result) in zip(keys, found[node].results, strict=len(keys) == len(found[node].results))
        }
        for node in passing
        if node in found
    }


def order_dependent(framework: Framework, cycle: SchedulingCycle, verdicts: Mapping[str, Manifest | None]) -> Observed:
    """Return the evaluated nodes whose result may depend on the order of the slices."""
    plugin = _plugin(framework, Point.FILTER)
    out: dict[str, list[str]] = {STATUS: [], ALLOCATION: []}
    if isinstance(plugin, DynamicResources):
        for row, node in enumerate(cycle.nodes.names):
            verdict = verdicts.get(node)
            if node in verdicts and (verdict is None or verdict["plugin"] == NAME):
                found = plugin.order_dependence(cycle.state, cycle.pod, cycle.nodes, row)
                if found:
                    out[found].append(node)
    return without_empty({what: sorted(nodes) for what, nodes in out.items()})


class Claims:
    """The claims of a scenario's pods, with names for the values that kube draws at random."""

    def __init__(self, world: CorpusWorld) -> None:
        self._world = world
        self._shares: dict[str, str] = {}

    def bind(self, framework: Framework, cycle: SchedulingCycle) -> Observed:
        """Reserve and PreBind; Unreserve where one of them fails."""
        pod, created = cycle.pod, self._world.created
        trial = Trial(pod, cycle.nodes, cycle.state, cycle.node)
        failure = self._failure(framework, trial)
        out: Observed = {"bindError": failure, "claims": self._statuses(pod)}
        if failure:
            return out
        if self._world.created > created:
            out["createdClaim"] = self._observe_created(pod)
            status = self._world.pods[pod.key].manifest["status"]["extendedResourceClaimStatus"]
            mappings = sorted(status["requestMappings"], key=lambda mapping: mapping["requestName"])
            out["extendedResourceClaimStatus"] = {**status, "requestMappings": mappings}
            key = f"{pod.namespace}/{status['resourceClaimName']}"
            out["claims"][key] = self._status(key)
        return out

    def _failure(self, framework: Framework, trial: Trial) -> Observed | None:
        step = None
        for point, run in ((Point.RESERVE, run_reserve), (Point.PRE_BIND, self._pre_bind)):
            plugin = _plugin(framework, point)
            if plugin is not None:
                step = run(plugin, trial)
                if not step.status.ok:
                    break
        else:
            return None
        assert step is not None
        unreserve = _plugin(framework, Point.UNRESERVE)
        if unreserve is not None:
            run_unreserve(unreserve, trial)
        said = f'running {step.point.value} plugin "{NAME}": {step.status.message}'
        return {"stage": step.point.value, "plugin": "", "code": "Error", "reasons": [said]}

    def _pre_bind(self, plugin: Plugin, trial: Trial) -> PluginStep:
        """Until it does not want to be asked again."""
        while (step := run_pre_bind(plugin, trial)).status.code is Code.WAIT:
            self._world.now += step.timeout
        return step

    def after_post_filter(self, cycle: SchedulingCycle) -> Observed:
        """Return the results of the plugin's PostFilter, if it ran."""
        step = next((s for s in cycle.steps if s.point is Point.POST_FILTER and s.plugin == NAME), None)
        facts: Facts | None = cycle.state.get(FACTS)
        if step is None or not self._concerns(cycle.pod):
            return {}
        store = facts.store if facts is not None else None
        unavailable = cycle.state.notes.get(UNAVAILABLE) or {}
        free = [
            key_of(store.claims[index])
            for index in unavailable
            if store is not None and may_be_freed(store.claims[index], cycle.pod)
        ]
        status = step.status
        deallocated = free[:1] if status.reasons == DEALLOCATED.reasons else []
        out: Observed = {"code": status.code.kube_name, "reasons": list(status.reasons)}
        out |= {"deallocatable": sorted(free), "deallocated": deallocated}
        if status.reasons == DELETED.reasons and store is not None and store.extended is not None:
            out["deleted"] = [key_of(store.extended)]
        return {"draPostFilter": without_empty(out), "claims": {key: self._status(key) for key in deallocated}}

    def released(self, released: Mapping[str, Manifest | None]) -> Observed:
        return {key: None if status is None else self._rename(status) for key, status in released.items()}

    def _concerns(self, pod: Pod) -> bool:
        gate = self._world.features.dra_extended_resource
        extended = gate and any(amount and is_extended_name(name) for name, amount in pod.spec.requests.scalar)
        return bool(pod.spec.resource_claims) or extended

    # Statuses

    def _statuses(self, pod: Pod) -> Observed:
        return {key: self._status(key) for key in list_named_claims(pod)}

    def all(self) -> Observed:
        """Return the status of every claim, by key."""
        metadata = [claim["metadata"] for claim in self._world.list(KIND)]
        return {key: self._status(key) for key in (f"{each['namespace']}/{each['name']}" for each in metadata)}

    def _status(self, key: str) -> Manifest | None:
        namespace, _, name = key.partition("/")
        claim = self._world.get(KIND, namespace, name)
        return None if claim is None else self._rename(claim.get("status") or {})

    def _rename(self, status: Manifest) -> Manifest:
        out = without_empty(status)
        allocation = out.get("allocation")
        if allocation is None:
            return out
        allocation = dict(allocation)
        given = allocation.get("allocationTimestamp")
        if given is not None and given not in self._world.timestamps:
            allocation["allocationTimestamp"] = NOW
        devices = dict(allocation.get("devices") or {})
        if "results" in devices:
            devices["results"] = [self._result(result) for result in devices["results"]]
        allocation["devices"] = devices
        return {**out, "allocation": allocation}

    def _result(self, result: Manifest) -> Manifest:
        if "shareID" not in result:
            return result
        name = self._shares.setdefault(result["shareID"], f"share-{len(self._shares) + 1}")
        return {**result, "shareID": name}

    def _observe_created(self, pod: Pod) -> Observed:
        name = self._world.pods[pod.key].manifest["status"]["extendedResourceClaimStatus"]["resourceClaimName"]
        claim = self._world.get(KIND, pod.namespace, name)
        assert claim is not None
        metadata = claim["metadata"]
        fields = ("annotations", "finalizers", "generateName", "ownerReferences")
        return {
            **{field: metadata[field] for field in fields},
            "name": f"{pod.namespace}/{name}",
            "spec": claim["spec"],
        }


def _plugin(framework: Framework, point: Point) -> Plugin | None:
    return next((plugin for plugin in framework.at(point) if plugin.name == NAME), None)

"""Sources of each number and each rule of a pod: its containers, its template, admission, or defaulting.

The API server records what it writes into new objects. Objects of a dump have no such record, so the rules of defaulting and admission
are inferred from the stored objects.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from scheduler_core.analysis.explain.explanation import Fact, GivenReason, Role
from scheduler_core.analysis.fixes.kubectl import workload_of
from scheduler_core.apimachinery.objects import Manifest, Pod, controller_of, nanos
from scheduler_core.apimachinery.objects.resources import (
    EPHEMERAL_STORAGE,
    MEMORY,
    Resources,
    is_sidecar,
    list_resized,
    pod_level_requests,
)
from scheduler_core.apiserver.admission.plugins.limit_ranger import ANNOTATION, LimitRanger
from scheduler_core.apiserver.rewriting import path_below
from scheduler_core.controllers.workloads.daemonsets.controller import allows_surge
from scheduler_core.controllers.workloads.deployments.bounds import is_rolling, max_surge, max_unavailable
from scheduler_core.controllers.workloads.owners import Owner
from scheduler_core.world.simulation import Simulation

SHOWN = 3
Spec = Mapping[str, Any]
_SELECTOR_OF_NAMESPACE = "scheduler.alpha.kubernetes.io/node-selector"
_SPREAD, _SELECTION = "PodTopologySpread", "NodeAffinity"
_MUTATING = ("MutatingAdmissionPolicy", "MutatingWebhookConfiguration")
_COMPARED = ("nodeSelector", "affinity", "topologySpreadConstraints", "schedulerName", "runtimeClassName")


def trace_pod(world: Simulation, pod: Pod, reasons: Iterable[GivenReason], preempts: bool = False) -> list[Fact]:
    """Return the sources behind the reasons: requests, selectors, constraints, and the priority if it matters."""
    reasons = list(reasons)
    resources = dict.fromkeys(str(each.evidence["resource"]) for each in reasons if "resource" in each.evidence)
    plugins = {each.plugin for each in reasons}
    found = [fact for resource in resources for fact in trace_requests(world, pod, resource)]
    if _SPREAD in plugins and not pod.spec.topology_spread:
        keys = (c["topologyKey"] for each in reasons for c in each.evidence.get("constraints") or ())
        found += [_fact("DefaultSpread", topologyKey=key) for key in dict.fromkeys(keys)]
    if _SELECTION in plugins:
        found += _trace_selector(world, pod)
    if preempts or pod.priority:
        found += _trace_priority(world, pod)
    found += list_tiny_amounts(pod)
    newer = compare_template(world, pod) if reasons else None
    if newer is None:
        return found
    owner, stays = template_of(world, pod), []
    if owner is not None and owner[0]["kind"] == "StatefulSet":
        if owner[0]["spec"].get("podManagementPolicy") != "Parallel":
            stays = [Fact(Role.NOTES, "OldRevisionStays", {"owner": owner[0]["metadata"]["name"], "pod": pod.key})]
    return [*found, newer, *stays]


def trace_requests(world: Simulation, pod: Pod, resource: str) -> list[Fact]:
    """Return the sources of a pod's request: its containers, their defaults, the overhead, and a resize in progress."""
    spec = pod.manifest["spec"]
    parts = list_parts(spec, resource)
    found = []
    if len(parts) > 1 or (parts and parts[0]["kind"] != "container"):
        found.append(
            _fact("Containers", pod=pod.key, resource=resource, amount=pod.requests.get(resource), parts=parts)
        )
    found += _trace_defaults(world, pod, resource)
    if resource in (spec.get("overhead") or {}):
        amount = read_amount(resource, spec["overhead"][resource])
        found.append(_fact("Overhead", runtimeClass=spec.get("runtimeClassName"), resource=resource, amount=amount))
    return found + trace_resize(pod, resource)


AUTOSCALED = "vpaUpdates"  # the annotation of a pod whose requests the Vertical Pod Autoscaler has set


def list_parts(spec: Spec, resource: str) -> list[dict[str, Any]]:
    """List the containers whose requests make up a pod's request, as the scheduler counts them: `kind`, `name` and `amount`."""
    overhead = [_part("overhead", "", resource, spec.get("overhead") or {})]
    if resource in pod_level_requests(spec):
        whole = [_part("pod", "", resource, pod_level_requests(spec))]
        return [each for each in (*whole, *overhead) if each["amount"]]
    sidecars: list[dict[str, Any]] = []
    highest: list[dict[str, Any]] = []
    for container in spec.get("initContainers") or ():
        sidecar = is_sidecar(container)
        part = _part("sidecar" if sidecar else "init", container.get("name"), resource, requests_of(container))
        if sidecar:
            sidecars.append(part)
            continue
        highest = max(highest, [*sidecars, part], key=_sum)
    running = [_part("container", c.get("name"), resource, requests_of(c)) for c in spec.get("containers") or ()]
    chosen = max([*sidecars, *running], highest, key=_sum)
    return [each for each in (*chosen, *overhead) if each["amount"]]


def _sum(parts: Iterable[Mapping[str, Any]]) -> int:
    return sum(each["amount"] for each in parts)


def _part(kind: str, name: Any, resource: str, amounts: Mapping[str, Any]) -> dict[str, Any]:
    return {"kind": kind, "name": str(name or ""), "amount": read_amount(resource, amounts.get(resource) or 0)}


def requests_of(container: Spec) -> Mapping[str, Any]:
    return (container.get("resources") or {}).get("requests") or {}


def read_amount(resource: str, quantity: Any) -> int:
    """Read a quantity in the unit in which the scheduler counts the resource."""
    return Resources.of_nanos({resource: nanos(quantity)}).get(resource)


def trace_resize(pod: Pod, resource: str) -> list[Fact]:
    """Return the pending resizes of a pod's containers, for which the larger amount counts."""
    status, found = pod.manifest.get("status") or {}, []
    pending = pod.condition("PodResizePending") or pod.condition("PodResizeInProgress") or {}
    state = str(pending.get("reason") or ("InProgress" if pending else "Unknown"))
    for container, *lists in list_resized(pod.manifest["spec"], status, "requests"):
        amounts = [read_amount(resource, each.get(resource) or 0) for each in lists]
        asked = read_amount(resource, requests_of(container).get(resource) or 0)
        values = {"pod": pod.key, "node": pod.node_name, "resource": resource, "to": asked, "amount": max(amounts)}
        if state == "Infeasible" and asked not in amounts:
            found.append(_fact("ResizeInfeasible", **values))
        elif len(set(amounts)) > 1:
            found.append(_fact("Resize", **values, container=container["name"], allocated=amounts[-1], reason=state))
    return found


# Rollouts


def trace_surge(world: Simulation, newer: Manifest, holders: Iterable[Pod]) -> Iterator[Fact]:
    """Yield the holders that a rollout keeps until a new pod is ready. `newer`: the new pod, or the ReplicaSet that lacks it."""
    root = workload_of(world.store, newer)
    rule = "" if root is None else _describe_surge(root)
    if root is None or not rule:
        return
    revision = _get_revision(newer)
    old = [each.key for each in holders if _get_revision(each.manifest) not in ("", revision)]
    old = [
        key
        for key in old
        if (pod := world.store.pod_at(key)) is not None and workload_of(world.store, pod.manifest) is root
    ]
    if old and revision:
        values = {"kind": root["kind"], "owner": root["metadata"]["name"], "pods": old[:SHOWN], "count": len(old)}
        yield Fact(Role.NOTES, "KeptForSurge", {**values, "rule": rule})


def _describe_surge(root: Manifest) -> str:
    """Return the strategy by which a workload keeps all old pods until new ones are ready, or ""."""
    spec = root.get("spec") or {}
    if root["kind"] == "Deployment" and is_rolling(spec) and not max_unavailable(spec):
        return f"maxSurge {max_surge(spec)}, maxUnavailable 0"
    if root["kind"] == "DaemonSet" and allows_surge(owner := Owner.of(root)):
        return f"maxSurge {owner.spec['updateStrategy']['rollingUpdate']['maxSurge']}"
    return ""


def _get_revision(made: Manifest) -> str:
    labels = made["metadata"].get("labels") or {}
    return str(labels.get("controller-revision-hash") or labels.get("pod-template-hash") or "")


# Defaults of containers: of a LimitRange, or of a limit without a request


def template_of(world: Simulation, pod: Pod) -> tuple[Manifest, Spec] | None:
    """Return the object that controls a pod, and its template's spec. For a Deployment's pod, return the Deployment."""
    manifest = workload_of(world.store, pod.manifest)
    return None if manifest is None else (manifest, manifest["spec"]["template"].get("spec") or {})


def _trace_defaults(world: Simulation, pod: Pod, resource: str) -> Iterator[Fact]:
    recorded = {each["path"]: each for each in world.store.list_written(pod.uid)}
    if recorded:
        yield from _read_defaults(world, pod, resource, recorded)
        return
    owner = template_of(world, pod)
    written = None if owner is None else {c.get("name"): c for c in _containers(owner[1])}
    noted = pod.annotations.get(ANNOTATION, "")
    for container in _containers(pod.manifest["spec"]):
        name, asked = container.get("name"), requests_of(container)
        source = None if written is None else written.get(name)
        if resource not in asked or (source is not None and resource in requests_of(source)):
            continue
        resources = (source if source is not None else container).get("resources") or {}
        values = {"container": name, "resource": resource, "amount": read_amount(resource, asked[resource])}
        if source is not None and resource in (resources.get("limits") or {}):
            yield _fact("RequestFromLimit", **values)
        elif source is not None or _is_noted(noted, str(name), resource):
            yield from _trace_limit_range(world, pod.namespace, values)


def _read_defaults(world: Simulation, pod: Pod, resource: str, recorded: Mapping[str, Manifest]) -> Iterator[Fact]:
    """Yield the sources of the requests that defaulting or admission set, from the API server's records."""
    for field in ("initContainers", "containers"):
        for number, container in enumerate(pod.manifest["spec"].get(field) or ()):
            asked = requests_of(container).get(resource)
            path = path_below(f"spec.{field}[{number}].resources.requests", resource)
            entry = recorded.get(path)
            if entry is None or entry["value"] != asked:
                continue
            values = {"container": container["name"], "resource": resource, "amount": read_amount(resource, asked)}
            if entry["by"] == LimitRanger.name:
                yield from _trace_limit_range(world, pod.namespace, values)
            elif resource in ((container.get("resources") or {}).get("limits") or {}):
                yield _fact("RequestFromLimit", **values)


def _is_noted(annotation: str, container: str, resource: str) -> bool:
    """Return whether LimitRanger's annotation shows that LimitRanger set a resource of a container."""
    clauses = (each.rpartition(" container ") for each in annotation.partition(": ")[2].split("; "))
    return any(name == container and resource in what.partition(" request")[0].split(", ") for what, _, name in clauses)


def _trace_limit_range(world: Simulation, namespace: str, values: Mapping[str, Any]) -> Iterator[Fact]:
    resource = str(values["resource"])
    for manifest in world.store.list("LimitRange"):
        items = (manifest.get("spec") or {}).get("limits") or ()
        for item in items if manifest["metadata"].get("namespace") == namespace else ():
            given = (item.get("defaultRequest") or {}).get(resource)
            if item.get("type") != "Container" or given is None:
                continue
            if read_amount(resource, given) == values["amount"]:
                same = [field for field in ("max", "default", "min") if (item.get(field) or {}).get(resource) == given]
                field = next(iter(same), "defaultRequest")
                yield _fact("LimitRange", limitRange=manifest["metadata"]["name"], field=field, **values)
                return


def _containers(spec: Spec) -> list[Spec]:
    return [*(spec.get("initContainers") or ()), *(spec.get("containers") or ())]


def list_tiny_amounts(pod: Pod) -> Iterator[Fact]:
    """Yield amounts of bytes with the suffix m, which means thousandths of a byte."""
    for container in _containers(pod.manifest["spec"]):
        for field in ("limits", "requests"):
            for resource, quantity in ((container.get("resources") or {}).get(field) or {}).items():
                if resource in (MEMORY, EPHEMERAL_STORAGE) and str(quantity).endswith("m"):
                    values = {
                        "container": container.get("name"),
                        "field": field,
                        "name": resource,
                        "text": str(quantity),
                    }
                    yield _fact("InThousandths", **values, better=f"{str(quantity)[:-1]}Mi")
                    return


# Rules


def _trace_priority(world: Simulation, pod: Pod) -> Iterator[Fact]:
    name = pod.manifest["spec"].get("priorityClassName")
    if name:
        found = world.store.get("PriorityClass", "", name)
        if found is not None and found.get("value") != pod.priority:
            yield _fact(
                "PriorityIsOld", pod=pod.key, priority=pod.priority, priorityClass=name, value=found.get("value")
            )
            return
        if found is None or not found.get("globalDefault"):
            yield _fact("Priority", priority=pod.priority, priorityClass=name)
        else:
            yield _fact("DefaultPriority", priority=pod.priority, priorityClass=name)


def _trace_selector(world: Simulation, pod: Pod) -> Iterator[Fact]:
    """Yield the parts of a pod's nodeSelector that its namespace or its RuntimeClass added."""
    chosen = pod.spec.node_selector or {}
    namespace = world.store.get("Namespace", "", pod.namespace)
    annotations = ((namespace or {}).get("metadata") or {}).get("annotations") or {}
    pairs = [each.strip().partition("=") for each in annotations.get(_SELECTOR_OF_NAMESPACE, "").split(",")]
    added = {key: value for key, _, value in pairs if key and chosen.get(key) == value}
    runtime_class = pod.manifest["spec"].get("runtimeClassName")
    found = world.store.get("RuntimeClass", "", runtime_class) if runtime_class else None
    of_class = ((found or {}).get("scheduling") or {}).get("nodeSelector") or {}
    owner = template_of(world, pod)
    known = {**added, **of_class, **((owner[1].get("nodeSelector") or {}) if owner is not None else chosen)}
    if owner is not None and (rest := [f"{key}={chosen[key]}" for key in sorted(chosen.keys() - known.keys())]):
        by = [f"{kind} {each['metadata']['name']}" for kind in _MUTATING for each in world.store.list(kind)]
        values = {"kind": owner[0]["kind"], "owner": owner[0]["metadata"]["name"], "labels": rest}
        yield _fact("AdmissionSelector", **values, by=by or ["-"])
    for key, value in added.items():
        yield _fact("NamespaceSelector", namespace=pod.namespace, label=f"{key}={value}")
    for key, value in of_class.items():
        if chosen.get(key) == value:
            yield _fact("RuntimeClassSelector", runtimeClass=runtime_class, label=f"{key}={value}")


def _is_changed(world: Simulation, pod: Pod, template: Spec) -> bool:
    """Return whether admission changed a pod: its own revision has the same requests as the newest template."""
    owner = controller_of(pod.manifest) or {}
    found = world.store.get(str(owner.get("kind")), pod.namespace, str(owner.get("name"))) or {}
    own = ((found.get("spec") or {}).get("template") or {}).get("spec") or {}
    alike = [requests_of(each) for each in _containers(own)] == [requests_of(each) for each in _containers(template)]
    return AUTOSCALED in pod.annotations or (owner.get("kind") == "ReplicaSet" and alike)


def compare_template(world: Simulation, pod: Pod) -> Fact | None:
    """Return a fact about a template whose requests differ from those of a pod created from it, or None."""
    owner = template_of(world, pod)
    if owner is None:
        return None
    manifest, template = owner
    values = {"pod": pod.key, "kind": manifest["kind"], "owner": manifest["metadata"]["name"]}
    of_pod = {c.get("name"): c for c in _containers(pod.manifest["spec"])}
    for container in _containers(template):
        if (now := of_pod.get(container.get("name"))) is None:
            continue
        for resource, quantity in requests_of(container).items():
            before, after = (
                read_amount(resource, requests_of(now).get(resource) or 0),
                read_amount(resource, quantity),
            )
            if before != after:
                changed = {"resource": resource, "from": before, "to": after, "container": container["name"]}
                code = "ChangedWhenCreated" if _is_changed(world, pod, template) else "TemplateIsNewer"
                return _fact(code, **values, **changed)
    spec = pod.manifest["spec"]
    other = next((field for field in _COMPARED if field in template and template[field] != spec.get(field)), "")
    return _fact("TemplateDiffers", **values, field=other) if other in ("nodeSelector", "schedulerName") else None


def _fact(code: str, **values: Any) -> Fact:
    return Fact(Role.PROVENANCE, code, values)

"""Actions on a node's capacity, and on a pod's requests, priority, and gates. Immutable fields are changed by recreating the pod."""

from typing import Any

from playground.workbench.actions.contract import Choices, Code, Subject, Values, Wrong, containers, gettext_noop
from scheduler_core.world.commands import ApplyObjects, PatchObject

CPU, MEMORY, PODS = "cpu", "memory", "pods"
_SERVERS = ("status",)


def recreate_pod(subject: Subject, spec: dict[str, Any], *more: dict[str, Any]) -> ApplyObjects:
    """Delete the pod and create it with another spec, not bound to a node. `more` are additional objects."""
    body = {name: value for name, value in subject.manifest.items() if name not in _SERVERS}
    fresh = {name: value for name, value in spec.items() if name != "nodeName"}
    return ApplyObjects((*more, {**body, "spec": fresh}), force=True)


# A node's resources


def _resize_node(subject: Subject, values: Values) -> PatchObject:
    """Set allocatable and capacity to the same amounts. Reserved resources are not modeled here."""
    amounts = {name: values[name] for name in (CPU, MEMORY, PODS) if values[name]} | (values["others"] or {})
    if not amounts:
        raise Wrong(CPU, gettext_noop("Write at least one amount, such as 4"))
    return PatchObject(subject.ref, {"status": {"allocatable": amounts, "capacity": amounts}}, subresource="status")


# A pod's requests


def _containers(subject: Subject) -> Choices:
    return [(name, name) for each in containers(subject) if (name := str(each.get("name")))]


def _requests(name: str) -> Any:
    def initial(subject: Subject) -> Any:
        first = next(iter(containers(subject)), {})
        return ((first.get("resources") or {}).get("requests") or {}).get(name)

    return initial


def _resize_pod(subject: Subject, values: Values) -> PatchObject | ApplyObjects:
    """Resize in place by the subresource resize, as kubectl patch --subresource resize does, or recreate the pod."""
    amounts = {name: values[name] or None for name in (CPU, MEMORY)}
    if not values["recreate"]:
        given = {name: value for name, value in amounts.items() if value is not None}
        if not given:
            raise Wrong(CPU, gettext_noop("Write at least one amount, such as 500m"))
        container = {"name": values["container"], "resources": {"requests": given}}
        return PatchObject(subject.ref, {"spec": {"containers": [container]}}, "strategic", "resize")
    spec = subject.part("spec") or {}
    changed = [
        _with_requests(each, amounts) if each.get("name") == values["container"] else each
        for each in containers(subject)
    ]
    return recreate_pod(subject, {**spec, "containers": changed})


def _with_requests(container: dict[str, Any], amounts: dict[str, Any]) -> dict[str, Any]:
    resources = dict(container.get("resources") or {})
    requests = {**(resources.get("requests") or {}), **amounts}
    resources["requests"] = {name: value for name, value in requests.items() if value is not None}
    return {**container, "resources": resources}


# A pod's priority and gates


def _priority(subject: Subject, values: Values) -> ApplyObjects:
    """Set the priority. A number without a PriorityClass gets a new one."""
    wanted, classes = values["priority"].strip(), dict(subject.classes)
    spec = {
        name: value
        for name, value in (subject.part("spec") or {}).items()
        if name not in ("priority", "preemptionPolicy", "priorityClassName")
    }
    if wanted in classes:
        return recreate_pod(subject, {**spec, "priorityClassName": wanted})
    try:
        number = int(wanted)
    except ValueError:
        said = gettext_noop("No such PriorityClass. Write a number, or the name of an existing one.")
        raise Wrong("priority", said) from None
    if known := next((name for name, value in classes.items() if value == number), ""):
        return recreate_pod(subject, {**spec, "priorityClassName": known})
    name = f"priority-{number}" if number >= 0 else f"priority-minus-{-number}"
    new = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}, "value": number}
    return recreate_pod(subject, {**spec, "priorityClassName": name}, new)


def _gates_of(subject: Subject) -> list[str]:
    return [str(each.get("name")) for each in subject.part("spec", "schedulingGates") or ()]


def _gate_choices(subject: Subject) -> Choices:
    some = [(name, name) for name in _gates_of(subject)]
    return [("", gettext_noop("none")), *([("*", gettext_noop("all gates"))] if some else []), *some]


def _gates(subject: Subject, values: Values) -> PatchObject | ApplyObjects:
    gone, new = values["remove"], values["add"]
    kept = [name for name in _gates_of(subject) if gone not in ("*", name)]
    if not gone and not new:
        raise Wrong("add", gettext_noop("Choose a gate to remove, or write one to add."))
    wanted = [{"name": name} for name in (*kept, *([new] if new else []))]
    if new:
        return recreate_pod(subject, {**(subject.part("spec") or {}), "schedulingGates": wanted})
    return PatchObject(subject.ref, {"spec": {"schedulingGates": wanted or None}})


CODE = {
    "resize": Code(_resize_node),
    "resize-pod": Code(
        _resize_pod, initial={name: _requests(name) for name in (CPU, MEMORY)}, choices={"container": _containers}
    ),
    "priority": Code(_priority, choices={"priority": lambda subject: [(name, name) for name, _ in subject.classes]}),
    "gates": Code(_gates, choices={"remove": _gate_choices}),
}

"""The evidence for a question: nodes and pods as manifests have them, without anything that the scheduler has decided."""

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

import yaml

from playground.lessons import Card
from playground.lessons.named import key_of, short
from playground.presenters.scene import scheduler_of, table_of
from scheduler_core.world.readonly import WorldView, format_quantity

MOST_NODES, MOST_PODS = 12, 3
# Labels that each node has, and that no lesson asks about.
DEFAULTED = ("default-scheduler", "PreemptLowerPriority")
COMMON = ("kubernetes.io/hostname", "kubernetes.io/os", "kubernetes.io/arch", "node.kubernetes.io/instance-type")
TELLING = ("priority", "priorityClassName", "preemptionPolicy", "schedulerName", "nodeSelector", "nodeName", "affinity",
           "tolerations", "topologySpreadConstraints", "schedulingGates", "overhead", "resourceClaims", "volumes")  # fmt: skip


class Amount(TypedDict):
    used: str
    of: str
    share: int


class GivenNode(TypedDict):
    name: str
    labels: list[str]
    taints: list[str]
    amounts: list[Amount]
    pods: list[str]


class GivenPod(TypedDict):
    name: str
    text: str


class Given(TypedDict):
    """`resources` names the columns of amounts; `more` counts the nodes that are left out."""

    nodes: list[GivenNode]
    resources: list[str]
    more: int
    labelled: bool
    tainted: bool
    pods: list[GivenPod]


def list_named_pods(card: Card) -> tuple[str, ...]:
    """The pods that a card's question and condition name, those of the question first."""
    answer = card.question.answer.values() if card.question is not None else ()
    texts = [each for value in answer for each in (value if isinstance(value, list | tuple) else [value])]
    return tuple(key_of(str(each)) for each in [*texts, card.pod, card.when.get("pod", "")] if each)


def list_given(sim: WorldView, named: Sequence[str]) -> Given:
    """The nodes, and the pods that are asked about, then those that wait."""
    nodes = sim.store.list("Node")
    table = table_of(scheduler_of(sim))
    resources = [name for name in ("cpu", "memory") if name in table.resources.names]
    extra = {name for node in nodes for name in node.get("status", {}).get("allocatable", {}) if "/" in name}
    resources += [name for name in sorted(extra) if name in table.resources.names][:2]
    rows = [_node(sim, node, resources) for node in nodes[:MOST_NODES]]
    pods = {key: pod for pod in sim.store.list("Pod") if (key := _key(pod))}
    waiting = [key for key, pod in pods.items() if not pod["spec"].get("nodeName")]
    wanted = [key for key in dict.fromkeys([*named, *waiting]) if key in pods]
    return {
        "nodes": rows,
        "resources": resources,
        "more": max(len(nodes) - MOST_NODES, 0),
        "labelled": any(row["labels"] for row in rows),
        "tainted": any(row["taints"] for row in rows),
        "pods": [{"name": short(key), "text": format_deciding(pods[key])} for key in wanted[:MOST_PODS]],
    }


def _key(pod: Mapping[str, Any]) -> str:
    return f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"


def _node(sim: WorldView, node: Mapping[str, Any], resources: Sequence[str]) -> GivenNode:
    name, spec = node["metadata"]["name"], node.get("spec", {})
    table = table_of(scheduler_of(sim))
    row = table.row(name)
    running = [pod for pod in sim.store.list("Pod") if pod["spec"].get("nodeName") == name]
    closed = ["unschedulable"] if spec.get("unschedulable") else []
    return {
        "name": name,
        "labels": [
            f"{key}={value}" for key, value in sorted(node["metadata"].get("labels", {}).items()) if key not in COMMON
        ],
        "taints": closed + [f"{each['key']}={each.get('value', '')}:{each['effect']}" for each in spec.get("taints", ())],
        "amounts": [] if row is None else [_amount(table, row, resource) for resource in resources],
        "pods": [_pod(sim, pod) for pod in running[:8]],
    }  # fmt: skip


def _amount(table: Any, row: int, resource: str) -> Amount:
    column = table.resources.names.index(resource)
    used, of = int(table.requested[row][column]), int(table.allocatable[row][column])
    return {
        "used": _written(used, resource),
        "of": _written(of, resource),
        "share": round(100 * used / of) if of else 0,
    }


def _written(number: int, resource: str) -> str:
    return format_quantity(f"{number}m") if resource == "cpu" else format_quantity(number, binary=resource == "memory")


def _pod(sim: WorldView, pod: Mapping[str, Any]) -> str:
    """A running pod with what questions turn on: its labels, priority, and host ports."""
    spec, meta = pod["spec"], pod["metadata"]
    ports = [
        port["hostPort"] for each in spec.get("containers", ()) for port in each.get("ports", ()) if "hostPort" in port
    ]
    said = [f"{key}={value}" for key, value in sorted(meta.get("labels", {}).items())][:3]
    said += [f"priority: {spec['priority']}"] if spec.get("priority") else []
    said += [f"hostPort: {port}" for port in ports]
    said += _uses(sim, pod)
    name = short(_key(pod))
    return f"{name} ({', '.join(said)})" if said else name


def _uses(sim: WorldView, pod: Mapping[str, Any]) -> list[str]:
    """The measured usage of a pod by now, if a lesson sets it, and its request for the same resource."""
    asked = pod["spec"].get("containers", ({},))[0].get("resources", {}).get("requests", {})
    found: dict[str, str] = {}
    inputs = sim.surroundings.inputs
    for entry, written in zip(inputs.usage, inputs.entries, strict=True):
        if entry.pod == _key(pod) and entry.at <= sim.now:
            found |= {
                name: f"usage.{name}: {amount}, requests.{name}: {asked.get(name, 0)}"
                for name, amount in written.items()
            }
    return [text for name, text in found.items() if name not in ("at", "pod")]


def format_deciding(pod: Mapping[str, Any]) -> str:
    """The fields of a pod that decide, as YAML; without those that admission sets for every pod."""
    spec = {field: value for field in TELLING if (value := pod["spec"].get(field)) and value not in DEFAULTED}
    tolerated = [each for each in spec.pop("tolerations", ()) if each.get("tolerationSeconds") != 300]
    asked = [
        {name: value for name in ("requests", "ports") if (value := {**each, **each.get("resources", {})}.get(name))}
        for each in pod["spec"].get("containers", ())
    ]
    shown = {
        "labels": dict(pod["metadata"].get("labels", {})),
        **spec,
        "tolerations": tolerated,
        "containers": [each for each in asked if each],
    }
    return str(yaml.safe_dump({name: value for name, value in shown.items() if value}, sort_keys=False))

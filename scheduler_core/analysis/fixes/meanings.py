"""Meanings of other components' messages whose causes no object of the cluster shows: a table of patterns, and the commands that show the
causes.

kube: pkg/kubelet/{events,images,kuberuntime,lifecycle,prober}, pkg/volume/util/operationexecutor @ v1.34.1
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from scheduler_core.analysis.fixes.admission import (
    CONTROLLERS,
    CREATING,
    EXCEEDED,
    QUOTA,
    SCHEDULER,
    ask_api_server,
    find_absent_quota,
    find_foreign,
    find_refusal,
    find_stopped,
    pod_of,
)
from scheduler_core.analysis.fixes.shell import WEBHOOKS
from scheduler_core.apimachinery.objects import (
    LabelSelector,
    Manifest,
    Node,
    Pod,
    controller_of,
    list_container_statuses,
)
from scheduler_core.apimachinery.objects.storage.volumes import CLAIM, SELECTED_NODE, volumes_of
from scheduler_core.apiserver.kube_events import WARNING, KubeEvent
from scheduler_core.controllers.kubelet.pods import is_overdue
from scheduler_core.controllers.volumes.claims import PROVISIONER
from scheduler_core.scheduler.plugins.helper.arguments import likeness
from scheduler_core.world.simulation import Simulation

PLAIN = ("ContainerCreating", "PodInitializing", "Completed")  # reasons of healthy containers
_OTHERS = ("other", "third")  # groups with the first one's value in another form of the message
MOST = 2
WRITTEN = "WrittenByOther"
ELSEWHERE = ("", "", "")
_ALIKE = 0.7  # likeness from which one name may stand for the other
Events = dict[tuple[str, str, str], dict[tuple[str, ...], KubeEvent]]
_OWNERS = ("Deployment", *CREATING, "CronJob")
_MADE_FOR = ("svccontroller.k3s.cattle.io/svcname",)  # labels with which a tool names the object behind a workload
_TOOLS = {  # by a label or annotation of the objects they apply
    "argocd.argoproj.io/tracking-id": "Argo CD",
    "helm.toolkit.fluxcd.io/name": "Flux",
    "kustomize.toolkit.fluxcd.io/name": "Flux",
    "meta.helm.sh/release-name": "Helm",
}
_CUTOFF = -10  # kube: cluster-autoscaler/config/autoscaling_options.go, ExpendablePodsPriorityCutoff
_SKIPS = re.compile(r"expendable-pods-priority-cutoff=(-?\d+)")
_EVICTED = "Evicted"
_KILLED, _AT_LIMIT = 137, "OOMKilled"  # the exit code of SIGKILL; the reason where a container is at its memory limit
_OF_PROGRAM = re.compile(r"\S+: (?:Completed|Error|OOMKilled): ")  # prefix of a container's termination message
_OF_NODE = ("configMap", "downwardAPI", "emptyDir", "hostPath", "projected", "secret")  # kinds of volumes
PULLING, _PULLED = "Pulling", "Pulled"
_TWICE, _SPACE = "also serves", "svccontroller.k3s.cattle.io/svcnamespace"
_INVALID = " is invalid: "
AUTOSCALERS = re.compile(r"autoscaler|karpenter")  # in an Event's reporter


@dataclass(frozen=True, slots=True)
class Meaning:
    """A row of the table with the matched values."""

    code: str
    values: Mapping[str, str]
    show: str  # a command, "" none
    silent: bool
    weak: bool = False


@cache
def _read_table() -> tuple[tuple[str, re.Pattern[str], Mapping[str, Any]], ...]:
    table: dict[str, dict[str, Any]] = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
    return tuple((code, re.compile(row["words"]), row) for code, row in table.items())


def find_meanings(texts: Iterable[str], subject: Manifest, node: str = "") -> list[Meaning]:
    """Return the meanings of texts about a subject: of each text the first row that matches, without repetitions."""
    meta, found = subject["metadata"], dict[str, Meaning]()
    known = {"name": meta.get("name", ""), "namespace": meta.get("namespace", ""), "node": node or "-"}
    for text in texts:
        for code, pattern, row in _read_table():
            match = pattern.search(text)
            if match is None or (row.get("outside") and _OF_PROGRAM.match(text)):
                continue
            groups = {name: (value or "").rstrip(". ") for name, value in match.groupdict().items()}
            names, show = [*pattern.groupindex], row.get("show", "")
            if names and not groups[names[0]]:
                groups[names[0]] = next((groups[name] for name in _OTHERS if groups.get(name)), "-")
            values = {**known, **groups, **{name: _look_up(subject, path) for name, path in row.get("of", {}).items()}}
            is_shown = all(values.get(name) not in ("", "-") for name in re.findall(r"\{(\w+)\}", show))
            given = show.format(**values) + _name_container(show, subject, text) if is_shown else ""
            found.setdefault(code, Meaning(code, values, given, row.get("silent", False), row.get("weak", False)))
            break
    strong = [each for each in found.values() if not each.weak]
    return (strong or [*found.values()])[:MOST]


def _name_container(show: str, subject: Manifest, text: str) -> str:
    """Return the option of kubectl logs for the container in a text, if the pod has several."""
    spec = subject.get("spec") or {} if show.startswith("kubectl logs {name}") and " -c " not in show else {}
    given = (each.get("name") for part in ("initContainers", "containers") for each in spec.get(part) or ())
    names = [str(name) for name in given if name]
    named = (name for name in names if re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text))
    return f" -c {name}" if len(names) > 1 and (name := next(named, "")) else ""


def _look_up(found: Any, path: str) -> str:
    """Return the value at a path, or "-". Lists on the path yield the values of all elements."""
    part, _, rest = path.partition(".")
    if isinstance(found, list):
        return ", ".join(dict.fromkeys(text for each in found if (text := _look_up(each, path)) != "-")) or "-"
    found = (found or {}).get(part)
    ends = ", ".join(map(str, found)) if isinstance(found, list) else str(found)
    return "-" if found is None else _look_up(found, rest) if rest else ends


def list_status_texts(pod: Manifest) -> Iterator[str]:
    """Yield the messages and reasons in a pod's status, and in those of its containers."""
    status = pod.get("status") or {}
    yield str(status.get("message") or "")
    for each in list_container_statuses(pod):
        last = [*(each.get("lastState") or {}).values()]
        for state in (*(each.get("state") or {}).values(), *last):
            if state and state.get("reason") == "CrashLoopBackOff" and last:
                continue  # the last end is more informative
            if isinstance(state, Mapping) and (
                state.get("message") or state.get("reason") not in PLAIN or state in last
            ):
                text = f"{each.get('name')}: {state.get('reason')}: {state.get('message') or ''}"
                code = state.get("exitCode")
                yield f"{text} exit code {code}" if code or (state in last and code is not None) else text


# Messages about a pod, a workload, or a node


def advise(world: Simulation, key: str, events: Events | None = None) -> list[Meaning]:
    """Return the meanings of messages about a pod, a workload's missing pods, a workload, or a node, as far as the table has them.

    `events`: the result of `index_events`. Without it, the function also checks whether the component that acts next is running.
    """
    subjects = _find_subjects(world, key)
    if not subjects:
        space, _, name = key.partition("/")
        gone = [e for e in world.store.events if (e.kind, e.namespace, e.name) == ("Pod", space, name)]
        words = [*_list_ends_of_jobs(world, space, name), *(f"{e.reason}: {e.message}" for e in reversed(gone))]
        return find_meanings(words, {"metadata": {"name": name, "namespace": space}})
    pod = world.store.pod_at(key)
    node = world.store.node(pod.node_name if pod is not None else key.removeprefix("Node/"))
    subject = next((each for each in subjects if each["kind"] == "Pod"), subjects[0])
    texts = _list_texts(world, subjects, pod, node, index_events(world) if events is None else events)
    component = SCHEDULER if pod is not None else CONTROLLERS
    stopped = find_stopped(world, component) if events is None and node is None else None
    halted = [f"{component} does not run: {' '.join(stopped)}"] if stopped is not None else []
    halted += _list_quota_hints(world, subjects) if events is None and pod is None else []
    return find_meanings((*halted, *texts), subject, node.name if node is not None else "")


def _list_ends_of_jobs(world: Simulation, space: str, name: str) -> Iterator[str]:
    """Yield why a CronJob deleted the Job of a gone pod: in favor of the next one, or because of its history limit."""
    job, events = name.rpartition("-")[0], [each for each in world.store.events if each.namespace == space]
    for event in [e for e in events if e.kind == "CronJob" and e.message == f"Deleted job {job}"][-1:]:
        policy = ((world.store.get("CronJob", space, event.name) or {}).get("spec") or {}).get("concurrencyPolicy")
        ended = any(each.message.startswith(f"Saw completed job: {job},") for each in events)
        if ended or policy == "Replace":
            yield f"CronJob {event.name} deleted {job}: {'it had ended' if ended else policy}"


def _find_subjects(world: Simulation, key: str) -> list[Manifest]:
    """Return the object itself, the objects that it controls, a pod's claims, and a workload's autoscalers."""
    store, (kind, _, rest) = world.store, key.partition("/")
    pod = store.pod_at(key)
    if pod is not None:
        claims = (store.get(CLAIM, pod.namespace, use.name(pod)) for use in volumes_of(pod.spec).claims)
        return [pod.manifest, *filter(None, claims), *(() if pod.node_name else find_groups(world, pod))]
    if kind in ("Node", "Namespace", "PersistentVolume"):
        return list(filter(None, [store.get(kind, "", rest)]))
    namespace, _, name = (rest if "/" in rest else key.removesuffix("-*")).partition("/")
    found = [store.get(each, namespace, name) for each in ([kind] if "/" in rest else _OWNERS)]
    owners = [each for each in found if each is not None]
    for owner in owners:  # the list grows by the objects that they control
        uid = str(owner["metadata"].get("uid") or "")
        made = (store.get(each, *at) for each in (*_OWNERS, "Pod") for at in store.controlled(each, uid)[-MOST:] if uid)
        owners += [each for each in made if each is not None]
    space = store.get("Namespace", "", namespace) or {"metadata": {}}
    ending = [space] if space["metadata"].get("deletionTimestamp") else []
    return [*owners, *ending, *(list_scalers(world, owners[0]) if owners else ())]


def index_events(world: Simulation) -> Events:
    """Return the last Warnings, pulls in progress, and autoscalers' Events, by object. ELSEWHERE has those for pods without a node."""
    found: Events = {}
    for event in world.store.events:
        of_autoscaler = "autoscaler" in event.reporter or "karpenter" in event.reporter
        kept = of_autoscaler or event.type == WARNING or event.reason in (PULLING, _PULLED)
        places = [(event.kind, event.namespace, event.name)] if kept else []
        places += [ELSEWHERE] if of_autoscaler and event.kind not in ("Pod", "Node") else []
        for place in places:
            ends_pull, last = event.reason == _PULLED, found.setdefault(place, {})
            at = (event.name, PULLING if ends_pull else event.reason, event.reporter)
            last.pop(at, None)
            if not ends_pull:
                last[at] = event
    return found


def _list_texts(
    world: Simulation, subjects: list[Manifest], pod: Pod | None, node: Node | None, events: Events
) -> Iterator[str]:
    """Yield the messages in subjects' statuses and last Events. For a pod without a node, yield those of autoscalers, too."""
    hints = [] if pod is None else [*_list_hints(world, pod)]
    for each in subjects:
        # If a pod is being deleted, or its kubelet has evicted it, that is why its containers end.
        status, gone = each.get("status") or {}, each["metadata"].get("deletionTimestamp")
        if each["kind"] == "Pod" and not gone:
            yield from [str(status.get("message"))] if status.get("reason") == _EVICTED else list_status_texts(each)
        if (contest := find_contest(world, each)) is not None:
            name = f"{each['kind']} {each['metadata']['name']}"
            yield f"{contest['by']} sets replicas of {name} against {contest['autoscaler']}"
        if each["kind"] == "PersistentVolume" and (each.get("status") or {}).get("phase") == "Bound":
            yield "bound to {namespace}/{name}".format_map(each["spec"]["claimRef"])
        labels = (each["metadata"].get("labels") or {}).items() if not any(_TWICE in hint for hint in hints) else ()
        yield from (f"{key}={name}" for key, name in labels if key in _MADE_FOR)
    yield from hints
    names = [
        (each["kind"], str(each["metadata"].get("namespace") or ""), each["metadata"]["name"]) for each in subjects
    ]
    places = [*names, *([ELSEWHERE] if pod is not None and not pod.node_name else ())]
    said = [f"{e.reason}: {e.message}" for place in places for e in reversed(events.get(place, {}).values())]
    yield from _list_changers(world, subjects) if any(_INVALID in text for text in said) else ()
    yield from said
    if pod is not None and pod.deleting and is_overdue(world, pod, world.now) and has_ended_inside(pod):
        if remote := list_remote_volumes(pod):
            yield f"unmounts {', '.join(remote)}"
    yield from () if pod is None or node is None else _list_kills(pod.manifest, node, events)
    makers = [each for text in said for each in find_makers(world, pod, text)] if pod is not None else []
    for _, maker in makers:
        yield from list_status_texts(maker.manifest)
    for each in (*subjects, *([node.manifest] if node is not None and node.ready == "False" else ())):
        for condition in (each.get("status") or {}).get("conditions") or ():
            yield f"{condition.get('reason') or ''}: {condition.get('message') or ''}"


def _list_kills(pod: Manifest, node: Node, events: Events) -> Iterator[str]:
    """Yield that the node of a pod ran out of memory, if a container of the pod was killed."""
    said, statuses = events.get(("Node", "", node.name), {}).values(), list_container_statuses(pod)
    ends = [(each.get(part) or {}).get("terminated") or {} for each in statuses for part in ("state", "lastState")]
    if any(end.get("exitCode") == _KILLED and end.get("reason") != _AT_LIMIT for end in ends):
        yield from (f"{each.reason}: {each.message}" for each in said if each.reason == "SystemOOM")


def _list_changers(world: Simulation, subjects: list[Manifest]) -> Iterator[str]:
    """Yield the webhooks that change pods whose template the API server would accept, but whose changed form it refuses as invalid."""
    for each in (each for each in subjects if "template" in (each.get("spec") or {})):
        if not ask_api_server(world, pod_of(each, str(each["metadata"].get("namespace") or "default"))):
            yield from (f"pods are changed by webhook {name} of {by}" for name, by in list_pod_webhooks(world).items())


def list_pod_webhooks(world: Simulation) -> dict[str, str]:
    """Return the webhooks that may change a pod when it is created, with their configurations."""
    hooks = ((hook, made) for made in world.store.list(WEBHOOKS[-1]) for hook in made.get("webhooks") or ())
    return {
        str(hook["name"]): str(made["metadata"]["name"])
        for hook, made in hooks
        if any("pods" in (rule.get("resources") or ()) for rule in hook.get("rules") or ())
    }


def name_pod_webhooks(world: Simulation) -> list[str]:
    """Return the names of the webhooks that may change a pod, or "-" if none is known."""
    return [*list_pod_webhooks(world)] or ["-"]


def _list_hints(world: Simulation, pod: Pod) -> Iterator[str]:
    """Yield hints about a pod: the custom resource that writes it, host port conflicts, awaited containers, an autoscaler that skips it."""
    yield _describe_writer(controller_of(pod.manifest))
    ports = {(port.protocol, port.port) for port in pod.spec.host_ports}
    others, mine = world.store.pods() if ports and not pod.node_name else (), controller_of(pod.manifest)
    for each in (e for e in others if e.uid != pod.uid and not (mine and controller_of(e.manifest) == mine)):
        if (service := each.labels.get(_MADE_FOR[0])) and ports & {(p.protocol, p.port) for p in each.spec.host_ports}:
            twin = all(each.labels.get(label) == pod.labels.get(label) for label in (_MADE_FOR[0], _SPACE))
            for_what = f"Service {each.labels.get(_SPACE, each.namespace)}/{service}"
            yield f"{each.key} {_TWICE if twin else 'holds a port for'} {for_what}"
    yield from _list_awaited(world, pod)
    if pod.node_name or pod.priority >= 0:
        return
    scalers = [p for p in world.store.pods() if p.namespace == "kube-system" and "cluster-autoscaler" in p.name]
    for each in scalers[:1]:
        given = _SKIPS.search(str(each.manifest["spec"]["containers"]))
        if pod.priority < (cutoff := int(given[1]) if given else _CUTOFF):
            yield f"cluster-autoscaler skips pods with a priority below {cutoff}"


def has_ended_inside(pod: Pod) -> bool:
    """Return whether all containers have ended according to the pod's status."""
    statuses = (pod.manifest.get("status") or {}).get("containerStatuses") or ()
    return bool(statuses) and all("terminated" in (each.get("state") or {}) for each in statuses)


def list_remote_volumes(pod: Pod) -> list[str]:
    """Return the volumes of a pod that are not local to its node, each with its source."""
    given = [(v["name"], k, v[k] or {}) for v in pod.manifest["spec"].get("volumes") or () for k in v if k != "name"]
    remote = (
        (name, kind, [v for v in of.values() if isinstance(v, str)]) for name, kind, of in given if kind not in _OF_NODE
    )
    return [f"{name} ({' '.join((kind, *words))})" for name, kind, words in remote]


def _list_awaited(world: Simulation, pod: Pod) -> Iterator[str]:
    """Yield the init container that has to end or the sidecar that has to start first, and the provisioner of a missing volume."""
    spec, status = pod.manifest["spec"], pod.manifest.get("status") or {}
    kinds = {each["name"]: each.get("restartPolicy") == "Always" for each in spec.get("initContainers") or ()}
    for each in status.get("initContainerStatuses") or () if pod.phase == "Pending" else ():
        if "running" in (each.get("state") or {}) and not (each.get("started") and kinds.get(each["name"])):
            yield f"awaits the {'sidecar' if kinds.get(each['name']) else 'init container'} {each['name']}"
    for use in volumes_of(pod.spec).claims if pod.spec.volumes else ():
        claim = world.store.get(CLAIM, pod.namespace, use.name(pod)) or {}
        given = (claim.get("metadata") or {}).get("annotations") or {}
        if SELECTED_NODE in given and (claim.get("status") or {}).get("phase") != "Bound":
            name = str((claim.get("spec") or {}).get("storageClassName") or "")
            by = (world.store.get("StorageClass", "", name) or {}).get("provisioner") or given.get(PROVISIONER) or "-"
            yield f"awaits the provisioner {by} for the claim {use.name(pod)}"


def _list_quota_hints(world: Simulation, owners: list[Manifest]) -> list[str]:
    """Return the quotas that refuse a pod but are not in its namespace, or whose status is not up to date."""
    found = []
    for each in [owner for owner in owners if owner["kind"] in CREATING][:1]:
        space = str(each["metadata"].get("namespace"))
        said = find_refusal(world, each) or ask_api_server(world, pod_of(each, space))
        names = ", ".join(name_pod_webhooks(world))
        if added := find_foreign(world, each, said):
            found.append(f"{', '.join(added)} added by webhooks {names}")
        if absent := find_absent_quota(world, space, said):
            found.append(f"quota {absent} is of several namespaces")
        for match in EXCEEDED.finditer(said):
            quota = world.store.get(QUOTA, space, match[1]) or {"spec": {}}
            hard = (quota.get("status") or {}).get("hard") or {}
            if any(hard.get(name, amount) != amount for name, amount in (quota["spec"].get("hard") or {}).items()):
                found.append(f"quota {match[1]} has an old status")
    return found


def _describe_writer(owner: Mapping[str, Any] | None) -> str:
    """Return the custom resource that writes an owner's objects, or ""."""
    group = str((owner or {}).get("apiVersion")).partition("/")[0]
    is_custom = owner is not None and "." in group and not group.endswith(".k8s.io")
    return f"written by {owner['kind']} {owner['name']} of {group}" if owner is not None and is_custom else ""


def find_writer(world: Simulation, manifest: Manifest) -> list[Meaning]:
    """Return the meaning of the custom resource that controls an object, directly or indirectly."""
    found: Manifest | None = manifest
    while found is not None and (owner := controller_of(found)) is not None:
        if said := _describe_writer(owner):
            return find_meanings([said], manifest)
        found = world.store.get(
            str(owner["kind"]), str(manifest["metadata"].get("namespace") or ""), str(owner["name"])
        )
    return []


# Objects on which a pod or a workload depends: autoscalers, groups, makers of mounted objects, servers of webhooks

_GROUPS = ("scheduling.k8s.io/group-name", "scheduling.volcano.sh/group-name", "scheduling.x-k8s.io/pod-group")
_ABSENT = re.compile(r'(?:secret|configmap) "(?P<name>[\w.-]+)" not found')


def list_scalers(sim: Simulation, owner: Manifest) -> list[Manifest]:
    """Return the autoscalers of a workload."""
    own, where = {"kind": owner["kind"], "name": owner["metadata"]["name"]}, owner["metadata"].get("namespace")
    near = (e for e in sim.store.list("HorizontalPodAutoscaler") if e["metadata"].get("namespace") == where)
    return [each for each in near if own.items() <= ((each.get("spec") or {}).get("scaleTargetRef") or {}).items()]


def find_contest(sim: Simulation, owner: Manifest) -> dict[str, Any] | None:
    """Return an autoscaler's bounds and the other writer of the replicas, if the workload's replicas are out of bounds, else None."""
    now, meta = int((owner.get("spec") or {}).get("replicas") or 0), owner["metadata"]
    for each in list_scalers(sim, owner) if now else ():
        spec, conditions = each["spec"], (each.get("status") or {}).get("conditions") or ()
        low, high = int(spec.get("minReplicas") or 1), int(spec.get("maxReplicas") or now)
        unable = any((c.get("type"), c.get("status")) == ("AbleToScale", "False") for c in conditions)
        if conditions and not unable and not low <= now <= high:
            marks = {**(meta.get("labels") or {}), **(meta.get("annotations") or {})}
            tool = next((tool for key, tool in _TOOLS.items() if key in marks), "another client")
            return {"autoscaler": each["metadata"]["name"], "replicas": now, "least": low, "most": high, "by": tool}
    return None


def list_lost_scalers(sim: Simulation, owner: Manifest) -> list[Manifest]:
    """Return the autoscalers whose target does not exist, and whose name suggests this workload."""
    name, where, found = owner["metadata"]["name"], owner["metadata"].get("namespace"), []
    for each in sim.store.list("HorizontalPodAutoscaler") if not list_scalers(sim, owner) else ():
        target = (each.get("spec") or {}).get("scaleTargetRef") or {}
        at = (str(target.get("kind")), str(where), str(target.get("name")))
        near = at[2] in name or name in at[2] or likeness(at[2], name) >= _ALIKE
        if each["metadata"].get("namespace") == where and near and sim.store.get(*at) is None and at[0] in _OWNERS:
            found.append(each)
    return found


def list_foreign_pods(sim: Simulation, owner: Manifest, pods: list[Pod]) -> list[Pod]:
    """Return the pods of other owners, or without one, that a failing autoscaler counts as pods of its workload."""
    scalers = [each for each in list_scalers(sim, owner) if "FailedGetResourceMetric" in str(each.get("status"))]
    selector, mine = LabelSelector.of((owner.get("spec") or {}).get("selector")), {pod.key for pod in pods}
    where = owner["metadata"].get("namespace")
    near = (pod for pod in sim.store.pods() if pod.namespace == where and pod.key not in mine) if scalers else ()
    return [pod for pod in near if selector.matches(pod.labels)]


def find_groups(sim: Simulation, pod: Pod) -> list[Manifest]:
    """Return the PodGroups of any API group that a pod names in an annotation or a label."""
    names = {pod.annotations.get(key) or pod.labels.get(key) or "" for key in _GROUPS} - {""}
    keys = [key for key in sim.store.kinds() if key.partition(".")[0] == "PodGroup"] if names else []
    found = (sim.store.get(key, pod.namespace, name) for key in keys for name in sorted(names))
    return [each for each in found if each is not None]


def find_makers(sim: Simulation, pod: Pod, text: str) -> list[tuple[str, Pod]]:
    """Return the pods whose arguments name an object that is not found, each with the name: they should create the object."""
    names = dict.fromkeys(match["name"] for match in _ABSENT.finditer(text))
    found = []
    for other in sim.store.pods() if names else ():
        waits = (
            other.namespace == pod.namespace and other.key != pod.key and other.phase != "Succeeded" and not other.ready
        )
        containers = other.manifest["spec"]["containers"] if waits else ()
        words = str([each.get(part) for each in containers for part in ("args", "command")])
        found += [(name, other) for name in names if re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", words)]
    return found


def runs_scheduler(sim: Simulation, name: str) -> bool:
    """Return whether a pod of a scheduler with this name is ready."""
    return any(name in pod.name and "schedul" in pod.name and pod.ready for pod in sim.store.pods())

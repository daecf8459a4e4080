"""The cells of tables: the columns of each resource, and their contents.

kube: pkg/printers/internalversion/printers.go, apiserver/pkg/registry/rest/table.go,
apiextensions-apiserver/pkg/registry/customresource/tableconvertor @ v1.34.1
"""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from scheduler_core.apimachinery.objects import SECOND, Manifest, parse_time
from scheduler_core.apiserver.door.events import convert_back
from scheduler_core.apiserver.door.resources import Resource
from scheduler_core.apiserver.door.tables.jsonpath import find_path
from scheduler_core.apiserver.door.tables.pods import print_pod
from scheduler_core.apiserver.door.tables.row import (
    NONE,
    UNKNOWN,
    Cells,
    Row,
    format_labels,
    format_selector,
    human_duration,
)

Data = dict[str, Any]
UNSET = "<unset>"


def _more(listed: Sequence[str], most: int = 3, between: str = ",") -> str:
    shown = between.join(listed[:most]) or NONE
    return f"{shown} + {len(listed) - most} more..." if len(listed) > most else shown


def _node(row: Row) -> Cells:
    states = [each for each in row.status.get("conditions") or () if each.get("type") == "Ready"]
    status = ("Ready" if states[-1].get("status") == "True" else "NotReady") if states else "Unknown"
    if row.spec.get("unschedulable"):
        status += ",SchedulingDisabled"
    labels: Manifest = row.meta.get("labels") or {}
    prefix = "node-role.kubernetes.io/"
    roles = {key.removeprefix(prefix) for key in labels if key.startswith(prefix)} | {labels.get("kubernetes.io/role")}
    info: Manifest = row.status.get("nodeInfo") or {}
    addresses = {each.get("type"): each.get("address") for each in reversed(row.status.get("addresses") or ())}
    described = [info.get(name) or UNKNOWN for name in ("osImage", "kernelVersion", "containerRuntimeVersion")]
    places = [addresses.get(name) or NONE for name in ("InternalIP", "ExternalIP")]
    listed = ",".join(sorted(filter(None, map(str, filter(None, roles))))) or NONE
    return [row.name, status, listed, row.age, info.get("kubeletVersion", ""), *places, *described]


def _job(row: Row) -> Cells:
    wanted, parallelism = row.spec.get("completions"), row.spec.get("parallelism") or 0
    of = wanted if wanted is not None else f"1 of {parallelism}" if parallelism > 1 else 1
    start, end, took = row.status.get("startTime"), row.status.get("completionTime"), ""
    if start:
        took = human_duration(((parse_time(end) if end else row.now) - parse_time(start)) / SECOND)
    held = {each["type"] for each in row.status.get("conditions") or () if each.get("status") == "True"}
    status = next((word for word in ("Complete", "Failed") if word in held), "")
    status = status or ("Terminating" if row.meta.get("deletionTimestamp") else "")
    status = status or next((word for word in _JOB_STATES if word in held), "Running")
    return [row.name, status, f"{row.status.get('succeeded', 0)}/{of}", took, row.age, *row.template()]


_JOB_STATES = ("Suspended", "FailureTarget", "SuccessCriteriaMet")  # shown if none of the others is true


def _cron_job(row: Row) -> Cells:
    last = row.status.get("lastScheduleTime")
    job: Manifest = (row.spec.get("jobTemplate") or {}).get("spec") or {}
    suspend = row.spec.get("suspend")
    shown = UNSET if suspend is None else str(bool(suspend))
    cells = [row.spec.get("schedule", ""), row.spec.get("timeZone") or NONE, shown, len(row.status.get("active") or ())]
    return [row.name, *cells, row.since(last) if last else NONE, row.age, *row.template(job)]


def _service(row: Row) -> Cells:
    type_, external = row.spec.get("type", "ClusterIP"), row.spec.get("externalIPs") or ()
    if type_ == "ExternalName":
        outside = row.spec.get("externalName", "")
    elif type_ == "LoadBalancer":
        given = (row.status.get("loadBalancer") or {}).get("ingress") or ()
        outside = ",".join([*sorted(each.get("ip") or each.get("hostname") or "" for each in given), *external])
        outside = outside or "<pending>"
    else:
        outside = ",".join(external) or NONE
    ports = []
    for port in row.spec.get("ports") or ():
        node = f":{port['nodePort']}" if port.get("nodePort") else ""
        ports.append(f"{port.get('port')}{node}/{port.get('protocol', 'TCP')}")
    address = (row.spec.get("clusterIPs") or [row.spec.get("clusterIP") or NONE])[0]
    cells = [type_, address, outside, ",".join(ports) or NONE, row.age]
    return [row.name, *cells, format_labels(row.spec.get("selector"))]


_MODES = {"ReadWriteOnce": "RWO", "ReadOnlyMany": "ROX", "ReadWriteMany": "RWX", "ReadWriteOncePod": "RWOP"}


def _modes(modes: Any) -> str:
    given = modes or ()
    return ",".join(short for long, short in _MODES.items() if long in given)


def _class(row: Row) -> str:
    annotated = (row.meta.get("annotations") or {}).get("volume.beta.kubernetes.io/storage-class")
    return str(annotated if annotated is not None else row.spec.get("storageClassName") or "")


def _volume(row: Row) -> Cells:
    claim = row.spec.get("claimRef")
    phase = "Terminating" if row.meta.get("deletionTimestamp") else row.status.get("phase", "")
    return [
        row.name,
        (row.spec.get("capacity") or {}).get("storage", "0"),
        _modes(row.spec.get("accessModes")),
        row.spec.get("persistentVolumeReclaimPolicy", ""),
        phase,
        f"{claim.get('namespace', '')}/{claim.get('name', '')}" if claim else "",
        _class(row),
        row.spec.get("volumeAttributesClassName") or UNSET,
        row.status.get("reason", ""),
        row.age,
        row.spec.get("volumeMode") or UNSET,
    ]


def _claim(row: Row) -> Cells:
    phase = "Terminating" if row.meta.get("deletionTimestamp") else row.status.get("phase", "")
    volume, size, modes = row.spec.get("volumeName") or "", "", ""
    if volume:
        size, modes = (row.status.get("capacity") or {}).get("storage", "0"), _modes(row.status.get("accessModes"))
    attributes = row.spec.get("volumeAttributesClassName") or UNSET
    return [row.name, phase, volume, size, modes, _class(row), attributes, row.age, row.spec.get("volumeMode") or UNSET]


def _quota(row: Row) -> Cells:
    hard, used = row.status.get("hard") or {}, row.status.get("used") or {}
    shown = {name: f"{name}: {used.get(name, '0')}/{hard[name]}" for name in sorted(hard)}
    limits = [name for name in shown if name.startswith("limits.")]
    requests = ", ".join(text for name, text in shown.items() if name not in limits)
    return [row.name, requests, ", ".join(shown[name] for name in limits), row.age]


def _event(row: Row) -> Cells:
    given = convert_back(row.all) if "regarding" in row.all else row.all
    first = given.get("firstTimestamp") or given.get("eventTime")
    last, count = given.get("lastTimestamp") or first, given.get("count") or 1
    if series := given.get("series"):
        last, count = series.get("lastObservedTime"), series.get("count")
    involved, source = given.get("involvedObject") or {}, given.get("source") or {}
    what = str(involved.get("kind", "")).lower() + (f"/{involved['name']}" if involved.get("name") else "")
    component = source.get("component") or given.get("reportingComponent") or ""
    place = source.get("host") or given.get("reportingInstance") or ""
    by = f"{component}, {place}" if place else component
    cells = [row.since(last), given.get("type", ""), given.get("reason", ""), what, involved.get("fieldPath", ""), by]
    return [*cells, str(given.get("message", "")).strip(), row.since(first), count, row.name]


def _autoscaler(row: Row) -> Cells:
    target, seen = row.spec.get("scaleTargetRef") or {}, row.status.get("currentMetrics") or ()
    metrics: list[Manifest] = row.spec.get("metrics") or []
    texts = [_metric(each, seen[i] if i < len(seen) else {}) for i, each in enumerate(metrics)]
    least = row.spec.get("minReplicas")
    bounds = [UNSET if least is None else str(least), row.spec.get("maxReplicas", 0)]
    current = row.status.get("currentReplicas", 0)
    return [row.name, f"{target.get('kind')}/{target.get('name')}", _more(texts, 2, ", "), *bounds, current, row.age]


def _metric(spec: Manifest, seen: Manifest) -> str:
    part = {"Resource": "resource", "ContainerResource": "containerResource", "Pods": "pods", "Object": "object"}.get(
        str(spec.get("type")), "external"
    )
    wanted = (spec.get(part) or {}).get("target") or {}
    current = (seen.get(part) or {}).get("current") or {}
    if part in ("resource", "containerResource"):
        name = (spec.get(part) or {}).get("name")
        if "averageValue" in wanted:
            return f"{name}: {current.get('averageValue', UNKNOWN)}/{wanted['averageValue']}"
        use, goal = current.get("averageUtilization"), wanted.get("averageUtilization")
        return f"{name}: {UNKNOWN if use is None else f'{use}%'}/{'<auto>' if goal is None else f'{goal}%'}"
    if "averageValue" in wanted:
        average = "" if part == "pods" else " (avg)"
        return f"{current.get('averageValue', UNKNOWN)}/{wanted['averageValue']}{average}"
    return f"{current.get('value', UNKNOWN)}/{wanted.get('value', '0')}"


def _ingress(row: Row) -> Cells:
    hosts = [each["host"] for each in row.spec.get("rules") or () if each.get("host")]
    shown = _more(hosts) if hosts else "*"
    given = (row.status.get("loadBalancer") or {}).get("ingress") or ()
    address = ",".join(sorted(each.get("ip") or each.get("hostname") or "" for each in given))
    return [
        row.name,
        row.spec.get("ingressClassName") or NONE,
        shown,
        address,
        "80, 443" if row.spec.get("tls") else "80",
        row.age,
    ]


def _endpoints(row: Row) -> Cells:
    listed = []
    for subset in row.all.get("subsets") or ():
        ports: Sequence[Manifest] = subset.get("ports") or ({},)
        for port in ports:
            end = f":{port['port']}" if port else ""
            listed += [f"{each.get('ip')}{end}" for each in subset.get("addresses") or ()]
    return [row.name, _more(listed), row.age]


def _endpoint_slice(row: Row) -> Cells:
    ports = [str(each.get("port") or each.get("name") or "*") for each in row.all.get("ports") or ()]
    there = [address for each in row.all.get("endpoints") or () for address in each.get("addresses") or ()]
    shown = [_more(each) if each else UNSET for each in (ports, there)]
    return [row.name, row.all.get("addressType", ""), *shown, row.age]


def _binding(row: Row) -> Cells:
    role, subjects = row.all.get("roleRef") or {}, row.all.get("subjects") or ()
    by: dict[str, list[str]] = {"User": [], "Group": [], "ServiceAccount": []}
    for each in subjects:
        name = (
            f"{each.get('namespace')}/{each.get('name')}" if each.get("kind") == "ServiceAccount" else each.get("name")
        )
        by.setdefault(str(each.get("kind")), []).append(str(name))
    lists = [", ".join(by[kind]) for kind in ("User", "Group", "ServiceAccount")]
    return [row.name, f"{role.get('kind')}/{role.get('name')}", row.age, *lists]


def _resource_claim(row: Row) -> Cells:
    states = [
        word for word, field in (("allocated", "allocation"), ("reserved", "reservedFor")) if row.status.get(field)
    ]
    if row.meta.get("deletionTimestamp"):
        states.insert(0, "deleted")
    return [row.name, ",".join(states) or "pending", row.age]


def _storage_class(row: Row) -> Cells:
    marks = row.meta.get("annotations") or {}
    default = any(marks.get(f"storageclass.{part}kubernetes.io/is-default-class") == "true" for part in ("", "beta."))
    given = row.all
    cells = [given.get("provisioner", ""), given.get("reclaimPolicy") or "Delete", given.get("volumeBindingMode")]
    expansion = bool(given.get("allowVolumeExpansion"))
    return [row.name + (" (default)" if default else ""), *cells[:2], cells[2] or "Immediate", expansion, row.age]


def _csi_driver(row: Row) -> Cells:
    spec = row.spec
    modes = ",".join(spec.get("volumeLifecycleModes") or ()) or NONE
    tokens = ",".join(str(each.get("audience")) for each in spec.get("tokenRequests") or ()) or UNSET
    flags = [spec.get("attachRequired", True), spec.get("podInfoOnMount", False), spec.get("storageCapacity", False)]
    return [row.name, *flags, tokens, spec.get("requiresRepublish", False), modes, row.age]


def _admission_policy(row: Row) -> Cells:
    kind = row.spec.get("paramKind")
    given = f"{kind.get('apiVersion')}/{kind.get('kind')}" if kind else UNSET
    return [row.name, len(row.spec.get("validations") or ()), given, row.age]


def _policy_binding(row: Row) -> Cells:
    given = row.spec.get("paramRef") or {}
    name = f"{given.get('namespace') or '*'}/{given['name']}" if given.get("name") else UNSET
    return [row.name, row.spec.get("policyName"), name, row.age]


def _parameters(row: Row) -> str:
    given = row.spec.get("parameters") or {}
    kind = ".".join(filter(None, (given.get("kind"), given.get("apiGroup"))))
    return f"{kind}/{given.get('name')}" if given else NONE


def _parent(row: Row) -> Cells:
    parent = row.spec.get("parentRef") or {}
    group = f".{parent['group']}" if parent.get("group") else ""
    parts = [f"{parent.get('resource', '')}{group}".lower(), parent.get("namespace"), parent.get("name")]
    return [row.name, "/".join(filter(None, parts)) if parent else NONE, row.age]


def _revision(row: Row) -> Cells:
    owner = next((each for each in row.meta.get("ownerReferences") or () if each.get("controller")), None)
    group = f".{owner['apiVersion'].rpartition('/')[0]}" if owner and "/" in owner.get("apiVersion", "") else ""
    by = f"{owner['kind'].lower()}{group}/{owner['name']}" if owner else NONE
    return [row.name, by, row.all.get("revision", 0), row.age]


def _budget(row: Row) -> Cells:
    bounds = [str(row.spec[name]) if name in row.spec else "N/A" for name in ("minAvailable", "maxUnavailable")]
    return [row.name, *bounds, row.status.get("disruptionsAllowed", 0), row.age]


def _pod_template(row: Row) -> Cells:
    labels = ((row.all.get("template") or {}).get("metadata") or {}).get("labels")
    return [row.name, *row.template(row.all, selector=False), format_labels(labels)]


_CELLS: Mapping[str, Callable[[Row], Cells]] = {
    "Pod": lambda row: print_pod(row.all, row.now),
    "Node": _node,
    "Job": _job,
    "CronJob": _cron_job,
    "Service": _service,
    "PersistentVolume": _volume,
    "PersistentVolumeClaim": _claim,
    "ResourceQuota": _quota,
    "Event": _event,
    "HorizontalPodAutoscaler": _autoscaler,
    "Ingress": _ingress,
    "Endpoints": _endpoints,
    "EndpointSlice": _endpoint_slice,
    "RoleBinding": _binding,
    "ClusterRoleBinding": _binding,
    "ResourceClaim": _resource_claim,
    "StorageClass": _storage_class,
    "CSIDriver": _csi_driver,
    "IPAddress": _parent,
    "ControllerRevision": _revision,
    "PodDisruptionBudget": _budget,
    "NetworkPolicy": lambda row: [row.name, format_selector(row.spec.get("podSelector")), row.age],
    "PodTemplate": _pod_template,
    "ValidatingAdmissionPolicy": _admission_policy,
    "ValidatingAdmissionPolicyBinding": _policy_binding,
    "IngressClass": lambda row: [row.name, row.spec.get("controller", ""), _parameters(row), row.age],
}
# Columns that are fields: `?` whether it is true, `#` how many (of several fields), `=` labels, and after | the text for none;
# `ready` is how many replicas are ready, of how many; `images` the names and images of the template's containers, `template` these and the
# selector.
_DATA: Mapping[str, Any] = json.loads(Path(__file__).with_suffix(".json").read_text())
_FIELDS: Mapping[str, str] = _DATA["fields"]


_WORDS: Mapping[str, Callable[[Row], Cells]] = {
    "name": lambda row: [row.name],
    "age": lambda row: [row.age],
    "ready": lambda row: [f"{row.status.get('readyReplicas', 0)}/{row.spec.get('replicas', 0)}"],
    "template": Row.template,
    "images": lambda row: row.template(selector=False),
}


def _cells(row: Row, column: str) -> Cells:
    if column in _WORDS:
        return _WORDS[column](row)
    path, _, otherwise = column.lstrip("?#=").partition("|")
    found = [value for each in path.split(",") for value in find_path(row.all, f".{each}")]
    if column.startswith("#"):
        return [sum(map(len, found))]
    if column.startswith("?"):
        return [bool(found and found[0])]
    if column.startswith("="):
        return [format_labels(found[0] if found else None)]
    return [found[0] if found and found[0] not in ("", None) else int(otherwise) if otherwise == "0" else otherwise]


_SCALE: list[Cells] = _DATA["scale"]


def _custom_cells(resource: Resource, row: Row) -> Cells:
    cells: Cells = [row.name]
    for _, type_, _, _, _, *path in resource.columns[1:]:
        found = find_path(row.all, path[0] if path else ".metadata.creationTimestamp")
        value = found[0] if found else None
        if type_ == "date" and value is not None:
            value = row.since(value)
        elif isinstance(value, Mapping | list) or (type_ == "string" and value is not None):
            value = str(value)
        cells.append(value)
    return cells


def make_rows(resource: Resource, manifests: Sequence[Manifest], now: int, kind: str = "") -> list[Cells]:
    """Return the cells of objects. `now`: ns since 1970."""
    cells = _CELLS.get(kind or resource.kind) if resource.definition is None else None
    if cells is not None:
        return [cells(Row(each, now)) for each in manifests]
    if resource.definition is None and (columns := _FIELDS.get(kind or resource.kind, "").split()):
        rows = (Row(each, now) for each in manifests)
        return [[cell for column in columns for cell in _cells(row, column)] for row in rows]
    if resource.definition is None and resource.columns[1][0] == "Created At":
        return [[each["metadata"]["name"], each["metadata"].get("creationTimestamp")] for each in manifests]
    return [_custom_cells(resource, Row(each, now)) for each in manifests]


def define_columns(resource: Resource, kind: str = "") -> list[Data]:
    """Return the definitions of a resource's columns."""
    columns = _SCALE if kind == "Scale" else resource.columns
    return [
        {"name": name, "type": type_, "format": form, "description": said, "priority": priority}
        for name, type_, form, priority, said, *_ in columns
    ]

"""Tables that `kubectl get` prints and texts that `kubectl describe` prints: which command prints the same as objects.

kube: pkg/printers/internalversion/printers.go (columns), kubectl/pkg/describe/describe.go @ v1.34.1
"""

from __future__ import annotations

import re
from collections.abc import Mapping

# Columns that tell a resource, more telling ones first.
_COLUMNS = (
    (("ROLES", "AGE"), "nodes"),
    (("CPU(cores)",), "pods"),
    (("READY", "STATUS", "RESTARTS"), "pods"),
    (("UP-TO-DATE", "AVAILABLE"), "deployments"),
    (("DESIRED", "CURRENT", "NODE SELECTOR"), "daemonsets"),
    (("DESIRED", "CURRENT", "READY"), "replicasets"),
    (("COMPLETIONS", "DURATION"), "jobs"),
    (("SCHEDULE", "SUSPEND"), "cronjobs"),
    (("CLUSTER-IP",), "services"),
    (("RECLAIM POLICY",), "persistentvolumes"),
    (("VOLUME", "CAPACITY"), "persistentvolumeclaims"),
    (("PROVISIONER",), "storageclasses"),
    (("MIN AVAILABLE",), "poddisruptionbudgets"),
    (("GLOBAL-DEFAULT",), "priorityclasses"),
    (("HANDLER",), "runtimeclasses"),
    (("ATTACHREQUIRED",), "csidrivers"),
    (("DRIVERS",), "csinodes"),
    (("STORAGECLASS", "CAPACITY"), "csistoragecapacities"),
    (("ATTACHER",), "volumeattachments"),
    (("REQUEST", "LIMIT"), "resourcequotas"),
    (("MINPODS", "MAXPODS"), "horizontalpodautoscalers"),
    (("NODE", "DRIVER", "POOL"), "resourceslices"),
    (("CREATED AT",), "customresourcedefinitions"),
    (("READY", "AGE"), "statefulsets"),
    (("STATUS", "AGE"), "namespaces"),
)
_OF_CLUSTER = (
    *("nodes", "persistentvolumes", "storageclasses", "priorityclasses", "runtimeclasses", "csidrivers", "csinodes"),
    *("volumeattachments", "resourceslices", "customresourcedefinitions", "namespaces"),
)
_EVERYTHING = "kubectl get nodes,pods,namespaces -A -o yaml"
_HEAD = re.compile(r"[A-Z][A-Z0-9()%/_ -]{0,38}")
_GAP = re.compile(r" {2,}|\t")
_PREFIXED = re.compile(r"[a-z]+(?:\.[a-z0-9.-]+)?/[a-z0-9.-]+ ")

# A line of a description that tells its kind, more telling ones first.
_DESCRIPTIONS = (
    ("Allocatable:", "node"),
    ("Replicas:", "deployment"),
    ("Desired Number of Nodes Scheduled:", "daemonset"),
    ("Concurrency Policy:", "cronjob"),
    ("Parallelism:", "job"),
    ("QoS Class:", "pod"),
    ("Containers:", "pod"),
    ("Reclaim Policy:", "persistentvolume"),
    ("Access Modes:", "persistentvolumeclaim"),
    ("Provisioner:", "storageclass"),
    ("GlobalDefault:", "priorityclass"),
    ("Disruptions allowed:", "poddisruptionbudget"),
    ("Allowed disruptions:", "poddisruptionbudget"),
)
_REPLICAS = (("StrategyType:", "deployment"), ("Update Strategy:", "statefulset"), ("Pods Status:", "replicaset"))
_LINE = re.compile(r"([A-Z][\w ()/-]{0,60}): *(.{0,300})")


def find_table_command(lines: list[str]) -> str:
    """The command that prints the objects of a table; "" where the lines are none."""
    columns = [part for part in _GAP.split(lines[0].strip()) if part]
    words = [each.partition("(")[0] for each in columns]
    if len(columns) < 2 or not all(_HEAD.fullmatch(each) for each in words if each):
        return ""
    if "NAME" not in columns and "LAST SEEN" not in columns and "NAMESPACE" not in columns:
        return ""
    if any(_PREFIXED.match(line) for line in lines[1:3]):
        return _EVERYTHING
    spread = " -A" if "NAMESPACE" in columns else ""
    for marks, resource in _COLUMNS:
        if all(each in columns for each in marks):
            return f"kubectl get {resource}{'' if resource in _OF_CLUSTER else spread} -o yaml"
    return _EVERYTHING


def find_describe_command(lines: list[str]) -> str:
    """The command that prints the object that is described; "" where the lines describe none."""
    fields: dict[str, str] = {}
    for line in lines:
        match = _LINE.match(line)
        if match:
            fields.setdefault(match[1] + ":", match[2].strip())
    if not lines[0].startswith("Name:") or not fields.keys() & {"Labels:", "Annotations:", "Events:", "Namespace:"}:
        return ""
    kind = _find_described_kind(fields)
    if not kind:
        return _EVERYTHING
    space = fields.get("Namespace:") or ""
    return f"kubectl get {kind} {fields['Name:']}{f' -n {space}' if space else ''} -o yaml"


def _find_described_kind(fields: Mapping[str, str]) -> str:
    for marks, kind in _DESCRIPTIONS:
        if marks in fields:
            return kind if marks != "Replicas:" else next((k for each, k in _REPLICAS if each in fields), "deployment")
    return ""

"""The pods of a StatefulSet: names, ordinals, and manifests.

kube: pkg/controller/statefulset/stateful_set_utils.go @ v1.34.1
"""

import re
from typing import Any

from scheduler_core.apimachinery.objects import Manifest, Pod
from scheduler_core.controllers.workloads.history import POD_HASH
from scheduler_core.controllers.workloads.owners import Owner
from scheduler_core.controllers.workloads.pods import from_template

POD_NAME = "statefulset.kubernetes.io/pod-name"
POD_INDEX = "apps.kubernetes.io/pod-index"
_NAME = re.compile(r"(.*)-([0-9]+)\Z", re.DOTALL)
_MOST = 2**31 - 1


def parent_and_ordinal(name: str) -> tuple[str, int]:
    """Return the StatefulSet's name and the ordinal in a pod's name, or ("", -1)."""
    match = _NAME.match(name)
    if match is None:
        return "", -1
    ordinal = int(match[2])
    return match[1], ordinal if ordinal <= _MOST else -1


def ordinal_of(pod: Pod) -> int:
    return parent_and_ordinal(pod.name)[1]


def ordinals(owner: Owner) -> range:
    """Return the desired ordinals."""
    start = int((owner.spec.get("ordinals") or {}).get("start") or 0)
    return range(start, start + owner.number("replicas"))


def revision_of(pod: Pod) -> str:
    """Return the name of the pod's revision."""
    return pod.labels.get(POD_HASH, "")


def new_pod(owner: Owner, template: Manifest, revision: str, ordinal: int) -> dict[str, Any]:
    """Build a pod of a revision for an ordinal."""
    pod = from_template(owner, template)
    name = f"{owner.name}-{ordinal}"
    labels = {**pod["metadata"]["labels"], **identity(name, ordinal), POD_HASH: revision}
    spec = {**pod["spec"], "hostname": name, "volumes": volumes(owner, pod["spec"], ordinal)}
    if owner.spec.get("serviceName"):
        spec["subdomain"] = owner.spec["serviceName"]
    if not spec["volumes"]:
        del spec["volumes"]
    return {**pod, "metadata": {**pod["metadata"], "name": name, "labels": labels}, "spec": spec}


def identity(name: str, ordinal: int) -> dict[str, str]:
    """Return the labels that identify a pod."""
    return {POD_NAME: name, POD_INDEX: str(ordinal)}


def is_itself(owner: Owner, pod: Pod) -> bool:
    """Return whether a pod has the name and the label of its ordinal."""
    parent, ordinal = parent_and_ordinal(pod.name)
    return ordinal >= 0 and parent == owner.name and pod.labels.get(POD_NAME) == pod.name


def claim_name(owner: Owner, template: Manifest, ordinal: int) -> str:
    return f"{template['metadata']['name']}-{owner.name}-{ordinal}"


def claim_templates(owner: Owner) -> list[Manifest]:
    return list(owner.spec.get("volumeClaimTemplates") or ())


def volumes(owner: Owner, spec: Manifest, ordinal: int) -> list[Manifest]:
    """Return a pod's volumes. Those of claim templates replace others of the same names."""
    own: list[Manifest] = [
        {
            "name": template["metadata"]["name"],
            "persistentVolumeClaim": {"claimName": claim_name(owner, template, ordinal)},
        }
        for template in claim_templates(owner)
    ]
    names = {volume["name"] for volume in own}
    return own + [volume for volume in spec.get("volumes") or () if volume.get("name") not in names]

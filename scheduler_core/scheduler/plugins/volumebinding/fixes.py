"""Fixes of claims and volumes: missing objects created, or claims recreated so that a volume is accessible from the pod's nodes."""

from collections.abc import Iterator, Mapping
from typing import Any

from scheduler_core.apimachinery.objects import Manifest, Pod, controller_of, is_owned_by
from scheduler_core.apimachinery.objects.labels import IN, LabelSelector
from scheduler_core.apimachinery.objects.quantity import value
from scheduler_core.apimachinery.objects.storage import volumes as storage
from scheduler_core.scheduler.framework import Change, Draft, Handle, Refusal
from scheduler_core.scheduler.plugins.helper import volumes
from scheduler_core.scheduler.plugins.helper.claim_evidence import is_held
from scheduler_core.scheduler.plugins.helper.fixes import HOSTNAME, label_node
from scheduler_core.scheduler.plugins.volumebinding.topology import as_mask, room, volume_rows

# Volumes that a claim almost matches: released ones whose old claim no longer exists, and those of another class, size, or access mode.

MOST = 2


def propose_matches(draft: Draft, claim: Manifest, handle: Handle) -> Iterator[Draft]:
    """Propose to recreate a claim so that it takes a free volume, and to release a volume that an old claim still holds."""
    found, wider = [], []
    for volume in handle.list(storage.VOLUME):
        if (
            storage.deleting(volume)
            or storage.volume_mode(volume) != storage.volume_mode(claim)
            or is_held(volume, claim, handle)
        ):
            continue
        proposal = _matching(draft, claim, volume)
        if proposal is not draft:
            found.append(proposal)
        if proposal.kinds[len(draft.kinds) :] == ("claim-mode",):
            modes = list(dict.fromkeys((*storage.access_modes(volume), *storage.access_modes(claim))))
            values = {"volume": storage.name_of(volume), "to": ", ".join(modes)}
            widened = {**volume, "spec": {**volume["spec"], "accessModes": modes}}
            wider.append(draft.with_applied(Change("volume-modes", values), widened))
    yield from (*sorted(found, key=lambda each: each.cost)[:MOST], *wider[:1])


def _matching(draft: Draft, claim: Manifest, volume: Manifest) -> Draft:
    """Propose one change for each difference between the claim and the volume."""
    ref, key = storage.claim_ref(volume), storage.key_of(claim)
    if ref is not None and not storage.is_for(volume, claim):
        old = f"{ref.get('namespace')}/{ref.get('name')}"
        old = "" if old == key else old
        spec = {name: each for name, each in volume["spec"].items() if name != "claimRef"}
        change = Change("release", {"volume": storage.name_of(volume), "claim": old})
        draft = draft.with_applied(change, {**volume, "spec": spec})
    wanted: dict[str, Any] = {}
    if storage.class_of(volume) != storage.class_of(claim):
        wanted["class_name"] = storage.class_of(volume)
        values = {"claim": key, "from": storage.class_of(claim), "to": storage.class_of(volume)}
        draft = draft.with_object(Change("claim-class", values), volumes.build_unbound_claim(claim, **wanted))
    labels = _labels_wanted(claim, volume)
    if labels:
        meta = volume["metadata"]
        labelled = {**volume, "metadata": {**meta, "labels": {**(meta.get("labels") or {}), **labels}}}
        text = ", ".join(f"{name}={each}" for name, each in labels.items())
        values = {"volume": storage.name_of(volume), "claim": key, "text": text}
        draft = draft.with_applied(Change("volume-labels", values), labelled)
    size = str((volume["spec"].get("capacity") or {}).get("storage") or "0")
    if value(size) < value(volumes.size_of(claim)):
        wanted["size"] = size
        values = {"claim": key, "from": volumes.size_of(claim), "to": size}
        draft = draft.with_object(Change("claim-size", values), volumes.build_unbound_claim(claim, **wanted))
    modes = storage.access_modes(volume)
    if modes and any(mode not in modes for mode in storage.access_modes(claim)):
        wanted["modes"] = list(modes)
        values = {"claim": key, "from": ", ".join(storage.access_modes(claim)), "to": ", ".join(modes)}
        draft = draft.with_object(Change("claim-mode", values), volumes.build_unbound_claim(claim, **wanted))
    return draft


def _labels_wanted(claim: Manifest, volume: Manifest) -> dict[str, str]:
    """Return the labels that the claim's selector requires and the volume lacks; none if labels alone are not enough."""
    selector = LabelSelector.of((claim.get("spec") or {}).get("selector") or {})
    has = volume["metadata"].get("labels") or {}
    lacking = [each for each in selector.requirements if not each.accepts(has.get(each.key))]
    if any(each.op != IN for each in lacking):
        return {}
    return {each.key: each.values[0] for each in lacking}


MOST_CLASSES = 2
SELECTED = "volume.kubernetes.io/selected-node"
PROTECTION = "kubernetes.io/pvc-protection"
CAPACITY = "CSIStorageCapacity"


def propose(draft: Draft, refusal: Refusal, handle: Handle) -> Iterator[Draft]:
    """Propose fixes for the rejection. If a controller must bind a claim first, only a run shows the effect."""
    for proposal in _proposals(draft, refusal, handle):
        yield proposal if _at_once(proposal, handle) else proposal.taking_time()


def _at_once(draft: Draft, handle: Handle) -> bool:
    """Return whether the class of each new claim has the mode WaitForFirstConsumer."""
    made = {each["metadata"]["name"]: each for each in draft.objects if each["kind"] == volumes.CLASS}
    claims = [each for each in draft.others if each["kind"] == storage.CLAIM]
    if any(each["kind"] == storage.VOLUME for each in draft.objects) or draft.kinds[-1] == "default-class":
        return False
    classes = [
        made.get(storage.class_of(claim)) or handle.get(volumes.CLASS, "", storage.class_of(claim)) for claim in claims
    ]
    return all(
        each is not None and each.get("volumeBindingMode") == storage.WAIT_FOR_FIRST_CONSUMER for each in classes
    )


def _proposals(draft: Draft, refusal: Refusal, handle: Handle) -> Iterator[Draft]:
    """Propose fixes for each claim of the pod."""
    pod = refusal.pod
    yield from volumes.missing_claims(draft, pod, handle)
    for use in storage.volumes_of(pod.spec).claims:
        name = use.name(pod)
        claim = handle.get(storage.CLAIM, pod.namespace, name)
        if claim is None:
            continue
        if use.ephemeral and not is_owned_by(claim, pod):
            yield volumes.rename_volume(draft, pod, use.claim, handle)
        elif storage.deleting(claim) or volumes.is_lost(claim, handle):
            yield volumes.anew(draft, claim, refusal, handle)
            if storage.deleting(claim) and not use.ephemeral:
                yield from _let_go(draft, claim, pod, handle)
        elif storage.fully_bound(claim):
            yield from _out_of_reach(draft, claim, refusal, handle)
        else:
            yield from _unbound(draft, claim, refusal, handle)


def _let_go(draft: Draft, claim: Manifest, pod: Pod, handle: Handle) -> Iterator[Draft]:
    """Propose to remove a terminating claim so that the pod's StatefulSet recreates pod and claim; for other pods, another claim."""
    name, namespace = storage.name_of(claim), str(claim["metadata"].get("namespace") or "default")
    kept = [each for each in claim["metadata"].get("finalizers") or () if each != PROTECTION]
    made = (controller_of(pod.manifest) or {}).get("kind") == "StatefulSet" and name.endswith(f"-{pod.name}")
    if not made:
        yield volumes.beside(draft, claim, handle)
    if kept:
        values = {"pod": storage.key_of(claim), "finalizers": kept}
        draft = draft.patching(
            Change("finalizer", values),
            f"persistentvolumeclaim {name} -n {namespace}",
            {"metadata": {"finalizers": None}},
        )
    if made:
        yield draft.typing(Change("recreate", {"pod": pod.key}), f"kubectl delete pod {pod.name} -n {namespace}")


# Claims that are not bound


def _unbound(draft: Draft, claim: Manifest, refusal: Refusal, handle: Handle) -> Iterator[Draft]:
    name = storage.class_of(claim)
    known = handle.get(volumes.CLASS, "", name) if name else None
    selected = (claim["metadata"].get("annotations") or {}).get(SELECTED)
    if selected and selected != refusal.node.name:
        values = {"claim": storage.key_of(claim), "node": selected}
        where = f"{storage.name_of(claim)} -n {claim['metadata'].get('namespace') or 'default'}"
        call = f"kubectl annotate persistentvolumeclaim {where} {SELECTED}-"
        yield draft.typing(Change("selected-node", values), call)
    if volume := storage.volume_name(claim):
        change = Change("claim-volume", {"claim": storage.key_of(claim), "volume": volume})
        yield draft.with_object(change, volumes.build_unbound_claim(claim))
    usable = [each for each in volumes.usable_classes(handle) if storage.name_of(each) != name]
    if name and known is None and not any(storage.class_of(volume) == name for volume in handle.list(storage.VOLUME)):
        yield _new_class(draft, claim, name, handle)
    if not name and (claim.get("spec") or {}).get("storageClassName") is None:
        for each in usable[:MOST_CLASSES]:
            yield _default(draft, claim, each)
    waits = known is not None and known.get("volumeBindingMode") == storage.WAIT_FOR_FIRST_CONSUMER
    yield from propose_matches(draft, claim, handle)
    by = str((known or {}).get("provisioner") or "")
    change = Change("volume", {"claim": storage.key_of(claim), "size": volumes.size_of(claim), "class": name, "by": by})
    node = refusal.node.labels.get(HOSTNAME, "") if waits else ""
    yield draft.with_applied(change, volumes.new_volume(claim, node))
    for each in usable[:MOST_CLASSES]:
        values = {"claim": storage.key_of(claim), "from": name, "to": storage.name_of(each)}
        yield draft.with_object(
            Change("claim-class", values), volumes.build_unbound_claim(claim, class_name=storage.name_of(each))
        )
    if known is not None:
        yield from _topologies(draft, known, refusal)
        yield from _propose_capacity(draft, claim, known, refusal, handle)
        yield from _smaller(draft, claim, known, handle)


def _new_class(draft: Draft, claim: Manifest, name: str, handle: Handle) -> Draft:
    """Propose a class like a working one; if there is none, a class for volumes that are created by hand, with such a volume."""
    usable = volumes.usable_classes(handle)
    like = usable[0] if usable else {}
    made: dict[str, Any] = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": volumes.CLASS,
        "metadata": {"name": name},
        "provisioner": like.get("provisioner") or storage.NO_PROVISIONER,
        "volumeBindingMode": storage.WAIT_FOR_FIRST_CONSUMER,
    }
    for field in ("parameters", "reclaimPolicy", "allowedTopologies", "allowVolumeExpansion"):
        if like.get(field) is not None:
            made[field] = like[field]
    change = Change("class", {"class": name, "claim": storage.key_of(claim), "provisioner": made["provisioner"]})
    more = [] if usable else [volumes.new_volume(claim, "")]
    return draft.with_applied(change, made, *more)


def _default(draft: Draft, claim: Manifest, storage_class: Manifest) -> Draft:
    meta = storage_class["metadata"]
    annotations = {**(meta.get("annotations") or {}), volumes.IS_DEFAULT: "true"}
    change = Change("default-class", {"class": storage.name_of(storage_class), "claim": storage.key_of(claim)})
    return draft.with_applied(change, {**storage_class, "metadata": {**meta, "annotations": annotations}})


def _topologies(draft: Draft, storage_class: Manifest, refusal: Refusal) -> Iterator[Draft]:
    """Propose the node's domain in the class's allowedTopologies, or allowed labels for the node if it lacks the keys."""
    allowed = storage_class.get("allowedTopologies") or ()
    expressions = (allowed[0].get("matchLabelExpressions") or ()) if allowed else ()
    labels = refusal.node.labels
    lacking = [each for each in expressions if each["key"] not in labels and each.get("values")]
    if lacking:
        yield label_node(draft, refusal.node, [(each["key"], each["values"][0]) for each in lacking])
    if not expressions or not all(each["key"] in labels for each in expressions):
        return
    here = {"matchLabelExpressions": [{"key": e["key"], "values": [labels[e["key"]]]} for e in expressions]}
    values = {"class": storage.name_of(storage_class), "node": refusal.node.name}
    yield draft.with_object(Change("topologies", values), {**storage_class, "allowedTopologies": [*allowed, here]})


def _propose_capacity(
    draft: Draft, claim: Manifest, storage_class: Manifest, refusal: Refusal, handle: Handle
) -> Iterator[Draft]:
    """Propose a CSIStorageCapacity of the requested size for a driver that has none for the class, or no tracking by the driver."""
    name, provisioner = storage.name_of(storage_class), str(storage_class.get("provisioner") or "")
    driver = handle.get("CSIDriver", "", provisioner)
    if driver is None or not driver["spec"].get("storageCapacity"):
        return
    if any(each.get("storageClassName") == name for each in handle.list(CAPACITY)):
        return
    made = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": CAPACITY,
        "metadata": {"name": f"{name}-{refusal.node.name}"[:253], "namespace": "default"},
        "storageClassName": name,
        "nodeTopology": {"matchLabels": {HOSTNAME: refusal.node.labels.get(HOSTNAME, "")}},
        "capacity": volumes.size_of(claim),
    }
    values = {"driver": provisioner, "class": name, "node": refusal.node.name}
    yield draft.with_applied(Change("storage-capacity", values), made)
    values = {"owner": f"CSIDriver {provisioner}", "field": "storageCapacity", "from": "true", "to": "false"}
    yield draft.with_applied(Change("field", values), {**driver, "spec": {**driver["spec"], "storageCapacity": False}})


def _smaller(draft: Draft, claim: Manifest, storage_class: Manifest, handle: Handle) -> Iterator[Draft]:
    """Propose a claim of the largest size that the driver reports as available."""
    rooms = [room(e) for e in handle.list(CAPACITY) if e.get("storageClassName") == storage.name_of(storage_class)]
    most = max(rooms, default=0) >> 20
    if 0 < most << 20 < value(volumes.size_of(claim)):
        size = f"{most}Mi" if most % 1024 else f"{most // 1024}Gi"
        values = {"claim": storage.key_of(claim), "from": volumes.size_of(claim), "to": size}
        yield draft.with_object(Change("claim-size", values), volumes.build_unbound_claim(claim, size=size))


# Claims whose volume the node can't reach


def _out_of_reach(draft: Draft, claim: Manifest, refusal: Refusal, handle: Handle) -> Iterator[Draft]:
    """Propose to recreate a claim whose volume the node can't reach, if no pod uses the claim."""
    volume = handle.get(storage.VOLUME, "", storage.volume_name(claim))
    if volume is None or as_mask(refusal.nodes, volume_rows(refusal.nodes, volume))[refusal.row]:
        return
    yield from _propose_hostname(draft, volume, refusal)
    used = any(
        pod.spec.volumes
        and pod.namespace == claim["metadata"].get("namespace")
        and any(use.name(pod) == storage.name_of(claim) for use in storage.volumes_of(pod.spec).claims)
        for pods in refusal.nodes.pods
        for pod in pods
    )
    if not used:
        yield volumes.anew(draft, claim, refusal, handle)


def _propose_hostname(draft: Draft, volume: Manifest, refusal: Refusal) -> Iterator[Draft]:
    """Propose node labels that the volume's affinity requires: the hostname, or a key whose value the node has under another prefix."""
    node, required = refusal.node, volume["spec"]["nodeAffinity"]["required"]
    for term in required.get("nodeSelectorTerms") or ():
        for each in term.get("matchExpressions") or ():
            key, alike = str(each.get("key")), find_alike(node.labels, each)
            if key == HOSTNAME and node.name in (each.get("values") or ()):
                yield label_node(draft, node, [(HOSTNAME, node.name)])
                return
            if key not in node.labels and alike:
                yield label_node(draft, node, [(key, node.labels[alike])])


def find_alike(labels: Mapping[str, str], expression: Manifest) -> str:
    """Return the label key with another prefix that has a value the volume requires, such as a renamed key; "" if there is none."""
    name = str(expression.get("key")).rpartition("/")[2]
    values = expression.get("values") or ()
    return next((key for key, has in labels.items() if key.rpartition("/")[2] == name and has in values), "")

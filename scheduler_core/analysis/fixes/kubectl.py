"""Fixes as users type them: kubectl, with the text for its standard input.

An object that a workload's controller creates is changed in the workload's template, because the controller would create the old pod
again.
"""

import json
from collections.abc import Iterator, Mapping
from shlex import quote
from typing import Any

import msgspec
import yaml

from scheduler_core.apimachinery.objects import Manifest, controller_of, is_extended_name
from scheduler_core.apiserver import KINDS, Store
from scheduler_core.apiserver.admission.plugins.tolerations import build_default_tolerations
from scheduler_core.apiserver.object_defaults import without_template_defaults
from scheduler_core.apiserver.options import APIServerOptions
from scheduler_core.apiserver.rewriting import SERVER_OWNED
from scheduler_core.apiserver.validation.cluster import validate_update
from scheduler_core.scheduler.framework.drafts import Change, Draft
from scheduler_core.world.commands import ApplyObjects, Command, DeleteObjects, PatchObject, Ref, SetConfiguration

# Drafts as commands for a diagnosis: all changes at once, before anything is run.

FORCED = ("Pod", "ResourceClaim")  # ApplyObjects recreates these itself


def commands_of(draft: Draft) -> tuple[Command, ...]:
    """Return the commands that make a draft's changes to objects, in this order."""
    commands: list[Command] = []
    if draft.configuration is not None:
        scheduler, configuration = draft.configuration
        commands.append(SetConfiguration(configuration, scheduler))
    pod = draft.pod
    if pod is not None and draft.original["spec"].get("nodeName"):  # only a pod on a node is deleted first
        commands += _build_force_delete(pod)
        pod = clean(pod)
    others = []
    for manifest in draft.others:
        if manifest["kind"] not in FORCED:
            commands += _build_force_delete(manifest)
        others.append(manifest if manifest["kind"] in FORCED else clean(manifest))
    nodes = [manifest for _, manifest in draft.nodes]
    objects = (*map(bare, draft.objects), *([bare(pod)] if pod is not None else []), *nodes, *map(bare, others))
    if objects:
        forced = bool(draft.others) or recreates(draft)
        commands.append(ApplyObjects(objects, force=True) if forced else ApplyObjects(objects))
    return tuple(commands)


def _build_force_delete(manifest: Manifest) -> list[Command]:
    """Return the commands that delete an object at once. Finalizers that would keep the object are removed."""
    ref = Ref(manifest["kind"], manifest["metadata"].get("namespace") or "", manifest["metadata"]["name"])
    gone = DeleteObjects((ref,), grace_period_seconds=0)
    held = manifest["kind"] != "Pod" or manifest["metadata"].get("finalizers")  # drafts of other kinds omit finalizers
    return [PatchObject(ref, {"metadata": {"finalizers": None}}), gone] if held else [gone]


def bare(manifest: Manifest) -> Manifest:
    """Return an object without its status, which only the cluster writes."""
    return {name: value for name, value in manifest.items() if name != "status"}


def clean(manifest: Manifest) -> dict[str, Any]:
    """Return an object without the fields that the API server writes."""
    meta = {name: value for name, value in manifest["metadata"].items() if value and name not in SERVER_OWNED}
    meta.pop("finalizers", None)
    spec: Any = manifest.get("spec")
    if manifest.get("kind") == "Pod":
        spec = _without_defaults(spec)
    rest = {name: value for name, value in manifest.items() if name != "spec"}
    return {**rest, "metadata": meta, **({"spec": spec} if spec else {})}


_ADDED_TOLERATIONS = build_default_tolerations(APIServerOptions())  # unless the API server has other options


def _without_defaults(spec: Manifest) -> Manifest:
    """Return a pod's spec without the values of defaulting and admission, which write them again: a priority may differ by then."""
    short: Manifest = without_template_defaults({"template": {"spec": spec}})["template"]["spec"]
    tolerations = [each for each in spec.get("tolerations") or () if each not in _ADDED_TOLERATIONS]
    rest = {name: value for name, value in short.items() if name not in ("priority", "preemptionPolicy", "tolerations")}
    return {**rest, "tolerations": tolerations} if tolerations else rest


def recreates(draft: Draft) -> bool:
    """Return True if the pod cannot be changed in place and must be recreated."""
    return draft.pod is not None and bool(validate_update(draft.original, draft.pod, KINDS["Pod"], ""))


_DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


# Controllers of these kinds do not replace a waiting pod after a change of the template.
_BY_HAND = ("ReplicaSet", "ReplicationController", "StatefulSet")


def kubectl_of(draft: Draft, store: Store) -> str:
    """Return the calls one after another, each on lines of its own, or "" if the pod's template can't express a change."""
    lines = list(_lines(draft, store))
    return "" if "" in lines else "\n".join(lines)


def _lines(draft: Draft, store: Store) -> Iterator[str]:
    if draft.configuration is not None:
        scheduler, configuration = draft.configuration
        yield _format_file_command(f"{scheduler}.yaml", configuration)
    for each in draft.objects:
        yield _set_object(each, store)
    movers = [each for each in draft.others if each["metadata"].get("ownerReferences") and each["kind"] == "Pod"]
    if movers:
        yield from _list_move_commands(movers, store)
    anew = [clean(bare(each)) for each in draft.others if each not in movers]
    if anew:
        yield _format_piped_command("kubectl replace --force -f -", anew)
    if draft.pod is not None:
        yield _pod(draft, draft.pod, store)
    for change in draft.changes:
        yield from _node_call(change)
    new = [_prepare_registration(manifest) for name, manifest in draft.nodes if store.node(name) is None]
    if new:
        yield _format_piped_command("kubectl apply -f -", new)
    for (kind, namespace, name, subresource), patch in draft.patched:
        part = f" --subresource={subresource}" if subresource else ""
        yield f"kubectl patch {kind.lower()} {name}{_in(namespace)}{part} -p {_json(patch)}"
    yield from draft.typed
    for namespace in dict.fromkeys(namespace for namespace, _ in draft.deleted):
        names = " ".join(name for where, name in draft.deleted if where == namespace)
        yield f"kubectl delete pod {names}{_in(namespace)}"


def _set_object(manifest: Manifest, store: Store) -> str:
    """Return the call that creates an object, or that patches the fields of an existing one."""
    meta = manifest["metadata"]
    namespace = str(meta.get("namespace") or "")
    old = store.get(manifest["kind"], namespace, meta["name"])
    made = clean(bare(manifest))
    if old is None:
        return _format_piped_command("kubectl apply -f -", [made])
    patch = _json(_difference(clean(bare(old)), made))
    return f"kubectl patch {manifest['kind'].lower()} {meta['name']}{_in(namespace)} --type=merge -p {patch}"


def _prepare_registration(manifest: Manifest) -> dict[str, Any]:
    """Return a new node for registration with the API server. The kubelet writes the conditions."""
    status = {name: value for name, value in manifest["status"].items() if name in ("capacity", "allocatable")}
    return {**clean(manifest), "status": status}


# Fields that a kubelet writes into its node, and how to change their amounts.
_KUBELETS = {
    "pods": "set maxPods to {to}",
    "ephemeral-storage": "set localStorageCapacityIsolation to true",
    "hugepages-": "reserve the pages",
}


def _node_call(change: Change) -> Iterator[str]:
    values = change.values
    if change.kind == "label":
        yield f"kubectl label node {values['node']} {quote(values['key'] + '=' + values['value'])} --overwrite"
    elif change.kind == "unlabel":
        yield f"kubectl label node {values['node']} {quote(values['key'] + '-')}"
    elif change.kind in ("taint", "taint-left"):
        yield f"kubectl taint node {values['node']} {quote(values['taint'] + '-')}"
    elif change.kind == "uncordon":
        yield f"kubectl uncordon {values['node']}"
    elif change.kind == "capacity":
        amounts = {values["resource"]: values["to"]}
        for first in (text.format(**values) for name, text in _KUBELETS.items() if values["resource"].startswith(name)):
            yield f"# First {first} for the kubelet of {values['node']}, which writes the amount itself and undoes a patch alone."
        if is_extended_name(values["resource"]):
            yield f"# First have its device plugin report it on {values['node']}. What has no plugin is advertised so."
        patch = _json({"status": {"capacity": amounts, "allocatable": amounts}})
        yield f"kubectl patch node {values['node']} --subresource=status --type=merge -p {patch}"
    elif change.kind == "ready":
        yield f"kubectl describe node {values['node']}"


def _list_move_commands(pods: list[Manifest], store: Store) -> Iterator[str]:
    """Yield the calls that move pods: their controllers create new pods while the nodes are cordoned."""
    keys = [(pod["metadata"].get("namespace") or "default", pod["metadata"]["name"]) for pod in pods]
    there = (store.pod(namespace, name) for namespace, name in keys)
    nodes = dict.fromkeys(pod.node_name for pod in there if pod is not None)
    yield from (f"kubectl cordon {node}" for node in nodes)
    yield from (f"kubectl delete pod {name}{_in(namespace)}" for namespace, name in keys)
    yield from (f"kubectl uncordon {node}" for node in nodes)


# The pod


def _pod(draft: Draft, pod: Manifest, store: Store) -> str:
    meta = pod["metadata"]
    namespace, name = meta.get("namespace") or "default", meta["name"]
    before, after = draft.original.get("spec") or {}, pod["spec"]
    owner = workload_of(store, draft.original)
    if owner is not None:
        return _template(owner, name, before, after, admitted=bool(draft.objects))
    if not recreates(draft):
        patch = _json({"spec": _difference(before, after)})
        return f"kubectl patch pod {name}{_in(namespace)} --type=merge -p {patch}"
    return _format_piped_command("kubectl replace --force -f -", [clean(bare(pod))])


def _template(owner: Manifest, pod: str, before: Manifest, after: Manifest, *, admitted: bool) -> str:
    """Return the calls that make the same change in the workload's template effective, or "" if nothing changes there.

    `admitted`: another object changes, too, and admission writes its values into the controller's next pods.
    """
    kind, meta = owner["kind"], owner["metadata"]
    template: Manifest = owner["spec"]["template"]["spec"]
    wanted = carry_over(before, after, template)
    where = _in(str(meta.get("namespace") or "default"))
    if _without_empty(wanted) == _without_empty(template):
        return f"kubectl delete pod {pod}{where}" if admitted else ""
    if _is_claimed_elsewhere(owner, template, wanted):
        return ""
    if kind == "Job":  # its template is immutable
        return renew_job(owner, template={**owner["spec"]["template"], "spec": wanted})
    calls = [
        f"kubectl set resources {kind.lower()} {meta['name']}{where} -c {container}{amounts}"
        for container, amounts in _resources(template, wanted)
    ]
    if not calls:
        patch = _json({"spec": {"template": {"spec": _difference(template, wanted)}}})
        calls = [f"kubectl patch {kind.lower()} {meta['name']}{where} --type=merge -p {patch}"]
    by_hand = (owner["spec"].get("updateStrategy") or {}).get("type") == "OnDelete"
    above = controller_of(owner)
    if above is not None and kind != above["kind"] and kind != "Job":  # a kind that is not modeled here
        resource = f"{above['kind'].lower()}.{str(above.get('apiVersion')).partition('/')[0]}"
        calls = [f"# First kubectl edit {resource} {above['name']}{where}: it writes the template of {kind}.", *calls]
    if kind in _BY_HAND or by_hand:
        calls.append(f"kubectl delete pod {pod}{where}")
    return "\n".join(calls)


def without_job_labels(manifest: Manifest) -> dict[str, Any]:
    """Return a Job, or its template, without the labels by which the API server ties pods to their Job."""
    own = [f"{domain}{name}" for domain in ("", "batch.kubernetes.io/") for name in ("job-name", "controller-uid")]
    meta = dict(manifest.get("metadata") or {})
    meta["labels"] = {name: value for name, value in (meta.get("labels") or {}).items() if name not in own}
    return {**manifest, "metadata": {name: value for name, value in meta.items() if value}}


def renew_job(job: Manifest, **spec: Any) -> str:
    """Return the call that recreates a Job, whose template is immutable, with fields of its spec set. None removes a field."""
    kept = {name: value for name, value in {**job["spec"], "selector": None, **spec}.items() if value is not None}
    kept.pop("manualSelector", None)
    made = {**without_job_labels(job), "spec": {**kept, "template": without_job_labels(kept["template"])}}
    return format_apply(clean(bare(made)), "replace --force")


def _without_empty(data: Any) -> Any:
    """Return the data without empty objects and lists."""
    if isinstance(data, Mapping):
        made = {key: _without_empty(each) for key, each in data.items()}
        return {key: each for key, each in made.items() if each not in ({}, [], None)}
    return [_without_empty(each) for each in data] if isinstance(data, list) else data


def _is_claimed_elsewhere(owner: Manifest, template: Manifest, wanted: Manifest) -> bool:
    """Return whether the only changed volumes are those that volumeClaimTemplates override."""
    mine = {each["metadata"]["name"] for each in owner["spec"].get("volumeClaimTemplates") or ()}
    had = template.get("volumes") or ()
    changed = [each for each in wanted.get("volumes") or () if each not in had]
    rest = {**wanted, "volumes": template.get("volumes")} == {**template, "volumes": template.get("volumes")}
    return rest and all(each["name"] in mine for each in changed)


def carry_over(old: Any, new: Any, target: Any) -> Any:
    """Return `target` with the changes between `old` and `new` applied. The rest of it stays."""
    if old == new:
        return target
    if isinstance(new, Mapping) and isinstance(old or {}, Mapping) and isinstance(target or {}, Mapping):
        had, out = old or {}, dict(target or {})
        for key in {**had, **new}:
            if key not in new:
                out.pop(key, None)
            elif had.get(key) != new[key]:
                out[key] = carry_over(had.get(key), new[key], out.get(key))
        return out
    if isinstance(new, list) and isinstance(old, list) and isinstance(target, list):
        return _carry_list(old, new, target)
    return new


def _carry_list(old: list[Any], new: list[Any], target: list[Any]) -> list[Any]:
    """Return named elements by name and in the new order, lists of equal length element by element, and other lists as sets."""
    if all(isinstance(each, Mapping) and "name" in each for each in (*old, *new, *target)):
        had, has = ({each["name"]: each for each in side} for side in (old, target))
        order = [each["name"] for each in new if each["name"] in has or each["name"] not in had]
        kept = [name for name in has if name not in had]
        now = {each["name"]: each for each in new}
        return [
            has[name] if name in kept else carry_over(had.get(name), now[name], has.get(name))
            for name in (*order, *kept)
        ]
    if len(old) == len(new) == len(target):
        return [carry_over(*each) for each in zip(old, new, target, strict=True)]
    gone = [each for each in old if each not in new]
    return [each for each in target if each not in gone] + [each for each in new if each not in old]


def _difference(before: Manifest, after: Manifest) -> dict[str, Any]:
    """Return the JSON merge patch between two objects: removed fields are null, and lists are complete."""
    patch: dict[str, Any] = {}
    for key in {**before, **after}:
        old, new = before.get(key), after.get(key)
        if old == new:
            continue
        nested = isinstance(old, Mapping) and isinstance(new, Mapping)
        patch[key] = _difference(dict(old or {}), dict(new or {})) if nested else new
    return patch


def _resources(before: Manifest, after: Manifest) -> list[tuple[str, str]]:
    """Return the containers with changed amounts, and the flags that set them. Return [] if more changes, or if an amount is removed."""
    out, rest = [], [dict(before), dict(after)]
    for field in ("containers", "initContainers"):
        olds, news = ([*(side.pop(field, None) or ())] for side in rest)
        if [each["name"] for each in olds] != [each["name"] for each in news]:
            return []
        for old, new in zip(olds, news, strict=True):
            if {**old, "resources": None} != {**new, "resources": None}:
                return []
            sides = [{**(each.get("resources") or {})} for each in (old, new)]
            flags = ""
            for part in ("requests", "limits"):
                had, has = (dict(side.pop(part, None) or {}) for side in sides)
                if had.keys() - has.keys():
                    return []
                amounts = [f"{name}={amount}" for name, amount in has.items() if had.get(name) != amount]
                flags += f" --{part}={','.join(amounts)}" if amounts else ""
            if sides[0] != sides[1]:
                return []
            out += [(new["name"], flags)] if flags else []
    return out if rest[0] == rest[1] else []


def workload_of(store: Store, pod: Manifest) -> Manifest | None:
    """Return the workload with the pod's template: its controller, or that controller's own. Return None if neither exists."""
    found, meta = None, pod["metadata"]
    for _ in range(2):
        owner = next((ref for ref in meta.get("ownerReferences") or () if ref.get("controller")), None)
        above = owner and store.get(owner["kind"], meta.get("namespace") or "default", owner["name"])
        if above is None or "template" not in (above.get("spec") or {}):
            break
        found, meta = above, above["metadata"]
    return found


# Texts


def _in(namespace: str) -> str:
    return f" -n {namespace}" if namespace else ""


def _json(data: Any) -> str:
    return quote(json.dumps(msgspec.to_builtins(data), ensure_ascii=False))


def format_apply(manifest: Manifest, verb: str = "apply") -> str:
    """Return the call that creates an object, or recreates it."""
    return _format_piped_command(f"kubectl {verb} -f -", [dict(manifest)])


def _format_piped_command(command: str, manifests: list[dict[str, Any]]) -> str:
    return f"{command} <<'EOF'\n{_yaml(manifests)}EOF"


def _format_file_command(path: str, manifest: Manifest) -> str:
    return f"cat > {path} <<'EOF'\n{_yaml([dict(manifest)])}EOF"


def _yaml(manifests: list[dict[str, Any]]) -> str:
    texts = (
        yaml.dump(msgspec.to_builtins(manifest), Dumper=_DUMPER, sort_keys=False, allow_unicode=True, width=1000)
        for manifest in manifests
    )
    return "---\n".join(texts)

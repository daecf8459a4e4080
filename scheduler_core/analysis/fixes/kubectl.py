"""A fix as people type it: kubectl, with what it reads from its standard input.

What a workload's controller makes is changed in the workload's template, as the controller would make the old pod again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from shlex import quote
from typing import Any

import msgspec
import yaml

from scheduler_core.analysis.fixes.commands import FORCED, bare, clean, recreates
from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apiserver.store import Store
from scheduler_core.scheduler.framework.drafts import Change, Draft

_DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


def kubectl_of(draft: Draft, store: Store) -> str:
    """One call after the other, each on lines of its own."""
    return "\n".join(_lines(draft, store))


def _lines(draft: Draft, store: Store) -> Iterator[str]:
    if draft.configuration is not None:
        yield _format_file_command("kube-scheduler.yaml", draft.configuration[1])
    for manifest in draft.others:
        if manifest["kind"] not in FORCED:
            yield _delete(manifest["kind"], manifest["metadata"])
    made = [clean(bare(each)) for each in (*draft.objects, *_exclude_forced(draft.others))]
    if made:
        yield _format_piped_command("kubectl apply -f -", made)
    movers = [
        each for each in draft.others if each["metadata"].get("ownerReferences") and each["kind"] == "Pod"
    ]
    if movers:
        yield from _list_move_commands(movers, store)
    forced = [clean(bare(each)) for each in draft.others if each["kind"] in FORCED and each not in movers]
    if forced:
        yield _format_piped_command("kubectl replace --force -f -", forced)
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
    for namespace in dict.fromkeys(namespace for namespace, _ in draft.deleted):
        names = " ".join(name for where, name in draft.deleted if where == namespace)
        yield f"kubectl delete pod {names}{_in(namespace)}"


def _exclude_forced(manifests: tuple[Manifest, ...]) -> list[Manifest]:
    return [each for each in manifests if each["kind"] not in FORCED]


def _prepare_registration(manifest: Manifest) -> dict[str, Any]:
    """A new node as it is told to the API server: its conditions are its kubelet's to write."""
    status = {
        name: value for name, value in manifest["status"].items() if name in ("capacity", "allocatable")
    }
    return {**clean(manifest), "status": status}


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
        patch = _json({"status": {"capacity": amounts, "allocatable": amounts}})
        yield f"kubectl patch node {values['node']} --subresource=status --type=merge -p {patch}"
    elif change.kind == "ready":
        yield f"kubectl describe node {values['node']}"


def _list_move_commands(pods: list[Manifest], store: Store) -> Iterator[str]:
    """Their controllers make them anew while the node takes none."""
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
    changed = _difference(before, after)
    owner = workload_of(store, draft.original)
    if owner is not None:
        resources = _resources(before, after) if set(changed) == {"containers"} else ()
        kind, owned = owner["kind"].lower(), owner["metadata"]["name"]
        if resources:
            return "\n".join(
                f"kubectl set resources {kind} {owned}{_in(namespace)} -c {container} --requests={amounts}"
                for container, amounts in resources
            )
        if "containers" not in changed and "nodeName" not in changed:
            patch = _json({"spec": {"template": {"spec": changed}}})
            return f"kubectl patch {kind} {owned}{_in(namespace)} --type=merge -p {patch}"
    if not recreates(draft):
        return f"kubectl patch pod {name}{_in(namespace)} --type=merge -p {_json({'spec': changed})}"
    return _format_piped_command("kubectl replace --force -f -", [clean(bare(pod))])


def _difference(before: Manifest, after: Manifest) -> dict[str, Any]:
    """A JSON merge patch from one to the other: what goes is null, lists come whole."""
    patch: dict[str, Any] = {}
    for key in {**before, **after}:
        old, new = before.get(key), after.get(key)
        if old == new:
            continue
        nested = isinstance(old, Mapping) and isinstance(new, Mapping)
        patch[key] = _difference(dict(old or {}), dict(new or {})) if nested else new
    return patch


def _resources(before: Manifest, after: Manifest) -> list[tuple[str, str]]:
    """Containers with other requests, and what they ask for now."""
    out = []
    for old, new in zip(before["containers"], after["containers"], strict=False):
        if old != new:
            amounts = ((new.get("resources") or {}).get("requests") or {}).items()
            out.append((new["name"], ",".join(f"{name}={amount}" for name, amount in amounts)))
            if {**old, "resources": None} != {**new, "resources": None}:
                return []
    return out


def workload_of(store: Store, pod: Manifest) -> Manifest | None:
    """Return the workload that has the pod's template: its controller, or that controller's own; None if neither exists."""
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


def _delete(kind: str, meta: Mapping[str, Any]) -> str:
    return f"kubectl delete {kind.lower()} {meta['name']}{_in(meta.get('namespace') or '')}"


def _json(data: Any) -> str:
    return quote(json.dumps(msgspec.to_builtins(data), ensure_ascii=False))


def _format_piped_command(command: str, manifests: list[dict[str, Any]]) -> str:
    return f"{command} <<'EOF'\n{_yaml(manifests)}EOF"


def _format_file_command(path: str, manifest: Manifest) -> str:
    return f"cat > {path} <<'EOF'\n{_yaml([dict(manifest)])}EOF"


def _yaml(manifests: list[dict[str, Any]]) -> str:
    texts = (
        yaml.dump(
            msgspec.to_builtins(manifest), Dumper=_DUMPER, sort_keys=False, allow_unicode=True, width=1000
        )
        for manifest in manifests
    )
    return "---\n".join(texts)

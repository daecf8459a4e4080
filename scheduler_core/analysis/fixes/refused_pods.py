"""Pods that admission or validation refuses: the API server's message about one more pod, and the change that it suggests."""

import copy
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import reduce
from shlex import quote
from typing import Any

import msgspec

from scheduler_core.analysis.fixes.admission import ask_api_server, pod_of
from scheduler_core.analysis.fixes.kubectl import bare, clean, format_apply, renew_job, workload_of
from scheduler_core.analysis.fixes.policies import ANY, Edits, build_patch, satisfy
from scheduler_core.analysis.fixes.shell import KINDS_BY_WORD, WEBHOOKS
from scheduler_core.apimachinery.objects import Manifest, nanos
from scheduler_core.apimachinery.objects.demand import BEST_EFFORT, qos_class
from scheduler_core.apiserver.admission.plugins import pod_security, tolerations
from scheduler_core.apiserver.admission.plugins.admission_policy import BINDING, POLICY
from scheduler_core.apiserver.admission.plugins.simple import ANNOTATION
from scheduler_core.apiserver.kinds import find_kind, get_kind_by_key
from scheduler_core.apiserver.registry.strategies import apply_patch
from scheduler_core.scheduler.framework.drafts import Change, Draft
from scheduler_core.scheduler.plugins.helper.arguments import likeness
from scheduler_core.scheduler.plugins.noderesources.amounts import quantity
from scheduler_core.world.simulation import Simulation

VALUE = 1_000  # of a new PriorityClass
PODS = "1000"
MOST, _PARALLEL = 2, "Parallel"
LONGEST = (
    52  # of a StatefulSet's name: a label of its pods has 63 characters, for the name, a dash, and the revision's hash
)
_USED_UP = {"DeadlineExceeded": "activeDeadlineSeconds", "FailedIndexes": "backoffLimitPerIndex"}


def propose_admission(sim: Simulation, owner: Manifest, namespace: str, why: str) -> Iterator[Draft]:
    """Propose the changes that a message suggests."""
    pod = pod_of(owner, namespace)
    draft = Draft(pod)
    above = workload_of(sim.store, owner) or owner
    target = f"{above['kind'].lower()} {above['metadata']['name']} -n {namespace}"
    for pattern, propose in _MESSAGES:
        for found in re.finditer(pattern, why):
            yield from propose(sim, draft, target, found)


def resume(sim: Simulation, owner: Manifest, namespace: str) -> Iterator[Draft]:
    """Propose to resume a workload that its own spec stops."""
    above = workload_of(sim.store, owner) or owner
    kind, name, spec = above["kind"], above["metadata"]["name"], above["spec"]
    draft = Draft({"metadata": {"name": name, "namespace": namespace}, "spec": {}})
    change = Change("resume", {"owner": f"{kind} {name}"})
    if spec.get("paused"):
        yield draft.typing(change, f"kubectl rollout resume {kind.lower()} {name} -n {namespace}")
    if spec.get("suspend"):
        yield draft.patching(change, f"{kind.lower()} {name} -n {namespace}", {"spec": {"suspend": False}})
    if kind in ("Deployment", "StatefulSet") and spec.get("replicas") == 0:
        change = Change("replicas", {"owner": f"{kind} {name}", "from": 0, "to": 1})
        yield draft.typing(change, f"kubectl scale {kind.lower()} {name} -n {namespace} --replicas=1")
    if kind == "Job" and spec.get("parallelism") == 0:
        change = Change("replicas", {"owner": f"Job {name}", "from": 0, "to": 1})
        yield draft.patching(change, f"job {name} -n {namespace}", {"spec": {"parallelism": 1}})


def rebuild(owner: Manifest, namespace: str) -> Iterator[Draft]:
    """Propose to recreate a workload whose immutable state stops it: the order of its pods, or used-up retries and time."""
    kind, name, spec = owner["kind"], owner["metadata"]["name"], owner["spec"]
    draft, made = Draft(pod_of(owner, namespace)), clean(bare(owner))
    if kind == "StatefulSet" and spec.get("podManagementPolicy") != _PARALLEL:
        made["spec"] = {**spec, "podManagementPolicy": _PARALLEL}
        orphaning = f"kubectl delete statefulset {name} -n {namespace} --cascade=orphan"
        yield draft.typing(Change("parallel", {"owner": name}), orphaning, format_apply(made))
    failed = [each for each in (owner.get("status") or {}).get("conditions") or () if each.get("type") == "Failed"]
    if kind == "Job" and failed and failed[0].get("reason") == "PodFailurePolicy":
        yield draft.typing(Change("failure-rule", {"job": name}), renew_job(owner, podFailurePolicy=None))
    elif kind == "Job" and (failed or (owner.get("status") or {}).get("failedIndexes")):
        field = _USED_UP.get(str(failed[0].get("reason")) if failed else "FailedIndexes", "backoffLimit")
        limit, template = int(spec.get(field, 6)), spec["template"]
        if template["spec"].get("restartPolicy") == "OnFailure" and field == "backoffLimit":
            values = {"job": name, "field": "restartPolicy", "from": "OnFailure", "to": "Never"}
            keeping = {**template, "spec": {**template["spec"], "restartPolicy": "Never"}}
            yield draft.typing(Change("job-anew", values), renew_job(owner, template=keeping))
        change = Change("job-anew", {"job": name, "field": field, "from": limit, "to": 2 * limit or 1})
        yield draft.typing(change, renew_job(owner, **{field: 2 * limit or 1}))


Proposing = Callable[[Simulation, Draft, str, "re.Match[str]"], Iterator[Draft]]


def _allow_scope(sim: Simulation, draft: Draft, target: str, found: re.Match[str]) -> Iterator[Draft]:
    pod = draft.original
    name, namespace = str(pod["spec"].get("priorityClassName") or ""), pod["metadata"]["namespace"]
    if not name:
        return
    scope = {"scopeName": "PriorityClass", "operator": "In", "values": [name]}
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": f"{name}-pods", "namespace": namespace},
        "spec": {"hard": {"pods": PODS}, "scopeSelector": {"matchExpressions": [scope]}},
    }
    yield draft.typing(Change("quota-scope", {"namespace": namespace, "class": name}), format_apply(quota))
    yield _patch(draft, target, Change("priority-class-left", {"class": name}), {"priorityClassName": None})


def find_conflicts(sim: Simulation, pod: Manifest) -> list[tuple[str, str]]:
    """List the labels of a pod's node selector that conflict with its namespace's, each with the namespace's value."""
    own = pod["spec"].get("nodeSelector") or {}
    theirs = (each.strip() for each in _selector_of(sim, pod).split(",") if "=" in each)
    labels = dict(each.split("=", 1) for each in theirs)
    return [(f"{key}={own[key]}", f"{key}={value}") for key, value in labels.items() if own.get(key, value) != value]


def _selector_of(sim: Simulation, pod: Manifest) -> str:
    namespace = sim.store.get("Namespace", "", pod["metadata"]["namespace"]) or {"metadata": {}}
    return str((namespace["metadata"].get("annotations") or {}).get(ANNOTATION) or "")


def _agree_on_nodes(sim: Simulation, draft: Draft, target: str, found: re.Match[str]) -> Iterator[Draft]:
    """Propose to remove the template's node labels that conflict with its namespace's, or to change the namespace's to match."""
    name, text = draft.original["metadata"]["namespace"], _selector_of(sim, draft.original)
    if conflicts := find_conflicts(sim, draft.original):
        keys = {own.partition("=")[0]: None for own, _ in conflicts}
        change = Change("selector", {"text": ", ".join(own for own, _ in conflicts)})
        yield _patch(draft, target, change, {"nodeSelector": keys})
        new = reduce(lambda text, pair: text.replace(pair[1], pair[0]), conflicts, text)
        values = {"owner": f"Namespace {name}", "field": ANNOTATION, "from": text, "to": new}
        call = f"kubectl annotate namespace {name} {quote(f'{ANNOTATION}={new}')} --overwrite"
        yield draft.typing(Change("field", values), call)


def _make_class(sim: Simulation, draft: Draft, target: str, found: re.Match[str]) -> Iterator[Draft]:
    name = found["name"]
    made = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}, "value": VALUE}
    yield draft.typing(Change("priority-class", {"class": name}), format_apply(made))
    for other in _alike(sim, "PriorityClass", name):
        yield _patch(
            draft,
            target,
            Change("priority", {"class": other, "value": 0, "from": -1, "new": False}),
            {"priorityClassName": other},
        )


def _name_runtime_class(sim: Simulation, draft: Draft, target: str, found: re.Match[str]) -> Iterator[Draft]:
    name = found["name"]
    by_handler = [str(c["metadata"]["name"]) for c in sim.store.list("RuntimeClass") if c.get("handler") == name]
    for other in by_handler or _alike(sim, "RuntimeClass", name):
        change = Change("runtime-class-name", {"from": name, "to": other})
        yield _patch(draft, target, change, {"runtimeClassName": other})
    made = {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": name}, "handler": name}
    yield draft.typing(Change("runtime-class-made", {"class": name}), format_apply(made))
    yield _patch(draft, target, Change("runtime-class-left", {"class": name}), {"runtimeClassName": None})


def _alike(sim: Simulation, kind: str, name: str) -> list[str]:
    names = [str(each["metadata"]["name"]) for each in sim.store.list(kind)]
    ours = [each for each in names if not each.startswith("system-")]
    return sorted(ours, key=lambda other: (-likeness(name, other), other))[:MOST]


def _patch(draft: Draft, target: str, change: Change, spec: dict[str, Any]) -> Draft:
    return draft.patching(change, target, {"spec": {"template": {"spec": spec}}})


def _keep_limits(sim: Simulation, draft: Draft, target: str, found: re.Match[str]) -> Iterator[Draft]:
    """Propose the bound of a LimitRange for the containers that violate it."""
    resource, allowed, most = found["resource"], found["amount"], found["what"] == "maximum"
    settings = []
    for container in draft.original["spec"]["containers"]:
        given = container.get("resources") or {}
        for part in ("requests", "limits") if most else ("limits", "requests"):
            had = (given.get(part) or {}).get(resource)
            over = had is not None and (nanos(had) > nanos(allowed) if most else nanos(had) < nanos(allowed))
            if over or (had is None and part == found["field"] + "s"):
                settings.append((container["name"], part, resource, allowed))
    if ask_api_server(sim, draft.original):  # else the refusal is about an added container
        yield from _set_all(draft, target, settings)


def find_bounds(sim: Simulation, namespace: str, text: str) -> Iterator[tuple[Manifest, list[Manifest], list[Change]]]:
    """Yield the LimitRanges whose bounds a refusal names, each with limits that allow the requested amounts, and the changes."""
    found = [*re.finditer(_BOUND % r"\w+", text)]
    for manifest in sim.store.list("LimitRange"):
        had = (manifest["spec"].get("limits") or ()) if manifest["metadata"]["namespace"] == namespace else ()
        limits, changes = msgspec.to_builtins([*had]), dict[tuple[str, str, str], Change]()
        for item, new, each in ((*pair, each) for pair in zip(had, limits, strict=True) for each in found):
            side, resource, asked = each["what"][:3], each["resource"], each["asked"]
            bound, now = (nanos((of.get(side) or {}).get(resource) or 0) for of in (item, new))
            is_further = nanos(asked) < now if side == "min" else nanos(asked) > now
            if item.get("type") == each["type"] and bound == nanos(each["bound"]) and is_further:
                new[side][resource] = asked
                values = {"limitRange": manifest["metadata"]["name"], "field": side, "resource": resource}
                values |= {"of": each["type"], "from": each["bound"], "to": asked}
                changes[each["type"], side, resource] = Change("limit-range-bound", values)
        if changes:
            yield manifest, limits, [*changes.values()]


def _raise_bound(sim: Simulation, draft: Draft, target: str, found: re.Match[str]) -> Iterator[Draft]:
    """Propose LimitRanges that allow everything that a refusal names. Only the first match of a text counts."""
    namespace, changed = draft.original["metadata"]["namespace"], draft
    if re.search(_BOUND % r"\w+", found.string[: found.start()]):
        return
    for manifest, limits, (*more, last) in find_bounds(sim, namespace, found.string):
        changed = replace(changed, changes=(*changed.changes, *more))
        where = f"limitrange {manifest['metadata']['name']} -n {namespace}"
        changed = changed.patching(last, where, {"spec": {"limits": limits}})
    if changed is not draft:
        yield changed


def _lower_largest(sim: Simulation, draft: Draft, target: str, found: re.Match[str]) -> Iterator[Draft]:
    """Propose to lower the largest container by the pod's excess."""
    resource, part = found["resource"], found["field"] + "s"
    over = nanos(found["asked"]) - nanos(found["bound"])
    given = {
        each["name"]: nanos(((each.get("resources") or {}).get(part) or {}).get(resource) or 0)
        for each in draft.original["spec"]["containers"]
    }
    largest = max(given, key=lambda name: given[name])
    scale = 1_000_000 if resource == "cpu" else 1_000_000_000
    if 0 < over < given[largest]:
        text = quantity(resource, (given[largest] - over) // scale)
        values = {"field": part, "resource": resource, "container": largest, "to": text}
        flags = f"--limits={resource}={text} --requests={resource}={text}"
        yield draft.typing(Change("limits", values), f"kubectl set resources {target} -c {largest} {flags}")


def _shorten_name(sim: Simulation, draft: Draft, target: str, found: re.Match[str]) -> Iterator[Draft]:
    """Propose a shorter name for the StatefulSet, so that its pods' label has room for the revision."""
    kind, name = target.split()[:2]
    owner = sim.store.get("StatefulSet", draft.original["metadata"]["namespace"], name)
    if owner is None or kind != "statefulset" or len(name) <= LONGEST:
        return
    short, made = name[:LONGEST].rstrip("-."), clean(bare(owner))
    made["metadata"]["name"] = short
    change = Change("name", {"owner": f"StatefulSet {name}", "to": short, "most": LONGEST})
    yield draft.typing(change, f"kubectl delete {target}", format_apply(made))


def _ignore_webhook(sim: Simulation, draft: Draft, target: str, found: re.Match[str]) -> Iterator[Draft]:
    """Propose that a webhook that does not answer lets requests pass."""
    for kind in WEBHOOKS:
        for manifest in sim.store.list(kind):
            hooks = [msgspec.to_builtins(each) for each in manifest.get("webhooks") or ()]
            if not any(each.get("name") == found["webhook"] for each in hooks):
                continue
            new = [{**h, "failurePolicy": "Ignore"} if h.get("name") == found["webhook"] else h for h in hooks]
            name = manifest["metadata"]["name"]
            change = Change("failure-policy", {"webhook": found["webhook"], "configuration": name})
            yield draft.patching(change, f"{kind.partition('.')[0].lower()} {name}", {"webhooks": new})


def _satisfy_policy(sim: Simulation, draft: Draft, target: str, found: re.Match[str]) -> Iterator[Draft]:
    """Propose values for the fields that a policy's expressions compare, or a binding of the policy that only warns."""
    kind, name = target.split()[:2]
    spec = _spec_of(sim, POLICY, found["policy"])
    rules = (spec.get("matchConstraints") or {}).get("resourceRules") or ()
    is_of_pods = any({"pods", "*"} & {*(rule.get("resources") or ())} for rule in rules)
    above = sim.store.get(KINDS_BY_WORD[kind], draft.original["metadata"]["namespace"], name)
    subject = draft.original if is_of_pods else above
    for edits, patch in _find_edits(sim, subject, found, is_of_pods) if subject is not None else ():
        words = [".".join(map(str, path)) + f"={json.dumps(value)}" for path, value in edits.items()]
        change = Change("policy-field", {"policy": found["policy"], "fields": words})
        if all(path[:2] == ("metadata", "labels") and value == ANY for path, value in edits.items()):
            change = Change("pod-label", {"key": ", ".join(path[-1] for path in edits), "policy": found["policy"]})
        if is_of_pods:
            yield _patch_template(sim, draft, target, change, patch)
        else:
            yield draft.typing(change, f"kubectl patch {target} -p {quote(json.dumps(patch))}")
    if sim.store.get(BINDING, "", found["binding"]) is not None:
        change, name = Change("policy-binding", found.groupdict()), f"{BINDING.lower()} "
        yield draft.patching(change, name + found["binding"], {"spec": {"validationActions": ["Warn"]}})


def _find_edits(
    sim: Simulation, subject: Manifest, found: re.Match[str], tried: bool, left: int = MOST
) -> Iterator[tuple[Edits, dict[str, Any]]]:
    """Yield the edits that a policy requires, with those of further policies. `tried`: only those that the API server accepts."""
    spec, reference = (
        _spec_of(sim, POLICY, found["policy"]),
        _spec_of(sim, BINDING, found["binding"]).get("paramRef") or {},
    )
    named = spec.get("paramKind") or {}
    kind = find_kind(str(named.get("apiVersion")), str(named.get("kind")))
    namespace = str(reference.get("namespace") or subject["metadata"]["namespace"])
    where = (namespace if kind.namespaced else "", str(reference.get("name"))) if kind else ("", "")
    for edits in satisfy(spec, subject, (sim.store.get(kind.key, *where) if kind else None) or {}):
        patch = build_patch(subject, edits)
        made = (
            None if patch is None else apply_patch(get_kind_by_key(str(subject["kind"])), subject, patch, "strategic")
        )
        said = ask_api_server(sim, made) if tried and made is not None else ""
        further = re.search(_POLICY, said)
        if made is not None and further is not None and further["policy"] != found["policy"] and left:
            for more, _ in _find_edits(sim, made, further, tried, left - 1):
                both = {**edits, **more}
                yield both, build_patch(subject, both) or {}
        elif patch is not None and not said:
            yield edits, patch


def _spec_of(sim: Simulation, kind: str, name: str) -> Manifest:
    return (sim.store.get(kind, "", name) or {}).get("spec") or {}


def _leave_to_admission(field: str) -> Proposing:
    """Return a function that proposes to remove a template's field that admission writes, or a class with that priority."""

    def propose(sim: Simulation, draft: Draft, target: str, found: re.Match[str]) -> Iterator[Draft]:
        yield _patch(draft, target, Change("left-to-admission", {"field": field}), {field: None})
        for each in sim.store.list("PriorityClass") if field == "priority" else ():
            if int(each.get("value") or 0) == int(found["value"]):
                name = each["metadata"]["name"]
                change = Change("priority", {"class": name, "value": int(found["value"]), "from": 0, "new": False})
                yield _patch(draft, target, change, {"priority": None, "priorityClassName": name})

    return propose


def _leave_to_class(sim: Simulation, draft: Draft, target: str, found: re.Match[str]) -> Iterator[Draft]:
    """Propose to remove a node label that the RuntimeClass and the template select differently from one of the two."""
    key, name = found["key"], str(draft.original["spec"].get("runtimeClassName") or "")
    change = Change("left-to-admission", {"field": f"nodeSelector {key}"})
    yield _patch(draft, target, change, {"nodeSelector": {key: None}})
    change = Change("runtime-class", {"class": name, "labels": [key]})
    yield draft.patching(change, f"runtimeclass {name}", {"scheduling": {"nodeSelector": {key: None}}})


def _keep_ratio(sim: Simulation, draft: Draft, target: str, found: re.Match[str]) -> Iterator[Draft]:
    """Propose to raise the containers' requests to the ratio of a LimitRange."""
    resource, ratio = found["resource"], nanos(found["amount"]) / 1e9
    settings = []
    for container in draft.original["spec"]["containers"]:
        limit = ((container.get("resources") or {}).get("limits") or {}).get(resource)
        if limit is not None:
            least = -(-int(nanos(limit) / ratio) // 1_000_000)
            text = f"{least}m" if resource == "cpu" else str(-(-least // 1000))
            settings.append((container["name"], "requests", resource, text))
    yield from _set_all(draft, target, settings)


def _raise_limit(sim: Simulation, draft: Draft, target: str, found: re.Match[str]) -> Iterator[Draft]:
    """Propose an explicit limit if a LimitRange's default is below the request, or a request no higher than the default."""
    name = draft.original["spec"]["containers"][int(found["index"])]["name"]
    for part, amount in (("limits", found["amount"]), ("requests", found["most"])):
        yield from _set_all(draft, target, [(name, part, found["resource"], amount)])


def _set_limits(sim: Simulation, draft: Draft, target: str, found: re.Match[str]) -> Iterator[Draft]:
    """Propose limits for resources that require one with a request: extended resources and huge pages."""
    container = draft.original["spec"]["containers"][int(found["index"])]
    yield from _set_all(draft, target, [(container["name"], "limits", *each) for each in find_unlimited(container)])


def find_unlimited(container: Manifest) -> list[tuple[str, str]]:
    """Return the extended resources and huge pages that a container requests without a limit, with the amounts."""
    given = container.get("resources") or {}
    asked = ((name, str(amount)) for name, amount in (given.get("requests") or {}).items())
    strict = (each for each in asked if "/" in each[0] or each[0].startswith("hugepages-"))
    return [each for each in strict if each[0] not in (given.get("limits") or {})]


def _set_all(draft: Draft, target: str, settings: list[tuple[str, str, str, str]]) -> Iterator[Draft]:
    """Propose amounts of containers: each setting is the name, limits or requests, the resource, and the amount."""
    for container, part, resource, amount in settings:
        values = {"field": part, "resource": resource, "container": container, "to": amount}
        call = f"kubectl set resources {target} -c {container} --{part}={resource}={amount}"
        draft = draft.typing(Change("limits", values), call)
    yield from [draft] if settings else []


def _make_account(sim: Simulation, draft: Draft, target: str, found: re.Match[str]) -> Iterator[Draft]:
    namespace, name = found["namespace"], found["name"]
    made = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name, "namespace": namespace}}
    change = Change("service-account", {"account": name, "namespace": namespace})
    yield draft.typing(change, format_apply(made))


def _enlarge_claims(sim: Simulation, draft: Draft, target: str, found: re.Match[str]) -> Iterator[Draft]:
    """Propose to recreate the StatefulSet with claims of a size that a LimitRange allows."""
    kind, name = target.split()[:2]
    owner = sim.store.get("StatefulSet", draft.original["metadata"]["namespace"], name)
    if owner is None or kind != "statefulset":
        return
    made = copy.deepcopy(clean(bare(owner)))
    for each in made["spec"]["volumeClaimTemplates"]:
        requests = each["spec"]["resources"]["requests"]
        if nanos(requests["storage"]) == nanos(found["asked"]):
            requests["storage"], name = found["amount"], each["metadata"]["name"]
    values = {"claim": name, "from": found["asked"], "to": found["amount"]}
    yield draft.typing(Change("claim-size", values), f"kubectl delete {target} --cascade=orphan", format_apply(made))


def _secure(sim: Simulation, draft: Draft, target: str, found: re.Match[str]) -> Iterator[Draft]:
    """Propose the security context that the namespace's level requires, or a namespace level that allows the pod."""
    pod, level, namespace = draft.original, found["level"], draft.original["metadata"]["namespace"]
    mends = {check.reason: check.mend for check in pod_security.CHECKS if f"{check.reason} (" in found.string}
    lists = [name for name in ("initContainers", "containers") if pod["spec"].get(name)]
    given, blamed = [each["name"] for name in lists for each in pod["spec"][name]], _QUOTED.findall(found.string)
    if mends and all(mends.values()) and not (blamed and {*blamed}.isdisjoint(given)):
        context = {k: v for mend in mends.values() for k, v in mend.items()}
        change = {name: [{"name": c["name"], "securityContext": context} for c in pod["spec"][name]] for name in lists}
        names = [each["name"] for name in lists for each in change[name]]
        if context.keys() & {"runAsNonRoot", "runAsUser"}:
            change["securityContext"] = {"runAsNonRoot": True, "runAsUser": None}  # type: ignore[assignment]
        done = Change("security-context", {"level": level, "containers": names})
        yield _patch_template(sim, draft, target, done, {"spec": change})
    lower = (
        pod_security.BASELINE
        if level == pod_security.RESTRICTED and not pod_security.list_violations(pod["spec"], pod_security.BASELINE)
        else pod_security.PRIVILEGED
    )
    call = f"kubectl label namespace {namespace} {pod_security.LABEL}{pod_security.ENFORCE}={lower} --overwrite"
    yield draft.typing(Change("security-level", {"level": level, "namespace": namespace, "to": lower}), call)


def _patch_template(sim: Simulation, draft: Draft, target: str, change: Change, wanted: Any) -> Draft:
    """Return a draft with a strategic patch of the pods' template. A Job, whose template is immutable, is recreated."""
    kind, name = target.split()[:2]
    patch: dict[str, Any] = {"spec": {"template": wanted}}
    patch = {"spec": {"jobTemplate": patch}} if kind == "cronjob" else patch
    job = sim.store.get("Job", draft.original["metadata"]["namespace"], name) if kind == "job" else None
    if job is None:
        return draft.typing(change, f"kubectl patch {target} -p {quote(json.dumps(patch))}")
    made = apply_patch(get_kind_by_key("Job"), clean(bare(job)), patch, "strategic")
    return draft.typing(change, renew_job(made))


def list_disallowed(sim: Simulation, pod: Manifest, namespace: str) -> tuple[list[Any], list[str]]:
    """Return the tolerations that a namespace has to allow for a pod, and the names of those it does not allow."""
    try:
        allowed = tolerations.read_annotation(sim.store, namespace, tolerations.ALLOWED)
    except ValueError:  # a dump's refusal may be older than the annotation
        allowed = []
    seconds = {"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
    added: list[Any] = [{"key": key, **seconds} for key in (tolerations.NOT_READY, tolerations.UNREACHABLE)]
    added += [tolerations.MEMORY_PRESSURE] if qos_class(pod["spec"]) != BEST_EFFORT else []
    has = tolerations.merge_tolerations(pod["spec"].get("tolerations") or (), added)
    more = [dict(each) for each in has if not tolerations.within([each], allowed)]
    return [*allowed, *more], [f"{each.get('key', '')}:{each.get('effect', '')}" for each in more]


def _allow_tolerations(sim: Simulation, draft: Draft, target: str, found: re.Match[str]) -> Iterator[Draft]:
    namespace = draft.original["metadata"]["namespace"]
    needed, names = list_disallowed(sim, draft.original, namespace)
    if not names:
        return
    change = Change("allowed-tolerations", {"namespace": namespace, "tolerations": names})
    patch = {"metadata": {"annotations": {tolerations.ALLOWED: json.dumps(needed)}}}
    yield draft.patching(change, f"namespace {namespace}", patch)


_QUOTED = re.compile(r'container "([^"]+)"')
_POLICY = r"Policy '(?P<policy>[^']+)' with binding '(?P<binding>[^']+)' denied request"
_BOUND = (
    r"(?P<what>maximum|minimum) (?P<resource>\S+) usage per (?P<type>%s) is (?P<bound>[^,\s]+), "
    r"but (?P<field>limit|request) is (?P<asked>[^\s.,\]]+(\.\d+)?)"
)
_MESSAGES: tuple[tuple[str, Proposing], ...] = (
    (_BOUND % r"\w+", _raise_bound),
    (_BOUND % "Pod", _lower_largest),
    (r"in StatefulSet \S+ failed error: .*must be no more than 63 characters", _shorten_name),
    (r"runtimeClass\.scheduling\.nodeSelector\[(?P<key>[^\]]+)\] = \S+?; pod\.spec", _leave_to_class),
    (r"Pod's Overhead doesn't match|Pod Overhead set without", _leave_to_admission("overhead")),
    (r"the integer value of priority \((?P<value>-?\d+)\) must not be provided", _leave_to_admission("priority")),
    (r"string value of PreemptionPolicy \((?P<value>\w+)\) must not be", _leave_to_admission("preemptionPolicy")),
    (_POLICY, _satisfy_policy),
    (r'failed calling webhook "(?P<webhook>[^"]+)"', _ignore_webhook),
    (r"tolerations\) conflict with its namespace whitelist", _allow_tolerations),
    (r"insufficient quota to match these scopes", _allow_scope),
    (r"conflicts with its namespace node label selector", _agree_on_nodes),
    (r"looking up service account (?P<namespace>[^/\s]+)/(?P<name>[^:\s]+): serviceaccount", _make_account),
    (r'violates PodSecurity "(?P<level>[^":]+)', _secure),
    (r"no PriorityClass with name (?P<name>\S+) was found", _make_class),
    (r'RuntimeClass "?(?P<name>[^"\s]+)"? not found|runtimeclass\S* "(?P<other>[^"]+)" not found', _name_runtime_class),
    (
        r"(?P<what>maximum|minimum) (?P<resource>\S+) usage per Container is (?P<amount>\S+), but (?P<field>limit|request)",
        _keep_limits,
    ),
    (
        r"(minimum|maximum) storage usage per PersistentVolumeClaim is (?P<amount>\w+), but request is (?P<asked>\w+)",
        _enlarge_claims,
    ),
    (r"(?P<resource>\S+) max limit to request ratio per Container is (?P<amount>[^,\s]+)", _keep_ratio),
    (r"containers\[(?P<index>\d+)\]\.resources\.limits: Required value: Limit must be set", _set_limits),
    (
        r'containers\[(?P<index>\d+)\]\.resources\.requests: Invalid value: "(?P<amount>[^"]+)": must be less than or equal to '
        r"(?P<resource>\S+) limit of (?P<most>\w+)",
        _raise_limit,
    ),
)

"""What newer releases say of an object's errors: other words for some, and more rules. The checks themselves are those of 1.34.1.

releases.json lists the texts: the release, an expression over path, class, received value, and detail of an error, a
line each, and what stands there instead, which is nothing where the rule is gone. `_CHECKS` lists the rules that a
release brought, with the kinds that have them.

kube: pkg/apis/*/validation/validation.go, pkg/apis/*/v1*/zz_generated.validations.go @ v1.35.4, v1.36.3, v1.37.2
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from scheduler_core.apimachinery.objects.errors import Errors, FieldError, encode, too_long, too_many
from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apimachinery.objects.names import subdomain_errors
from scheduler_core.apimachinery.objects.pod import CONTAINER_LISTS
from scheduler_core.apiserver.kinds import Kind
from scheduler_core.apiserver.object_defaults import pull_policy
from scheduler_core.apiserver.registry.devices.defaults import GROUP, DeviceGates
from scheduler_core.apiserver.registry.devices.dropping import TABLE
from scheduler_core.apiserver.rewriting import rewrite
from scheduler_core.base.releases import Release, pick

_Text = tuple[re.Pattern[str], tuple[str, ...]]


def judge_by_release(
    kind: Kind, manifest: Manifest, found: Sequence[FieldError], gates: DeviceGates, restored: bool = False
) -> list[FieldError]:
    """Return the errors as the release has them. `restored`: another cluster admitted the object, so no rule is added."""
    release = gates.release
    errors = Errors(found)
    path, spec = _find_pod_spec(kind.key, manifest)
    for since, kinds, check in () if restored else _CHECKS:
        if kind.key in kinds.split() and pick({since: True}, release):
            check(spec if kind.key in _PODS and kinds in _OF_PODS else manifest, path, gates, errors)
    if kind.group == GROUP and pick({"1.35": True}, release):
        errors = _cut_short(manifest, errors)
    if kind.group == GROUP and pick({"1.37": True}, release):
        errors = Errors(_show_entry(manifest, error) for error in errors)
    texts = _list_texts(release)
    return [said for error in errors for said in _reword(error, texts)] if errors and texts else list(errors)


@cache
def _list_texts(release: Release) -> tuple[_Text, ...]:
    return tuple((re.compile(text), tuple(new)) for since, text, new in TABLE["texts"] if pick({since: True}, release))


def _reword(error: FieldError, texts: Sequence[_Text]) -> list[FieldError]:
    lines = ["\n".join((error.path, error.kind, error.received, error.expected))]
    before = lines[0]
    for pattern, new in texts:
        lines = [
            match.expand(each) if match else line
            for line in lines
            if (match := pattern.fullmatch(line)) is None or new
            for each in (new if match else (line,))
        ]
    if lines == [before]:
        return [error]
    parts = [line.split("\n", 3) for line in lines]
    return [
        replace(error, path=path, kind=kind, received=received, expected=expected)
        for path, kind, received, expected in parts
    ]


def _cut_short(manifest: Manifest, errors: Errors) -> Errors:
    """Without errors within a list that is too long, or within a request that is both kinds of requests."""
    closed = [error.path for error in errors if error.kind == "Too many"]
    closed += [error.path for error in errors if "exactly one of `exactly` or `firstAvailable`" in error.expected]
    return Errors(
        error
        for error in errors
        if not any(error.path.startswith((f"{path}[", f"{path}.exactly", f"{path}.firstAvailable")) for path in closed)
    )


_ENTRY = re.compile(r"(.*\.(?:requests|firstAvailable|consumesCounters)\[\d+\])\.(?:name|counterSet)")
_ORDER = (
    *("name", "exactly", "firstAvailable", "counterSet", "counters", "deviceClassName", "selectors", "allocationMode"),
    *("count", "adminAccess", "tolerations", "capacity"),
)


def _show_entry(manifest: Manifest, error: FieldError) -> FieldError:
    """A duplicate shows all fields of the entry, in the order of the type."""
    if error.kind != "Duplicate value" or not (match := _ENTRY.fullmatch(error.path)):
        return error
    value: Any = manifest
    for name in re.findall(r"[^.\[\]]+", match[1]):
        value = value[int(name)] if isinstance(value, list) else value[name]

    def sort(entry: Any) -> Any:
        if isinstance(entry, list):
            return [sort(each) for each in entry]
        if not isinstance(entry, dict):
            return entry
        names = sorted(entry, key=lambda name: _ORDER.index(name) if name in _ORDER else len(_ORDER))
        return {name: sort(entry[name]) for name in names}

    return replace(error, received=encode(sort(value)))


def apply_release_defaults(kind: Kind, manifest: Manifest, gates: DeviceGates) -> Manifest:
    """Return the object with the defaults that newer releases brought; one that has all of them is returned unchanged."""
    path, spec = _find_pod_spec(kind.key, manifest)
    changed: Manifest = manifest
    if any(volume.get("image") for volume in spec.get("volumes") or ()) and pick({"1.35": True}, gates.release):
        at = [*path.split("."), "volumes", "*", "image"]
        changed = rewrite(
            manifest, at, lambda image: _fill(image, pullPolicy=pull_policy(image.get("reference") or ""))
        )
    if kind.key == "CSIDriver" and gates.volume_limit_scaling and pick({"1.36": True}, gates.release):
        changed = rewrite(manifest, ["spec"], lambda spec: _fill(spec, preventPodSchedulingIfMissing=False))
    if kind.key == "StatefulSet" and gates.max_unavailable:
        changed = rewrite(
            changed, ["spec", "updateStrategy", "rollingUpdate"], lambda rolling: _fill(rolling, maxUnavailable=1)
        )
    return changed


def _fill(value: Manifest, **default: Any) -> Manifest:
    missing = {name: each for name, each in default.items() if value.get(name) is None}
    return {**value, **missing} if missing else value


# The rules that newer releases brought: of a spec, of which a kind may have several.

Spec = dict[str, Any]
_PATHS = {"CronJob": "spec.jobTemplate.spec.template.spec"}
_TEMPLATES = "Deployment ReplicaSet StatefulSet DaemonSet Job CronJob ReplicationController"
_PODS = f"Pod {_TEMPLATES}"
_OF_PODS = (_PODS, _TEMPLATES, "Pod")  # their checks look at the spec of pods


def _find_pod_spec(kind: str, manifest: Manifest) -> tuple[str, Any]:
    path = _PATHS.get(kind, "spec.template.spec") if kind != "Pod" and kind in _PODS.split() else "spec"
    value: Any = manifest
    for name in path.split("."):
        value = (value or {}).get(name) or {}
    return path, value


_NOT_AN_INTEGER = "must be a valid decimal integer in canonical form"


def _tolerations(spec: Any, path: str, gates: DeviceGates, errors: Errors) -> None:
    """Operators that compare numbers are known; where their gate is on, they need one."""
    if not gates.toleration_operators:
        return
    for i, toleration in enumerate(spec.get("tolerations") or ()):
        where, value = f"{path}.tolerations[{i}]", str(toleration.get("value") or "")
        if toleration.get("operator") not in ("Gt", "Lt"):
            continue
        errors[:] = [each for each in errors if each.path != f"{where}.operator"]
        canonical = re.fullmatch(r"0|-?[1-9]\d*", value)
        errors.invalid(f"{where}.value", value, _NOT_AN_INTEGER if value else "must be non-empty", when=not canonical)
        problem = "" if re.fullmatch(r"[-+]?\d+", value) else "invalid syntax"
        if not problem and not -(2**63) <= int(value) < 2**63:
            problem = "value out of range"
        errors.invalid(f"{where}.value", value, f'strconv.ParseInt: parsing "{value}": {problem}', when=bool(problem))


def _hostname_override(spec: Any, path: str, gates: DeviceGates, errors: Errors) -> None:
    name = spec.get("hostnameOverride")
    if name is None:
        return
    path = f"{path}.hostnameOverride"
    errors.forbidden(path, "may not be set when setHostnameAsFQDN is true", when=spec.get("setHostnameAsFQDN"))
    errors.forbidden(path, "may not be set when hostNetwork is true", when=spec.get("hostNetwork"))
    errors.invalid(path, name, "must be no more than 64 characters", when=len(name) > 64)
    errors.problems(path, name, subdomain_errors(name))


def _restart_rules(spec: Any, path: str, gates: DeviceGates, errors: Errors) -> None:
    """Containers restart by rules of their own.

    DEVIATION: 1.35 takes the action RestartAllContainers, which kube refuses while its gate is off, so that a world can
    be compared with the same one in 1.36.
    """
    actions = ["Restart", *(["RestartAllContainers"] if pick({"1.36": True}, gates.release) else [])]
    for field in ("containers", "initContainers"):
        for i, container in enumerate(spec.get(field) or ()):
            where, policy = f"{path}.{field}[{i}]", container.get("restartPolicy")
            rules = container.get("restartPolicyRules") or ()
            needed = "must specify restartPolicy when restart rules are used"
            errors.required(f"{where}.restartPolicy", needed, when=rules and policy is None)
            if field == "initContainers" and policy is None:
                continue
            known = ("Always", "Never", "OnFailure")
            if field == "containers":
                errors.not_supported(f"{where}.restartPolicy", policy, known, when=policy not in (None, *known))
            if field == "initContainers" and policy == "Always" and len(actions) == 1:
                text = "restartPolicyRules are not allowed for init containers with restart policy Always"
                errors.forbidden(f"{where}.restartPolicyRules", text, when=rules)
                continue
            if len(rules) > 20:
                at = f"{where}.restartPolicyRules"
                errors.append(too_many(at, len(rules), 20) if len(actions) > 1 else too_long(at, 20))
            for j, rule in enumerate(rules):
                at, codes = f"{where}.restartPolicyRules[{j}]", rule.get("exitCodes")
                action = rule.get("action") or ""
                errors.not_supported(
                    f"{at}.action", action, actions, when=action not in (*actions, "RestartAllContainers")
                )
                errors.required(f"{at}.exitCodes", "must be specified", when=codes is None)
                operator = (codes or {}).get("operator") or ""
                wrong = codes is not None and operator not in ("In", "NotIn")
                errors.not_supported(f"{at}.exitCodes.operator", operator, ("In", "NotIn"), when=wrong)


def _environment(spec: Any, path: str, gates: DeviceGates, errors: Errors) -> None:
    """A variable may come from a file."""
    files = {
        f"{path}.{field}[{i}].env[{j}].valueFrom"
        for field in CONTAINER_LISTS
        for i, container in enumerate(spec.get(field) or ())
        for j, variable in enumerate(container.get("env") or ())
        if list(variable.get("valueFrom") or ()) == ["fileKeyRef"]
    }
    errors[:] = [each for each in errors if each.path not in files]


def _resize_policies(spec: Any, path: str, gates: DeviceGates, errors: Errors) -> None:
    text = "must not be set to 'RestartContainer' for non-sidecar initContainers"
    for i, container in enumerate(spec.get("initContainers") or ()):
        for j, policy in enumerate(container.get("resizePolicy") or ()):
            restart = policy.get("restartPolicy")
            wrong = restart == "RestartContainer" and container.get("restartPolicy") != "Always"
            at = f"{path}.initContainers[{i}].resizePolicy[{j}].restartPolicy"
            errors.invalid(at, restart, text, when=wrong)


def _volumes(spec: Any, path: str, gates: DeviceGates, errors: Errors) -> None:
    """An image volume names its image, and a certificate the signer. Mounts of a volume with errors find none."""
    for i, volume in enumerate(spec.get("volumes") or ()):
        at = f"{path}.volumes[{i}]"
        image, before = volume.get("image"), len(errors)
        errors.required(f"{at}.image.reference", when=image is not None and not image.get("reference"))
        for j, source in enumerate((volume.get("projected") or {}).get("sources") or ()):
            signer = str((source.get("podCertificate") or {}).get("signerName") or "")
            domain, slash, _ = signer.partition("/")
            text = "should be a domain with at least two segments separated by dots"
            where = f"{at}.projected.sources[{j}].podCertificate.signerName"
            errors.invalid(where, domain, text, when=slash and "." not in domain)
        if len(errors) > before:
            for field in CONTAINER_LISTS:
                for j, container in enumerate(spec.get(field) or ()):
                    for k, mount in enumerate(container.get("volumeMounts") or ()):
                        where = f"{path}.{field}[{j}].volumeMounts[{k}].name"
                        errors.not_found(where, mount.get("name"), when=mount.get("name") == volume.get("name"))


_FEATURE = re.compile(r"[A-Z][a-zA-Z0-9]*(/[a-zA-Z][a-zA-Z0-9]*)*")
_SHAPE = (
    "must start with an UpperCamelCase segment, with subsequent segments separated by '/' (e.g., MyFeature or "
    "MyFeature/mySubFeature), and contain only alphanumeric characters and slashes"
)


def _declared_features(node: Any, path: str, gates: DeviceGates, errors: Errors) -> None:
    names = (node.get("status") or {}).get("declaredFeatures") or ()
    for i, name in enumerate(names):
        at = f"status.declaredFeatures[{i}]"
        problem = "must be no more than 253 characters" if len(name) > 253 else _SHAPE
        wrong = len(name) > 253 or not _FEATURE.fullmatch(name)
        errors.invalid(at, name, f'invalid feature name "{name}": {problem}', when=wrong)
        if i:
            errors.duplicate(at, name, when=name == names[i - 1])
            errors.invalid(at, name, "list must be sorted alphabetically", when=name < names[i - 1])


def _csi_driver(driver: Any, path: str, gates: DeviceGates, errors: Errors) -> None:
    spec = driver.get("spec") or {}
    period, secrets = spec.get("nodeAllocatableUpdatePeriodSeconds"), spec.get("serviceAccountTokenInSecrets")
    text = "must be greater than or equal to 10 seconds"
    errors.invalid("spec.nodeAllocatableUpdatePeriodSeconds", period, text, when=period is not None and period < 10)
    text = "serviceAccountTokenInSecrets is set but no tokenRequests are specified"
    wrong = secrets is not None and not spec.get("tokenRequests")
    errors.invalid("spec.serviceAccountTokenInSecrets", secrets, text, when=wrong)


def _slice(manifest: Any, path: str, gates: DeviceGates, errors: Errors) -> None:
    spec = manifest.get("spec") or {}
    both = spec.get("sharedCounters") is not None and spec.get("devices") is not None
    errors.invalid("spec", "", "only one of `sharedCounters` or `devices` is allowed", when=both)


def _stateful_set(manifest: Any, path: str, gates: DeviceGates, errors: Errors) -> None:
    rolling = ((manifest.get("spec") or {}).get("updateStrategy") or {}).get("rollingUpdate") or {}
    none = rolling.get("maxUnavailable")
    at = "spec.updateStrategy.rollingUpdate.maxUnavailable"
    errors.invalid(at, none, "cannot be 0", when=none in (0, "0", "0%"))


def _group(manifest: Any, path: str, gates: DeviceGates, errors: Errors) -> None:
    name = (manifest.get("spec") or {}).get("priorityClassName") or ""
    errors.problems("spec.priorityClassName", name, subdomain_errors(name) if name else ())


Check = Callable[[Any, str, DeviceGates, Errors], None]
_CHECKS: tuple[tuple[str, str, Check], ...] = (
    ("1.35", _PODS, _tolerations),
    ("1.35", _PODS, _hostname_override),
    ("1.35", _PODS, _restart_rules),
    ("1.35", _PODS, _environment),
    ("1.36", _PODS, _resize_policies),
    ("1.35", "Pod", _volumes),
    ("1.37", _TEMPLATES, _volumes),
    ("1.35", "Node", _declared_features),
    ("1.35", "CSIDriver", _csi_driver),
    ("1.35", "ResourceSlice", _slice),
    ("1.37", "StatefulSet", _stateful_set),
    ("1.37", "PodGroup", _group),
)

"""Validation of newer releases: other texts of errors, and more rules. The checks themselves are those of 1.34.1.

releases.json lists the texts: the release, an expression over path, class, received value, and detail of an error, a line each, and the
replacement, which is empty if the rule is gone. `_CHECKS` lists the rules that newer releases added, by their names in
base/api_rules.json, with their kinds.

kube: pkg/apis/*/validation/validation.go, pkg/apis/*/v1*/zz_generated.validations.go @ v1.35.4, v1.36.3, v1.37.2
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from scheduler_core.apimachinery.objects import Errors, FieldError, Manifest
from scheduler_core.apiserver.kinds import POD_SPECS, Kind
from scheduler_core.apiserver.object_defaults import pull_policy
from scheduler_core.apiserver.registry.devices.defaults import GROUP, DeviceGates
from scheduler_core.apiserver.registry.devices.dropping import TABLE
from scheduler_core.apiserver.rewriting import fill, rewrite
from scheduler_core.apiserver.validation.checks import IMMUTABLE, UpdateRules
from scheduler_core.base.releases import Release, has_reached, rules_of

_Text = tuple[re.Pattern[str], tuple[str, ...]]


def judge_by_release(
    kind: Kind, manifest: Manifest, found: Sequence[FieldError], gates: DeviceGates, restored: bool = False
) -> list[FieldError]:
    """Return the errors as the release reports them. `restored`: another cluster admitted the object, so no rule is added."""
    release = gates.release
    errors = Errors(found)
    path, spec = _find_pod_spec(kind.key, manifest)
    for rule, kinds, check in () if restored else _CHECKS:
        if kind.key in kinds.split() and rule in rules_of(release):
            check(spec if kinds is _PODS else manifest, path, gates, errors)
    if kind.group == GROUP and "device-errors-cut-short" in rules_of(release):
        errors = _cut_short(manifest, errors)
    if kind.key == "PodGroup":  # after an error about an immutable field, kube reports no others below it
        fixed = tuple(error.path for error in errors if error.expected == IMMUTABLE)
        errors = Errors(
            error for error in errors if error.expected == IMMUTABLE or not error.path.startswith(fixed or ("-",))
        )
    texts = _list_texts(release, kind.key)
    return [said for error in errors for said in _reword(error, texts)] if errors and texts else list(errors)


@cache
def _list_texts(release: Release, kind: str) -> tuple[_Text, ...]:
    return tuple(
        (re.compile(text), tuple(new))
        for since, text, new, *kinds in TABLE["texts"]
        if has_reached(release, since) and kind in (kinds or (kind,))
    )


def update_rules(gates: DeviceGates) -> UpdateRules:
    """Return the rules for updates."""
    rules = rules_of(gates.release)
    return rules | {"pod-level-resize"} if gates.pod_level_scaling else rules


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
    """Return the errors without those inside a list that is too long, or inside a request that is both kinds of requests."""
    closed = [error.path for error in errors if error.kind == "Too many"]
    closed += [error.path for error in errors if "exactly one of `exactly` or `firstAvailable`" in error.expected]
    return Errors(
        error
        for error in errors
        if not any(error.path.startswith((f"{path}[", f"{path}.exactly", f"{path}.firstAvailable")) for path in closed)
    )


def apply_release_defaults(kind: Kind, manifest: Manifest, gates: DeviceGates) -> Manifest:
    """Return the object with the defaults of newer releases; unchanged if it has all of them."""
    path, spec = _find_pod_spec(kind.key, manifest)
    changed, rules = manifest, rules_of(gates.release)
    if "image-volumes-kept" in rules and any(volume.get("image") for volume in spec.get("volumes") or ()):
        at = [*path.split("."), "volumes", "*", "image"]
        changed = rewrite(manifest, at, lambda image: fill(image, pullPolicy=pull_policy(image.get("reference") or "")))
    if kind.key == "CSIDriver" and gates.volume_limit_scaling and "drivers-may-ask" in rules:
        changed = rewrite(manifest, ["spec"], lambda spec: fill(spec, preventPodSchedulingIfMissing=False))
    if kind.key == "PodGroup":
        changed = rewrite(manifest, ["spec"], lambda spec: fill(spec, disruptionMode={"single": {}}))
    if kind.key == "StatefulSet" and "unavailable-pods" in rules:
        changed = rewrite(
            changed, ["spec", "updateStrategy", "rollingUpdate"], lambda rolling: fill(rolling, maxUnavailable=1)
        )
    return changed


# The rules that newer releases added, on specs, of which a kind may have several.

_PODS = " ".join(POD_SPECS)


def _find_pod_spec(kind: str, manifest: Manifest) -> tuple[str, Any]:
    path, value = POD_SPECS.get(kind, "spec"), manifest
    for name in path.split("."):
        value = (value or {}).get(name) or {}
    return path, value


_NOT_AN_INTEGER = "must be a valid decimal integer in canonical form"


def _tolerations(spec: Any, path: str, gates: DeviceGates, errors: Errors) -> None:
    """Allow operators that compare numbers if their gate is on, and validate their values."""
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


def _restart_rules(spec: Any, path: str, gates: DeviceGates, errors: Errors) -> None:
    """Validate the containers' restart policies and rules.

    DEVIATION: 1.35 takes the action RestartAllContainers, which kube refuses while its gate is off, so that a world can be compared with
    the same one in 1.36.
    """
    actions, known = ("Restart", "RestartAllContainers"), ("Always", "Never", "OnFailure")
    for field in ("containers", "initContainers"):
        for i, container in enumerate(spec.get(field) or ()):
            where, policy = f"{path}.{field}[{i}]", container.get("restartPolicy")
            rules = container.get("restartPolicyRules") or ()
            needed = "must specify restartPolicy when restart rules are used"
            errors.required(f"{where}.restartPolicy", needed, when=rules and policy is None)
            if field == "containers":
                errors.not_supported(f"{where}.restartPolicy", policy, known, when=policy not in (None, *known))
            elif policy is None:
                continue
            errors.too_many(f"{where}.restartPolicyRules", len(rules), 20)
            for j, rule in enumerate(rules):
                at, action = f"{where}.restartPolicyRules[{j}]", rule.get("action") or ""
                errors.not_supported(f"{at}.action", action, actions, when=action not in actions)
                errors.required(f"{at}.exitCodes", "must be specified", when=rule.get("exitCodes") is None)


def _resize_policies(spec: Any, path: str, gates: DeviceGates, errors: Errors) -> None:
    text = "must not be set to 'RestartContainer' for non-sidecar initContainers"
    for i, container in enumerate(spec.get("initContainers") or ()):
        for j, policy in enumerate(container.get("resizePolicy") or ()):
            restart = policy.get("restartPolicy")
            wrong = restart == "RestartContainer" and container.get("restartPolicy") != "Always"
            at = f"{path}.initContainers[{i}].resizePolicy[{j}].restartPolicy"
            errors.invalid(at, restart, text, when=wrong)


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
    period = (driver.get("spec") or {}).get("nodeAllocatableUpdatePeriodSeconds")
    text = "must be greater than or equal to 10 seconds"
    wrong = period is not None and period < 10
    errors.invalid("spec.nodeAllocatableUpdatePeriodSeconds", period, text, when=wrong)


def _slice(manifest: Any, path: str, gates: DeviceGates, errors: Errors) -> None:
    spec = manifest.get("spec") or {}
    both = spec.get("sharedCounters") is not None and spec.get("devices") is not None
    errors.invalid("spec", "", "only one of `sharedCounters` or `devices` is allowed", when=both)


def _stateful_set(manifest: Any, path: str, gates: DeviceGates, errors: Errors) -> None:
    rolling = ((manifest.get("spec") or {}).get("updateStrategy") or {}).get("rollingUpdate") or {}
    none = rolling.get("maxUnavailable")
    at = "spec.updateStrategy.rollingUpdate.maxUnavailable"
    errors.invalid(at, none, "cannot be 0", when=none in (0, "0", "0%"))


Check = Callable[[Any, str, DeviceGates, Errors], None]
_CHECKS: tuple[tuple[str, str, Check], ...] = (
    ("toleration-operators", _PODS, _tolerations),
    ("restart-rules", _PODS, _restart_rules),
    ("resize-policies", _PODS, _resize_policies),
    ("feature-names", "Node", _declared_features),
    ("driver-update-period", "CSIDriver", _csi_driver),
    ("counters-or-devices", "ResourceSlice", _slice),
    ("some-unavailable", "StatefulSet", _stateful_set),
)

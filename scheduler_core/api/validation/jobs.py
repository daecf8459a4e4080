"""What is wrong with a Job, or with the Job that a CronJob makes.

kube: pkg/apis/batch/validation/validation.go @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scheduler_core.api.validation.checks import NOT_NEGATIVE, Errors
from scheduler_core.objects.errors import duplicate, invalid, not_supported, required

Manifest = Mapping[str, Any]
_ACTIONS = ("Count", "FailIndex", "FailJob", "Ignore")
_OPERATORS = ("In", "NotIn")
_STATUSES = ("False", "True", "Unknown")
_MOST_INDEXES, _MANY, _MOST_OF_MANY = 100_000, 100_000, 10_000
_COUNTS = (
    "activeDeadlineSeconds",
    "backoffLimit",
    "ttlSecondsAfterFinished",
    "backoffLimitPerIndex",
    "maxFailedIndexes",
)


def job(manifest: Manifest, errors: Errors) -> None:
    job_spec(manifest.get("spec") or {}, "spec", errors)


def job_spec(spec: Manifest, where: str, errors: Errors) -> None:
    """Adds what is wrong with the spec at a path."""
    for name in _COUNTS:
        if (spec.get(name) or 0) < 0:
            errors.append(invalid(f"{where}.{name}", spec[name], NOT_NEGATIVE))
    if spec.get("maxFailedIndexes") is not None and spec.get("backoffLimitPerIndex") is None:
        errors.append(required(f"{where}.backoffLimitPerIndex", "when maxFailedIndexes is specified"))
    mode = spec.get("completionMode") or "NonIndexed"
    if mode == "Indexed":
        _indexed(spec, where, errors)
    elif mode == "NonIndexed":
        _not_indexed(spec, where, errors)
    else:
        errors.append(not_supported(f"{where}.completionMode", mode, ("NonIndexed", "Indexed")))
    _policies(spec, where, errors)
    _restart_policy(spec, f"{where}.template.spec.restartPolicy", errors)


def _indexed(spec: Manifest, where: str, errors: Errors) -> None:
    completions, most = spec.get("completions"), spec.get("maxFailedIndexes")
    parallelism = spec.get("parallelism")
    if completions is None:
        errors.append(required(f"{where}.completions", "when completion mode is Indexed"))
    if parallelism is not None and parallelism > _MOST_INDEXES:
        detail = f"must be less than or equal to {_MOST_INDEXES} when completion mode is Indexed"
        errors.append(invalid(f"{where}.parallelism", parallelism, detail))
    if most is not None and completions is not None and most > completions:
        errors.append(invalid(f"{where}.maxFailedIndexes", most, "must be less than or equal to completions"))
    if most is not None and most > _MOST_INDEXES:
        detail = f"must be less than or equal to {_MOST_INDEXES}"
        errors.append(invalid(f"{where}.maxFailedIndexes", most, detail))
    if completions is not None and completions > _MANY and spec.get("backoffLimitPerIndex") is not None:
        _many(spec, where, errors)


def _many(spec: Manifest, where: str, errors: Errors) -> None:
    if spec.get("maxFailedIndexes") is None:
        detail = f"must be specified when completions is above {_MANY}"
        errors.append(required(f"{where}.maxFailedIndexes", detail))
    for name in ("parallelism", "maxFailedIndexes"):
        if (spec.get(name) or 0) > _MOST_OF_MANY:
            detail = (
                f"must be less than or equal to {_MOST_OF_MANY} when completions are above {_MANY} and used with "
                "backoff limit per index"
            )
            errors.append(invalid(f"{where}.{name}", spec[name], detail))


def _not_indexed(spec: Manifest, where: str, errors: Errors) -> None:
    for name in ("backoffLimitPerIndex", "maxFailedIndexes"):
        if spec.get(name) is not None:
            errors.append(invalid(f"{where}.{name}", spec[name], "requires indexed completion mode"))


def _restart_policy(spec: Manifest, where: str, errors: Errors) -> None:
    policy = ((spec.get("template") or {}).get("spec") or {}).get("restartPolicy")
    if policy in (None, "", "Always"):
        errors.append(required(where, 'valid values: "OnFailure", "Never"'))
    elif policy not in ("OnFailure", "Never"):
        errors.append(not_supported(where, policy, ("OnFailure", "Never")))
    elif policy != "Never" and spec.get("podFailurePolicy") is not None:
        detail = 'only "Never" is supported when podFailurePolicy is specified'
        errors.append(invalid(where, policy, detail))


def _policies(spec: Manifest, where: str, errors: Errors) -> None:
    failure, success = spec.get("podFailurePolicy"), spec.get("successPolicy")
    replacement = spec.get("podReplacementPolicy")
    allowed = ("Failed",) if failure is not None else ("Failed", "TerminatingOrFailed")
    if replacement is not None and replacement not in allowed:
        errors.append(not_supported(f"{where}.podReplacementPolicy", replacement, allowed))
    for i, rule in enumerate((failure or {}).get("rules") or ()):
        _rule(spec, rule, f"{where}.podFailurePolicy.rules[{i}]", errors)
    if success is not None and spec.get("completionMode") != "Indexed":
        errors.append(invalid(f"{where}.successPolicy", dict(success), "requires indexed completion mode"))
    elif success is not None:
        _success(
            success.get("rules") or (), spec.get("completions") or 0, f"{where}.successPolicy.rules", errors
        )


def _success(rules: Sequence[Manifest], completions: int, where: str, errors: Errors) -> None:
    if not rules:
        detail = "at least one rules must be specified when the successPolicy is specified"
        errors.append(required(where, detail))
    for i, rule in enumerate(rules):
        count = rule.get("succeededCount")
        if count is None and rule.get("succeededIndexes") is None:
            detail = "at least one of succeededCount or succeededIndexes must be specified"
            errors.append(required(f"{where}[{i}]", detail))
        if count is not None and count < 0:
            errors.append(invalid(f"{where}[{i}].succeededCount", count, NOT_NEGATIVE))
        if count is not None and count > completions:
            detail = f"must be less than or equal to {completions} (the number of specified completions)"
            errors.append(invalid(f"{where}[{i}].succeededCount", count, detail))


def _rule(spec: Manifest, rule: Manifest, where: str, errors: Errors) -> None:
    """A rule of a podFailurePolicy."""
    action, codes = rule.get("action"), rule.get("onExitCodes")
    conditions = rule.get("onPodConditions") or ()
    if not action:
        errors.append(required(f"{where}.action", f"valid values: {_quoted(_ACTIONS)}"))
    elif action not in _ACTIONS:
        errors.append(not_supported(f"{where}.action", action, _ACTIONS))
    elif action == "FailIndex" and spec.get("backoffLimitPerIndex") is None:
        errors.append(invalid(f"{where}.action", action, "requires the backoffLimitPerIndex to be set"))
    if codes is not None:
        _exit_codes(spec, codes, f"{where}.onExitCodes", errors)
    for i, pattern in enumerate(conditions):
        if (pattern.get("status") or "True") not in _STATUSES:
            errors.append(not_supported(f"{where}.onPodConditions[{i}].status", pattern["status"], _STATUSES))
    if codes is not None and conditions:
        detail = "specifying both OnExitCodes and OnPodConditions is not supported"
        errors.append(invalid(where, dict(rule), detail))
    if codes is None and not conditions:
        detail = "specifying one of OnExitCodes and OnPodConditions is required"
        errors.append(invalid(where, dict(rule), detail))


def _exit_codes(spec: Manifest, codes: Manifest, where: str, errors: Errors) -> None:
    operator, values, container = codes.get("operator"), codes.get("values") or [], codes.get("containerName")
    if not operator:
        errors.append(required(f"{where}.operator", f"valid values: {_quoted(_OPERATORS)}"))
    elif operator not in _OPERATORS:
        errors.append(not_supported(f"{where}.operator", operator, _OPERATORS))
    pod = (spec.get("template") or {}).get("spec") or {}
    names = [one.get("name") for field in ("containers", "initContainers") for one in pod.get(field) or ()]
    if container is not None and container not in names:
        detail = "must be one of the container or initContainer names in the pod template"
        errors.append(invalid(f"{where}.containerName", container, detail))
    if not values:
        errors.append(invalid(f"{where}.values", values, "at least one value is required"))
    for i, value in enumerate(values):
        if value == 0 and operator == "In":
            errors.append(invalid(f"{where}.values[{i}]", value, "must not be 0 for the In operator"))
        if value in values[:i]:
            errors.append(duplicate(f"{where}.values[{i}]", value))
    if list(values) != sorted(values):
        errors.append(invalid(f"{where}.values", list(values), "must be ordered"))


def _quoted(values: Sequence[str]) -> str:
    """As Go prints a list of texts."""
    return "[" + " ".join(f'"{value}"' for value in values) + "]"

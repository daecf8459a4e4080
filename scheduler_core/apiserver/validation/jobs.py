"""Validation of Jobs, and of the Jobs that CronJobs create.

kube: pkg/apis/batch/validation/validation.go @ v1.34.1
"""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from scheduler_core.apimachinery.objects import LabelSelector, Manifest
from scheduler_core.apimachinery.objects.errors import Errors, FieldError, encode, format_key_path, quote
from scheduler_core.apimachinery.objects.names import label_errors, list_qualified_name_errors, subdomain_errors
from scheduler_core.apiserver.validation import checks
from scheduler_core.apiserver.validation.checks import NOT_NEGATIVE
from scheduler_core.apiserver.validation.devices.slices import as_go_writes
from scheduler_core.apiserver.validation.pods.spec import match, pod_template, selector_json
from scheduler_core.apiserver.validation.rules import not_negative, one

_ACTIONS = ("Count", "FailIndex", "FailJob", "Ignore")
_OPERATORS = ("In", "NotIn")
_STATUSES = ("False", "True", "Unknown")
_MOST_INDEXES, _MANY, _MOST_OF_MANY = 100_000, 100_000, 10_000
_LONGEST_MANAGER = 63
_MOST_RULES, _MOST_CODES, _LONGEST_INDEXES = 20, 255, 64 * 1024
_PATH = r"[A-Za-z0-9/\-._~%!$&'()*+,;=:]+"
_is_path = re.compile(_PATH + r"\Z").match
_COUNTS = (
    *("parallelism", "completions", "activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished"),
    *("backoffLimitPerIndex", "maxFailedIndexes"),
)


def job(manifest: Manifest, errors: Errors) -> None:
    spec, meta = manifest.get("spec") or {}, manifest["metadata"]
    selector, template = spec.get("selector"), spec.get("template") or {}
    if not spec.get("manualSelector") and selector is not None:
        _validate_generated_labels(selector, template, meta, errors)
    job_spec(spec, "spec", errors)
    before = len(errors)
    checks.label_selector(selector, "spec.selector", errors)
    errors.required("spec.selector", when=selector is None)
    if len(errors) == before or selector is None:
        match(selector, template, "spec.template", errors)
    completions, name = spec.get("completions") or 0, meta.get("name") or ""
    host = f"{name}-{completions - 1}"
    if spec.get("completionMode") == "Indexed" and completions > 0 and label_errors(host):
        errors.invalid("metadata.name", name, f"will not able to create pod with invalid DNS label: {host}")


def _validate_generated_labels(selector: Manifest, template: Manifest, meta: Manifest, errors: Errors) -> None:
    """Validate the labels that kube adds to the pods of a Job without a selector of its own."""
    labels = (template.get("metadata") or {}).get("labels") or {}
    uid, name = meta.get("uid") or "", meta.get("name") or ""
    prefix = "batch.kubernetes.io/"
    wanted = {"controller-uid": uid, "job-name": name, f"{prefix}controller-uid": uid, f"{prefix}job-name": name}
    for key, value in wanted.items():
        where = format_key_path("spec.template.metadata.labels", key)
        if key not in labels:
            errors.required(where, f"must be '{value}'")
        elif labels[key] != value:
            errors.invalid(where, dict(sorted(labels.items())), f"must be '{value}'")
    found = Errors()
    checks.label_selector(selector, "", found)
    if not found and not LabelSelector.of(selector).matches(wanted):
        errors.invalid("spec.selector", selector_json(selector), "`selector` not auto-generated")


def job_spec(spec: Manifest, where: str, errors: Errors) -> None:
    """Validate the spec of a Job at a path, except its selector."""
    not_negative(*_COUNTS)(spec, where, errors)
    if spec.get("maxFailedIndexes") is not None and spec.get("backoffLimitPerIndex") is None:
        errors.required(f"{where}.backoffLimitPerIndex", "when maxFailedIndexes is specified")
    if (manager := spec.get("managedBy")) is not None:
        _manager(manager, f"{where}.managedBy", errors)
    one("completionMode", "NonIndexed", "Indexed", empty=True)(spec, where, errors)
    mode = spec.get("completionMode", "NonIndexed")
    if mode == "Indexed":
        _validate_indexed_job(spec, where, errors)
    elif mode == "NonIndexed":
        for name in ("backoffLimitPerIndex", "maxFailedIndexes"):
            if spec.get(name) is not None:
                errors.invalid(f"{where}.{name}", spec[name], "requires indexed completion mode")
    _policies(spec, where, errors)
    pod_template(spec.get("template") or {}, f"{where}.template", errors)
    _restart_policy(spec, f"{where}.template.spec.restartPolicy", errors)


def _manager(name: str, path: str, errors: Errors) -> None:
    """Validate the manager of a Job: a domain and a path."""
    host, _, rest = name.partition("/")
    if not name:
        errors.required(path)
    elif not host or not rest:
        errors.invalid(path, name, 'must be a domain-prefixed path (such as "acme.io/foo")')
    else:
        errors.problems(path, host, subdomain_errors(host))
        errors.invalid(path, rest, f"Invalid path (regex used for validation is '{_PATH}')", when=not _is_path(rest))
    errors.too_long(path, _LONGEST_MANAGER, when=len(name.encode()) > _LONGEST_MANAGER)


def _validate_indexed_job(spec: Manifest, where: str, errors: Errors) -> None:
    completions, most = spec.get("completions"), spec.get("maxFailedIndexes")
    parallelism = spec.get("parallelism")
    errors.required(f"{where}.completions", "when completion mode is Indexed", when=completions is None)
    if parallelism is not None and parallelism > _MOST_INDEXES:
        detail = f"must be less than or equal to {_MOST_INDEXES} when completion mode is Indexed"
        errors.invalid(f"{where}.parallelism", parallelism, detail)
    if most is not None and completions is not None and most > completions:
        errors.invalid(f"{where}.maxFailedIndexes", most, "must be less than or equal to completions")
    if most is not None and most > _MOST_INDEXES:
        errors.invalid(f"{where}.maxFailedIndexes", most, f"must be less than or equal to {_MOST_INDEXES}")
    if completions is not None and completions > _MANY and spec.get("backoffLimitPerIndex") is not None:
        _many(spec, where, errors)


def _many(spec: Manifest, where: str, errors: Errors) -> None:
    if spec.get("maxFailedIndexes") is None:
        errors.required(f"{where}.maxFailedIndexes", f"must be specified when completions is above {_MANY}")
    for name in ("parallelism", "maxFailedIndexes"):
        if (spec.get(name) or 0) > _MOST_OF_MANY:
            detail = (
                f"must be less than or equal to {_MOST_OF_MANY} when completions are above {_MANY} and used with "
                "backoff limit per index"
            )
            errors.invalid(f"{where}.{name}", spec[name], detail)


def _restart_policy(spec: Manifest, where: str, errors: Errors) -> None:
    policy = ((spec.get("template") or {}).get("spec") or {}).get("restartPolicy")
    if policy in (None, "", "Always"):
        errors.required(where, 'valid values: "OnFailure", "Never"')
    elif policy not in ("OnFailure", "Never"):
        errors.not_supported(where, policy, ("OnFailure", "Never"))
    elif policy != "Never" and spec.get("podFailurePolicy") is not None:
        errors.invalid(where, policy, 'only "Never" is supported when podFailurePolicy is specified')


def _policies(spec: Manifest, where: str, errors: Errors) -> None:
    failure, success = spec.get("podFailurePolicy"), spec.get("successPolicy")
    rules = (failure or {}).get("rules") or ()
    errors.too_many(f"{where}.podFailurePolicy.rules", len(rules), _MOST_RULES)
    for i, rule in enumerate(rules):
        _rule(spec, rule, f"{where}.podFailurePolicy.rules[{i}]", errors)
    if success is not None and spec.get("completionMode") != "Indexed":
        written = as_go_writes(success, "SuccessPolicy")
        errors.invalid_text(f"{where}.successPolicy", written, "requires indexed completion mode")
    elif success is not None:
        rules = success.get("rules") or ()
        _success(rules, spec.get("completions") or 0, f"{where}.successPolicy.rules", errors)
    allowed = ("Failed",) if failure is not None else ("Failed", "TerminatingOrFailed")
    one("podReplacementPolicy", *allowed, empty=True)(spec, where, errors)


def _success(rules: Sequence[Manifest], completions: int, where: str, errors: Errors) -> None:
    errors.required(where, "at least one rules must be specified when the successPolicy is specified", when=not rules)
    errors.too_many(where, len(rules), _MOST_RULES)
    for i, rule in enumerate(rules):
        count, indexes = rule.get("succeededCount"), rule.get("succeededIndexes")
        if count is None and indexes is None:
            errors.required(f"{where}[{i}]", "at least one of succeededCount or succeededIndexes must be specified")
        most: dict[str, int] = {"specified completions": completions}
        if indexes is not None:
            most["indexes in the specified succeededIndexes field"] = _indexes(
                indexes, completions, f"{where}[{i}].succeededIndexes", errors
            )
        errors.invalid(f"{where}[{i}].succeededCount", count, NOT_NEGATIVE, when=count is not None and count < 0)
        for what, number in most.items():
            if count is not None and count > number:
                detail = f"must be less than or equal to {number} (the number of {what})"
                errors.invalid(f"{where}[{i}].succeededCount", count, detail)


def _indexes(text: str, completions: int, path: str, errors: Errors) -> int:
    """Return the number of indexes in a text such as "1,3-5"; 0 if the text is invalid."""
    errors.too_long(path, _LONGEST_INDEXES, when=len(text.encode()) > _LONGEST_INDEXES)
    found, problem = _read_indexes(text, completions)
    wrong = errors.invalid(path, text, f"error parsing succeededIndexes: {problem}", when=problem)
    return 0 if wrong else sum(map(len, found))


def _read_indexes(text: str, completions: int) -> tuple[list[range], str]:
    """Return the indexes in a text up to the first invalid one, and the error about that one, or ""."""
    found: list[range] = []
    for part in text.split(",") if text else ():
        ends, problem = part.split("-"), ""
        numbers = [int(end) if _is_number(end) else None for end in ends]
        wrong = next((i for i, number in enumerate(numbers) if number is None or number >= completions), None)
        if len(ends) > 2:
            problem = (
                f"the fragment {quote(part)} violates the requirement that an index interval can have at most "
                "two parts separated by '-'"
            )
        elif wrong is not None and numbers[wrong] is None:
            problem = f"cannot convert string to integer for index: {quote(ends[wrong])}"
        elif wrong is not None:
            problem = f"too large index: {quote(ends[wrong])}"
        else:
            first, end = numbers[0] or 0, numbers[-1] or 0
            if len(ends) == 2 and first >= end:
                problem = f"non-increasing order, previous: {first}, current: {end}"
            elif found and found[-1][-1] >= first:
                problem = f"non-increasing order, previous: {found[-1][-1]}, current: {first}"
            found.append(range(first, end + 1))
        if problem:
            return found, problem
    return found, ""


# The rules of a Job's status, a row each: the facts whose change triggers the rule ("": each update), those that must not be true
# together (with "-": must not be false), the field, and the text.
_STATUS_RULES: list[list[str]] = json.loads(Path(__file__).with_name("job_status.json").read_text())


def job_status(old: Manifest, new: Manifest, errors: Errors) -> None:
    """Validate an update of a Job's status."""
    was, now = _find_facts(old), _find_facts(new)
    now |= {f"was{name}": value for name, value in was.items()}
    resumes = was.get("Suspended") and any(
        (each.get("type"), each.get("status")) == ("Suspended", "False")
        for each in (new.get("status") or {}).get("conditions") or ()
    )
    now |= {"paused": (new.get("spec") or {}).get("suspend") or resumes}
    for name in ("failed", "succeeded"):
        counts = [of.get(name) or 0 for of in (now, was)]
        now[f"fewer{name.title()}"] = counts[0] < counts[1] and not (name == "succeeded" and now["elastic"])
    pods, seen = now.get("uncountedTerminatedPods") or {}, dict[Any, None]()
    for place, uid in [
        (f"{name}[{i}]", uid) for name in ("succeeded", "failed") for i, uid in enumerate(pods.get(name) or ())
    ]:
        path = f"status.uncountedTerminatedPods.{place}"
        if not errors.invalid(path, uid, "must not be empty", when=not uid):
            errors.unique(seen, uid, path)
    for watched, wanted, field, words, *kind in _STATUS_RULES:
        changed = not watched or any(now.get(name) != was.get(name) for name in watched.split())
        if changed and all(bool(now.get(name.lstrip("-"))) != name.startswith("-") for name in wanted.split()):
            value = now.get(field, 0)
            if field == "uncountedTerminatedPods":  # as Go writes it
                value = {name: value.get(name.lower()) for name in ("Succeeded", "Failed")}
            shown = "" if kind or field == "conditions" else encode(value)
            errors.append(FieldError(f"status.{field}", shown, words.format(**now), kind=(*kind, "Invalid value")[0]))


def _find_facts(job: Manifest) -> dict[str, Any]:
    """Return the fields of a Job's status, its true conditions, and values derived from them."""
    spec, status = job.get("spec") or {}, job.get("status") or {}
    true = {each["type"]: True for each in status.get("conditions") or () if each.get("status") == "True"}
    indexed, completions = spec.get("completionMode") == "Indexed", spec.get("completions")
    ends, active = [status.get(name) or "" for name in ("startTime", "completionTime")], status.get("active") or 0
    uncounted = status.get("uncountedTerminatedPods") or {}
    facts = {
        **status,
        **true,
        "active": active,
        "busy": active > 0,
        "ending": (status.get("terminating") or 0) > 0,
        "finished": "Complete" in true or "Failed" in true,
        "early": ends[0] > ends[1] != "",
        "empty": spec.get("suspend") and completions == 0,
        "indexed": indexed,
        "elastic": indexed and completions == spec.get("parallelism"),
        "byIndex": spec.get("backoffLimitPerIndex") is not None,
        "anyFailed": status.get("failedIndexes") is not None,
        "uncounted": uncounted.get("failed") or uncounted.get("succeeded"),
        "excess": status.get("ready") is not None and status["ready"] > active,
    }
    if completions is not None:
        texts = [status.get(f"{name}Indexes") or "" for name in ("completed", "failed")]
        (completed, wrong), (failed, also) = (_read_indexes(text, completions) for text in texts)
        both = {index for part in completed for index in part} & {index for part in failed for index in part}
        facts |= {"wrongCompleted": wrong, "wrongFailed": also if facts["byIndex"] else "", "overlap": ""}
        facts |= {"overlap": str(min(both))} if both else {}
    return facts


def _rule(spec: Manifest, rule: Manifest, where: str, errors: Errors) -> None:
    """Validate a rule of a podFailurePolicy."""
    action, codes = rule.get("action"), rule.get("onExitCodes")
    conditions = rule.get("onPodConditions") or ()
    if not action:
        errors.required(f"{where}.action", f"valid values: {_format_strings(_ACTIONS)}")
    elif action not in _ACTIONS:
        errors.not_supported(f"{where}.action", action, _ACTIONS)
    elif action == "FailIndex" and spec.get("backoffLimitPerIndex") is None:
        errors.invalid(f"{where}.action", action, "requires the backoffLimitPerIndex to be set")
    if codes is not None:
        _exit_codes(spec, codes, f"{where}.onExitCodes", errors)
    errors.too_many(f"{where}.onPodConditions", len(conditions), _MOST_RULES)
    for i, pattern in enumerate(conditions):
        place, kind = f"{where}.onPodConditions[{i}]", pattern.get("type") or ""
        errors.problems(f"{place}.type", kind, list_qualified_name_errors(kind))
        one("status", *_STATUSES)(pattern, place, errors)
    if codes is not None and conditions:
        errors.invalid_text(where, "", "specifying both OnExitCodes and OnPodConditions is not supported")
    if codes is None and not conditions:
        errors.invalid_text(where, "", "specifying one of OnExitCodes and OnPodConditions is required")


def _exit_codes(spec: Manifest, codes: Manifest, where: str, errors: Errors) -> None:
    operator, values, container = codes.get("operator"), codes.get("values") or [], codes.get("containerName")
    if not operator:
        errors.required(f"{where}.operator", f"valid values: {_format_strings(_OPERATORS)}")
    elif operator not in _OPERATORS:
        errors.not_supported(f"{where}.operator", operator, _OPERATORS)
    pod = (spec.get("template") or {}).get("spec") or {}
    names = [one.get("name") or "" for field in ("containers", "initContainers") for one in pod.get(field) or ()]
    if container is not None and container not in names:
        detail = "must be one of the container or initContainer names in the pod template"
        errors.invalid(f"{where}.containerName", container, detail)
    errors.invalid(f"{where}.values", codes.get("values"), "at least one value is required", when=not values)
    errors.too_many(f"{where}.values", len(values), _MOST_CODES)
    for i, value in enumerate(values):
        if value == 0 and operator == "In":
            errors.invalid(f"{where}.values[{i}]", value, "must not be 0 for the In operator")
        errors.duplicate(f"{where}.values[{i}]", value, when=value in values[:i])
    errors.invalid(f"{where}.values", list(values), "must be ordered", when=list(values) != sorted(values))


_is_number = re.compile(r"[+-]?[0-9]+\Z").match


def _format_strings(values: Sequence[str]) -> str:
    """Format a list of strings as Go does."""
    return "[" + " ".join(f'"{value}"' for value in values) + "]"

"""Validation of a pod's device claims, of their use by its containers, and of their status.

kube: pkg/apis/core/validation/validation.go (validatePodResourceClaims, validateResourceClaimNames, validatePodResourceClaimStatuses,
validatePodExtendedResourceClaimStatus) @ v1.34.1
"""

from collections.abc import Sequence

from scheduler_core.apimachinery.objects.errors import Errors, FieldError, duplicate
from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apimachinery.objects.names import label_errors, subdomain_errors
from scheduler_core.apiserver.validation.devices.slices import as_go_writes

MIRROR = "kubernetes.io/config.mirror"
_SOURCES = ("resourceClaimName", "resourceClaimTemplateName")


def is_mirror(meta: Manifest) -> bool:
    """Return whether a pod is a mirror pod of the kubelet."""
    return MIRROR in (meta.get("annotations") or {})


def claims_of(spec: Manifest, mirror: bool, path: str, errors: Errors) -> None:
    """Validate the claims of a pod or of a pod template; `path` is that of its spec."""
    seen: dict[str, None] = {}
    for i, claim in enumerate(spec.get("resourceClaims") or ()):
        if not errors.forbidden("[]", "static pods do not support resource claims", when=mirror):
            _claim(claim, seen, f"{path}.resourceClaims[{i}]", errors)


def _claim(claim: Manifest, seen: dict[str, None], path: str, errors: Errors) -> None:
    name = claim.get("name") or ""
    if not name:
        errors.required(f"{path}.name")
    elif name in seen:
        errors.duplicate(f"{path}.name", name)
    else:
        errors.problems(f"{path}.name", name, label_errors(name))
        seen[name] = None
    given = [field for field in _SOURCES if claim.get(field) is not None]
    if len(given) != 1:
        errors.invalid_text(
            path,
            as_go_writes(claim, "PodResourceClaim"),
            "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"
            if given
            else "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`",
        )
    for field in given:
        problems = subdomain_errors(claim[field])
        errors.problems(f"{path}.{field}", claim[field], problems)


def uses(used: Sequence[Manifest], known: Sequence[str], path: str, errors: Errors) -> None:
    """Validate the claims that a container uses: the pod's claims, whole or one request, without duplicates."""
    seen: dict[str, None] = {}
    for i, use in enumerate(used):
        where, name, request = f"{path}[{i}]", use.get("name") or "", use.get("request") or ""
        if errors.required(where, when=not name):
            continue
        if not errors.duplicate(where, name, when=name in seen):
            key = f"{name}/{request}" if request else name
            if request:
                errors.problems(f"{where}.request", request, label_errors(request))
            if key in seen:
                errors.duplicate(where, key)
            elif not request:
                errors += [duplicate(where, name) for other in seen if other.startswith(f"{name}/")]
            seen[key] = None
        if name not in known:
            said = "must be one of the names in pod.spec.resourceClaims"
            listed = ", ".join(sorted(known))
            said += f": {listed}" if known else " which is empty"
            errors.not_found(where, name, said)


def claim_statuses(pod: Manifest) -> list[FieldError]:
    """Return the errors in the claim statuses of a pod."""
    errors = Errors()
    spec, status = pod.get("spec") or {}, pod.get("status") or {}
    known = [claim.get("name") for claim in spec.get("resourceClaims") or ()]
    seen: dict[str, None] = {}
    for i, entry in enumerate(status.get("resourceClaimStatuses") or ()):
        where, name = f"status.resourceClaimStatuses[{i}].name", entry.get("name") or ""
        errors.invalid(where, name, "must match the name of an entry in `spec.resourceClaims`", when=name not in known)
        errors.unique(seen, name, where)
        claim = entry.get("resourceClaimName")
        if claim is not None:
            errors.problems(where, claim, subdomain_errors(claim))
    extended = status.get("extendedResourceClaimStatus")
    if extended is not None:
        _validate_extended_claim(extended, spec, "status.extendedResourceClaimStatus", errors)
    return errors


def _validate_extended_claim(status: Manifest, spec: Manifest, path: str, errors: Errors) -> None:
    """Validate the status of the claim for a pod's extended resources."""
    containers = {
        each.get("name"): each for field in ("initContainers", "containers") for each in spec.get(field) or ()
    }
    mappings = status.get("requestMappings") or ()
    errors.required(f"{path}.requestMappings", "at least one request mapping is required", when=not mappings)
    seen: dict[tuple[str, str], None] = {}
    for i, mapping in enumerate(mappings):
        where = f"{path}.requestMappings[{i}]"
        name, resource = mapping.get("containerName") or "", mapping.get("resourceName") or ""
        container = containers.get(name)
        if container is None:
            detail = "must match the name of an entry in spec.initContainers.name or spec.containers.name"
            errors.invalid(f"{where}.containerName", name, detail)
        elif resource not in ((container.get("resources") or {}).get("requests") or {}):
            detail = (
                "must match the extended resource name of an entry in spec.initContainers.resources.requests or "
                "spec.containers.resources.requests"
            )
            errors.invalid(f"{where}.resourceName", resource, detail)
        request = mapping.get("requestName") or ""
        errors.problems(f"{path}.requestName", request, label_errors(request))
        if (name, resource) in seen:
            errors.duplicate(f"{where}.containerName", name)
            errors.duplicate(f"{where}.resourceName", resource)
        seen[name, resource] = None
    claim = status.get("resourceClaimName") or ""
    if not errors.required(f"{path}.resourceClaimName", when=not claim):
        where = f"{path}.resourceClaimName"
        errors.problems(where, claim, subdomain_errors(claim))

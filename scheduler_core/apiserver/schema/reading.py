"""What the API server can read of a request: objects of known kinds, with fields that are theirs and of their types.

kube: apiserver/pkg/endpoints/handlers/{create,patch,rest}.go @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scheduler_core.apimachinery.objects.errors import FieldError, format_value
from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apiserver.kinds import Kind, kind_of
from scheduler_core.apiserver.schema.strict import strict_decoding_error, strict_errors
from scheduler_core.apiserver.schema.table import is_served
from scheduler_core.apiserver.schema.zeros import are_nulls, with_zeros
from scheduler_core.apiserver.status import Answer, Refused
from scheduler_core.apiserver.validation.objects import describe, structure


def read(manifest: Any) -> tuple[Kind, Manifest]:
    """The kind of an object, and the object. Refused: 400, where it cannot be read."""
    errors = structure(manifest)
    if are_nulls(errors):
        manifest = with_zeros(manifest)
        errors = structure(manifest)
    if errors:
        raise _build_refusal(errors, manifest, "; ".join(map(str, errors)))
    kind = kind_of(manifest)
    assert kind is not None
    if not is_served(kind, str(manifest["apiVersion"])):
        text = f'no matches for kind "{manifest["kind"]}" in version "{manifest["apiVersion"]}"'
        raise _build_refusal([FieldError("apiVersion", "", text)], manifest, text)
    errors = strict_errors(manifest, kind)
    if are_nulls(errors):
        manifest = with_zeros(manifest)
        errors = strict_errors(manifest, kind)
    if errors:
        raise _build_refusal(errors, manifest, _undecodable(manifest, errors))
    return kind, manifest


def read_patched(manifest: Any, patch: Any) -> None:
    """Looks at what a patch made of an object. Refused: 422, where it cannot be read."""
    errors = structure(manifest)
    kind = None if errors else kind_of(manifest)
    errors = errors or (strict_errors(manifest, kind) if kind else [])
    if errors:
        text = strict_decoding_error(errors) or "; ".join(map(str, errors))
        said = f' "" is invalid: patch: Invalid value: {format_value(patch)}: {text}'
        named = [error.of(describe(manifest)) for error in errors]
        raise Refused(named, Answer("Invalid", said, tuple(map(str, errors))))


def _build_refusal(errors: Sequence[FieldError], manifest: Any, message: str) -> Refused:
    named = [error.of(describe(manifest)) for error in errors]
    return Refused(named, Answer("BadRequest", message, tuple(map(str, errors))))


def _undecodable(manifest: Manifest, errors: Sequence[FieldError]) -> str:
    kind, version = manifest["kind"], str(manifest["apiVersion"]).rpartition("/")[2]
    text = strict_decoding_error(errors) or "; ".join(map(str, errors))
    return f'{kind} in version "{version}" cannot be handled as a {kind}: {text}'

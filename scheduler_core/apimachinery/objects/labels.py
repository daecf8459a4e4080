"""Label selectors and node selectors, compiled once.

A plugin evaluates a Requirement once per distinct value of a label (`accepts`), so `accepts` needs no object. An invalid selector never
matches; `errors` has the reasons in kube's words.

kube: apimachinery/pkg/labels/selector.go, component-helpers/scheduling/corev1/nodeaffinity/nodeaffinity.go @ v1.34.1
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scheduler_core.apimachinery.objects.errors import FieldError, child, format_key_path, invalid, not_supported
from scheduler_core.apimachinery.objects.names import label_value_errors, list_qualified_name_errors

Labels = Mapping[str, str]

IN, NOT_IN, EXISTS, DOES_NOT_EXIST, GT, LT = "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"
NODE_OPERATORS = (IN, NOT_IN, EXISTS, DOES_NOT_EXIST, GT, LT)
LABEL_OPERATORS = (IN, NOT_IN, EXISTS, DOES_NOT_EXIST)

_INTEGER = re.compile(r"[+-]?[0-9]+\Z")


def parse_int64(text: str) -> int | None:
    """A decimal int64 as Go's strconv.ParseInt reads it, or None."""
    if not _INTEGER.match(text) or len(text) > 64:
        return None
    number = int(text)
    return number if -(2**63) <= number < 2**63 else None


@dataclass(frozen=True, slots=True)
class Requirement:
    """One condition on one label."""

    key: str
    op: str
    values: tuple[str, ...] = ()

    def accepts(self, value: str | None) -> bool:
        """Return whether an object with this value of the label `key` matches (None: the object does not have the label)."""
        op = self.op
        if op == IN:
            return value is not None and value in self.values
        if op == NOT_IN:
            return value is None or value not in self.values
        if op == EXISTS:
            return value is not None
        if op == DOES_NOT_EXIST:
            return value is None
        return value is not None and self._compares(value)

    def matches(self, labels: Labels) -> bool:
        return self.accepts(labels.get(self.key))

    def _compares(self, value: str) -> bool:
        if self.op not in (GT, LT) or len(self.values) != 1:
            return False
        mine, other = parse_int64(value), parse_int64(self.values[0])
        if mine is None or other is None:
            return False
        return mine > other if self.op == GT else mine < other

    def __str__(self) -> str:
        """The requirement as kubectl writes it: `zone in (a,b)`."""
        if self.op in (EXISTS, DOES_NOT_EXIST):
            return self.key if self.op == EXISTS else f"!{self.key}"
        if self.op in (GT, LT):
            return f"{self.key}{'>' if self.op == GT else '<'}{','.join(self.values)}"
        return f"{self.key} {self.op.lower()} ({','.join(sorted(self.values))})"


def requirement_errors(requirement: Requirement, path: str, operators: Sequence[str]) -> tuple[FieldError, ...]:
    """Return the errors of kube's labels.NewRequirement. An unsupported operator is reported alone.

    `path` is the expression's path ("": a LabelSelector's, where Go has null for no values).
    """
    key, op, values = requirement.key, requirement.op, requirement.values
    if op not in operators:
        return (not_supported(child(path, "operator"), op, operators),)
    errors: list[FieldError] = []
    if problems := list_qualified_name_errors(key):
        errors.append(invalid(child(path, "key"), key, "; ".join(problems)))
    if detail := _values_problem(op, values):
        errors.append(invalid(child(path, "values"), list(values) if values or path else None, detail))
    if op in (GT, LT):
        detail = "for 'Gt', 'Lt' operators, the value must be an integer"
        errors += [
            invalid(child(path, f"values[{i}]"), value, detail)
            for i, value in enumerate(values)
            if parse_int64(value) is None
        ]
    for i, value in enumerate(values):
        if problems := label_value_errors(value):
            errors.append(invalid(format_key_path(child(path, f"values[{i}]"), key), value, "; ".join(problems)))
    return tuple(errors)


def _values_problem(op: str, values: Sequence[str]) -> str:
    if op in (IN, NOT_IN) and not values:
        return "for 'in', 'notin' operators, values set can't be empty"
    if op in (EXISTS, DOES_NOT_EXIST) and values:
        return "values set must be empty for exists and does not exist"
    if op in (GT, LT) and len(values) != 1:
        return "for 'Gt', 'Lt' operators, exactly one value is required"
    return ""


def _selector_errors(requirement: Requirement) -> tuple[FieldError, ...]:
    """Return at most one error, in kube's words: why this requirement keeps a LabelSelector from compiling.

    kube: apimachinery/pkg/apis/meta/v1/helpers.go (LabelSelectorAsSelector) @ v1.34.1
    """
    if requirement.op not in LABEL_OPERATORS:
        return (FieldError("", f'"{requirement.op}" is not a valid label selector operator', ""),)
    errors = requirement_errors(requirement, "", LABEL_OPERATORS)
    return errors if len(errors) <= 1 else (FieldError("", aggregate(errors), ""),)


def aggregate(errors: Iterable[FieldError]) -> str:
    """Errors as Go's aggregate prints them: one plain, several as `[a, b]`, no text twice."""
    texts = list(dict.fromkeys(str(error) for error in errors))
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]" if texts else ""


@dataclass(frozen=True, slots=True)
class LabelSelector:
    """A metav1.LabelSelector. Absent (None) selects nothing, empty selects everything."""

    requirements: tuple[Requirement, ...] = ()
    nothing: bool = False
    errors: tuple[FieldError, ...] = ()

    @classmethod
    def of(cls, manifest: Mapping[str, Any] | None) -> LabelSelector:
        """Compile {matchLabels, matchExpressions}. A selector that kube refuses selects nothing and has `errors`."""
        if manifest is None:
            return NOTHING
        requirements = [Requirement(k, IN, (v or "",)) for k, v in (manifest.get("matchLabels") or {}).items()]
        expressions = [_requirement(raw) for raw in manifest.get("matchExpressions") or ()]
        both = requirements + expressions
        errors = next((problems for each in both if (problems := _selector_errors(each))), ())
        return cls(tuple(sorted(both, key=lambda r: r.key)), bool(errors), errors)

    def matches(self, labels: Labels) -> bool:
        if self.nothing:
            return False
        return all(requirement.accepts(labels.get(requirement.key)) for requirement in self.requirements)

    @property
    def empty(self) -> bool:
        """Return whether the selector selects everything."""
        return not self.nothing and not self.requirements


NOTHING = LabelSelector(nothing=True)


@dataclass(frozen=True, slots=True)
class NodeSelectorTerm:
    """One term: label expressions and field expressions, ANDed. An empty term matches no node."""

    expressions: tuple[Requirement, ...] = ()
    fields: tuple[Requirement, ...] = ()
    errors: tuple[FieldError, ...] = ()

    @classmethod
    def of(cls, manifest: Mapping[str, Any], path: str = "") -> NodeSelectorTerm:
        expressions = tuple(_requirement(raw) for raw in manifest.get("matchExpressions") or ())
        fields = tuple(_requirement(raw) for raw in manifest.get("matchFields") or ())
        errors: list[FieldError] = []
        for i, expression in enumerate(expressions):
            errors += requirement_errors(expression, _at(path, "matchExpressions", i), NODE_OPERATORS)
        for i, field in enumerate(fields):
            errors += _field_errors(field, _at(path, "matchFields", i))
        return cls(expressions, fields, tuple(errors))

    @property
    def empty(self) -> bool:
        return not self.expressions and not self.fields

    def matches(self, labels: Labels, name: str) -> bool:
        """Return whether a node with these labels and this name passes."""
        if self.errors or self.empty:
            return False
        for requirement in self.expressions:
            if not requirement.accepts(labels.get(requirement.key)):
                return False
        return all(accepts_field(field, name) for field in self.fields)


def accepts_field(field: Requirement, node_name: str) -> bool:
    """Return whether a field expression matches a node. The only field is metadata.name; other fields read as empty."""
    return field.accepts(node_name if field.key == "metadata.name" else "")


@dataclass(frozen=True, slots=True)
class NodeSelector:
    """Terms, ORed. Errors of a term only keep that term from matching."""

    terms: tuple[NodeSelectorTerm, ...] = ()

    @classmethod
    def of(cls, manifest: Mapping[str, Any], path: str = "") -> NodeSelector:
        raw = manifest.get("nodeSelectorTerms") or ()
        return cls(tuple(NodeSelectorTerm.of(term, _at(path, "nodeSelectorTerms", i)) for i, term in enumerate(raw)))

    def matches(self, labels: Labels, name: str) -> bool:
        return any(term.matches(labels, name) for term in self.terms)

    @property
    def errors(self) -> tuple[FieldError, ...]:
        return tuple(error for term in self.terms for error in term.errors)


def _requirement(raw: Mapping[str, Any]) -> Requirement:
    return Requirement(raw.get("key") or "", raw.get("operator") or "", tuple(raw.get("values") or ()))


def _field_errors(field: Requirement, path: str) -> tuple[FieldError, ...]:
    if field.op not in (IN, NOT_IN):
        return (not_supported(f"{path}.operator", field.op, (IN, NOT_IN)),)
    if len(field.values) != 1:
        return (invalid(f"{path}.values", list(field.values), "must have one element"),)
    return ()


def _at(path: str, name: str, index: int) -> str:
    return f"{child(path, name)}[{index}]"

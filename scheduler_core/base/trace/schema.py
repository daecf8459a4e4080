"""What the classes of records say of themselves: descriptions, and the fields' names and types in the words of CEL."""

from __future__ import annotations

from typing import Any, NamedTuple, get_type_hints

from msgspec import inspect

from scheduler_core.base.trace.kinds import KINDS, Facts


class FieldSchema(NamedTuple):
    """A field of a record's data. `type` is as CEL has it; an `optional` one is left out where there is nothing to say."""

    name: str
    type: str
    optional: bool
    description: str


def description(facts: type[Facts]) -> str:
    """Return the event that facts describe, such as `the binding cycle began`."""
    sentence = (facts.__doc__ or "").split("\n")[0].rstrip(".")
    return sentence[:1].lower() + sentence[1:]


DESCRIPTIONS: dict[str, str] = {kind: description(facts) for kind, facts in KINDS.items()}


def fields_of(facts: type[Facts]) -> tuple[FieldSchema, ...]:
    """The fields, in the order in which they are written."""
    hints = get_type_hints(facts, include_extras=True)
    info = inspect.type_info(facts)
    assert isinstance(info, inspect.StructType)
    return tuple(
        FieldSchema(
            field.encode_name,
            _type(_without_default(field)),
            not field.required,
            "".join(text for text in getattr(hints[field.name], "__metadata__", ()) if isinstance(text, str)),
        )
        for field in info.fields
    )


def _without_default(field: inspect.Field) -> inspect.Type:
    """The type without None where None is only the default, which is never written."""
    if isinstance(field.type, inspect.UnionType) and field.default is None:
        (described,) = (each for each in field.type.types if not isinstance(each, inspect.NoneType))
        return described
    return field.type


_NAMES: dict[type[inspect.Type], str] = {
    inspect.AnyType: "dyn",
    inspect.BoolType: "bool",
    inspect.FloatType: "double",
    inspect.IntType: "int",
    inspect.NoneType: "null",
    inspect.StrType: "string",
}


def _type(described: Any) -> str:
    match described:
        case inspect.UnionType():
            return " or ".join(map(_type, described.types))
        case inspect.Metadata():
            return _type(described.type)
        case inspect.LiteralType():
            return "string" if isinstance(described.values[0], str) else "int"
        case inspect.StructType():
            return "map(string, dyn)"
        case inspect.ListType() | inspect.VarTupleType():
            return f"list({_type(described.item_type)})"
        case inspect.DictType():
            return f"map({_type(described.key_type)}, {_type(described.value_type)})"
        case inspect.TypedDictType():
            return "{" + ", ".join(f"{field.name}: {_type(field.type)}" for field in described.fields) + "}"
    return _NAMES[type(described)]

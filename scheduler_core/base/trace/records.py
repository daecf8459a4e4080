"""Records: what happened, in the past tense. They are the engine's only output.

A record is frozen; what it says is a class of its kind (kinds.py). `parent` is the record that opened the span it belongs to, so that a
trace is a tree: attempt > extension point > plugin.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple, TypeVar, get_type_hints

from msgspec import inspect

from scheduler_core.base.state import Derived, SharedState, State
from scheduler_core.base.trace.kinds import KINDS, Facts

# What the classes of records say of themselves: descriptions, and the fields' names and types in the words of CEL.


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
    """Return the fields in the order in which they are written."""
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
    """Return the type without None if None is only the default, which is never written."""
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


F = TypeVar("F", bound=Facts)


class LazyFacts(SharedState):
    """A function that builds facts on first use. No checkpoint holds one, because writing a record evaluates it."""

    __slots__ = ()

    KIND: ClassVar[str]

    def __call__(self) -> Facts:
        raise NotImplementedError


class Record(SharedState):
    """One thing that happened. `t` is virtual nanoseconds; `source` is the facts, or what makes them as long as nobody has looked."""

    __slots__ = ("_data", "parent", "scheduler", "seq", "source", "t")

    seq: int
    t: int
    scheduler: str
    parent: int
    source: Facts | LazyFacts
    _data: Derived[Mapping[str, Any] | None]

    def __init__(self, seq: int, t: int, source: Facts | LazyFacts, scheduler: str, parent: int) -> None:
        self.seq = seq
        self.t = t
        self.scheduler = scheduler
        self.parent = parent
        self.source = source
        self._data = None

    def decoded(self) -> None:
        self._data = None

    @property
    def kind(self) -> str:
        return self.source.KIND

    @property
    def facts(self) -> Facts:
        if not isinstance(self.source, Facts):
            self.source = self.source()
        return self.source

    def of(self, kind: type[F]) -> F | None:
        """Return the facts of a record of this kind, or None for another kind (its facts stay unevaluated)."""
        if self.source.KIND != kind.KIND:
            return None
        facts = self.facts
        assert isinstance(facts, kind)
        return facts

    @property
    def data(self) -> Mapping[str, Any]:
        """The facts as JSON."""
        if self._data is None:
            self._data = self.facts.to_json()
        return self._data

    def to_json(self) -> dict[str, Any]:
        return {
            "seq": self.seq,
            "t": self.t,
            "kind": self.kind,
            "scheduler": self.scheduler,
            "parent": self.parent,
            "data": dict(self.data),
        }

    def __repr__(self) -> str:
        return f"Record({self.to_json()})"


class Recorder(State):
    """The engine's writer of records. Numbers records and holds those of the current call."""

    __slots__ = ("records", "seq")

    seq: int
    records: Derived[list[Record]]

    def __init__(self) -> None:
        self.seq = 0
        self.records = []

    def write(self, t: int, facts: Facts | LazyFacts, scheduler: str, parent: int) -> int:
        """Add a record. Return its number, which is the `parent` of the records that belong to it."""
        self.seq += 1
        self.records.append(Record(self.seq, t, facts, scheduler, parent))
        return self.seq

    def drain(self) -> list[Record]:
        """The records since the last call of this."""
        out, self.records = self.records, []
        return out

    def take_back(self) -> None:
        """Discard the records since the last drain, including their numbers."""
        self.seq -= len(self.records)
        self.records = []

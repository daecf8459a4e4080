"""How a class of the world's state declares its fields: what of it is shared, what copied, what derived.

```
class Cycle(State):
    number: int                             nothing can change it in place, so it is shared and needs no word
    steps: Copied[list[Step]]               a copy has its own, as deep as what is in it can be changed
    scores: Copied[list[Shared[Scores]]]    ... down to what is Shared
    nodes: Shared[NodeTable]                a copy has the very same object
    world: Derived[World]                   is no state: no copy has it and no checkpoint; somebody fills it in
    index: Derived[Copied[dict[str, int]]]  no checkpoint has it, but a copy does
    moves: Growing[Move]                    a list that only grows: copied; its rows are kept in a checkpoint's archive
```

`copy`, the codec of checkpoints and its version check are made of this and of nothing else. Classes that are frozen (dataclasses, msgspec's
structs, NamedTuples, enums) are shared whole; so are those that derive from SharedState. A mutable field that says nothing is an error.
"""

import enum
import types
from collections import abc
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, is_dataclass
from functools import cache, lru_cache
from operator import methodcaller
from typing import Annotated, Any, ClassVar, Literal, Self, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec
import numpy as np

T = TypeVar("T")


class Mark(enum.Enum):
    """The marks of a field's annotation."""

    SHARED = enum.auto()
    COPIED = enum.auto()
    DERIVED = enum.auto()
    GROWING = enum.auto()


Shared = Annotated[T, Mark.SHARED]
Copied = Annotated[T, Mark.COPIED]
Derived = Annotated[T, Mark.DERIVED]
Growing = Annotated[list[T], Mark.COPIED, Mark.GROWING]

Copier = Callable[[Any], Any]
Begin = Callable[[], Any]
_COPY = methodcaller("copy")
_PLAIN = (int, float, str, bytes, type(None), type)
_OF_LIBRARIES = ("builtins", "collections.abc", "msgspec", "numpy", "types", "typing")
_READ_ONLY = (Mapping, Sequence, frozenset)


class DeclarationError(TypeError):
    """A class of the world's state that does not declare how to copy a field."""


class SharedState:
    """Objects that are shared by all copies of their holders: immutable, or append-only."""

    __slots__ = ()

    def decoded(self) -> None:
        """Fill the derived fields after decoding from a checkpoint."""


class State:
    """Objects that change while the world runs. A derived field starts empty if its type is a container or a number, else unset."""

    __slots__ = ()

    def copy(self) -> Self:
        """Return an independent copy."""
        cls = type(self)
        twin: Self = (_COPIERS.get(cls) or _copier_of(cls))(self)
        return twin

    def copied_from(self, original: Self) -> None:
        """Link the parts of a new copy to each other as in the original."""

    def decoded(self) -> None:
        """Fill the derived fields after decoding from a checkpoint."""


@dataclass(frozen=True, slots=True)
class Field:
    """One declared field with its type (`hint`).

    `carried`: a copy keeps the field's value, or the result of `copy`. `written`: checkpoints store the field; a field that they do not
    store starts with `begin`, or unset. `row`: the class of the rows of an append-only list.
    """

    name: str
    hint: Any
    copy: Copier | None = None
    carried: bool = True
    written: bool = True
    begin: Begin | None = None
    row: type | None = None


@cache
def fields_of(cls: Any) -> tuple[Field, ...]:
    """Return the declared fields of a State, a SharedState, or a frozen class. Raise DeclarationError if a declaration is incomplete."""
    try:
        hints = get_type_hints(cls, include_extras=True)
    except NameError as error:
        raise DeclarationError(f"{cls.__module__}.{cls.__qualname__}: {error}; import it at run time too") from None
    names = getattr(cls, "__struct_fields__", None) or [n for n in hints if get_origin(hints[n]) is not ClassVar]
    slots = [slot for base in cls.__mro__ for slot in vars(base).get("__slots__", ())]
    if undeclared := [slot for slot in slots if slot not in names and not issubclass(cls, tuple)]:
        raise DeclarationError(f"{cls.__qualname__} declares no {', '.join(undeclared)}")
    strict = issubclass(cls, State)
    return tuple([_field(f"{cls.__qualname__}.{name}", name, hints[name], strict) for name in names])


def _field(where: str, name: str, hint: Any, strict: bool) -> Field:
    hint, marks = _split_annotated(hint)
    row = get_args(hint)[0] if Mark.GROWING in marks else None
    derived = Mark.DERIVED in marks
    carried = not derived or Mark.SHARED in marks or Mark.COPIED in marks
    copier = None
    if strict and carried and Mark.SHARED not in marks:
        copier = _copier(hint, where)
        if (copier is None) == (Mark.COPIED in marks):
            says = "that it is copied, but nothing" if copier is None else "nothing, and what is in it"
            raise DeclarationError(f"{where} says {says} can be changed in place")
    return Field(name, hint, copier, carried, not derived, _begin(hint) if derived else None, row)


def _split_annotated(hint: Any) -> tuple[Any, tuple[Any, ...]]:
    """Return a type without its annotations, and the annotations."""
    return (get_args(hint)[0], hint.__metadata__) if get_origin(hint) is Annotated else (hint, ())


def _begin(hint: Any) -> Begin | None:
    kind = get_origin(hint) or hint
    return kind if kind in (dict, list, int) else None


def _copier(hint: Any, where: str) -> Copier | None:
    """Return the copier for a type; None if its values are shared, as nothing in them can change."""
    hint, marks = _split_annotated(hint)
    kind, args = get_origin(hint) or hint, get_args(hint)
    if hint is None or kind is Literal or Mark.SHARED in marks:
        return None
    if kind in (Union, types.UnionType):
        return _copier_of_union(args, where)
    if kind is tuple:
        if any(_copier(part, where) for part in args if part is not ...):
            raise DeclarationError(f"{where}: what is in the tuple can be changed in place; say Shared")
        return None
    if kind is Any or not isinstance(kind, type):
        raise DeclarationError(f"{where}: {hint} may be anything; say Shared, or Derived")
    if issubclass(kind, dict | list):
        return _copier_of_container(kind, args, where)
    if issubclass(kind, np.ndarray | State):
        return _COPY
    if is_frozen(kind) or issubclass(kind, (*_PLAIN, *_READ_ONLY, SharedState)):
        return None
    raise DeclarationError(f"{where}: {kind.__qualname__} is neither frozen nor a State; say Shared, or Derived")


def _copier_of_union(parts: tuple[Any, ...], where: str) -> Copier | None:
    copiers = [copier for part in parts if (copier := _copier(part, where)) is not None]
    if not copiers:
        return None
    if len(copiers) > 1 or len(parts) > 2 or type(None) not in parts:
        raise DeclarationError(f"{where}: of several types, each can't be copied in its own way; say Shared")
    (copier,) = copiers
    return lambda value: None if value is None else copier(value)


def _copier_of_container(kind: type, args: tuple[Any, ...], where: str) -> Copier:
    inner = _copier(args[-1], where) if args else None
    if inner is None:
        return _COPY
    if kind is list:
        return lambda values: [inner(value) for value in values]
    if kind is dict:
        return lambda values: {key: inner(value) for key, value in values.items()}
    raise DeclarationError(f"{where}: what is in a {kind.__qualname__} is not copied; say Shared")


def is_frozen(cls: type) -> bool:
    """Return whether a class is shared whole because nothing can change its objects."""
    if issubclass(cls, msgspec.Struct):
        return cls.__struct_config__.frozen
    if is_dataclass(cls):
        return bool(cls.__dataclass_params__.frozen)  # type: ignore[attr-defined]
    return issubclass(cls, enum.Enum) or (issubclass(cls, tuple) and hasattr(cls, "_fields"))


_COPIERS: dict[type, Copier] = {}


def _copier_of(cls: type) -> Copier:
    """Create and register the copier of a class. Called at the first copy, because only then all annotated names exist."""
    copier = _COPIERS[cls] = _make_copier(cls)
    return copier


def _make_copier(cls: Any) -> Copier:
    fields = fields_of(cls)
    same = tuple(field.name for field in fields if field.carried and field.copy is None)
    plain = tuple(field.name for field in fields if field.copy is _COPY)
    other = tuple((field.name, field.copy) for field in fields if field.copy and field.copy is not _COPY)
    fresh = tuple((field.name, field.begin) for field in fields if not field.carried and field.begin)
    new, ties = object.__new__, cls.copied_from is not State.copied_from

    def copy(original: Any) -> Any:
        # As quick as a loop gets: one for each way, and `.copy()` called by its name.
        twin = new(cls)
        for name in same:
            setattr(twin, name, getattr(original, name))
        for name in plain:
            setattr(twin, name, getattr(original, name).copy())
        for name, how in other:
            setattr(twin, name, how(getattr(original, name)))
        for name, begin in fresh:
            setattr(twin, name, begin())
        if ties:
            twin.copied_from(original)
        return twin

    return copy


@lru_cache(maxsize=4)
def reachable(roots: tuple[type, ...]) -> tuple[type, ...]:
    """Return every class whose objects a checkpoint may hold: the roots, and the types of written fields, in that order.

    Raise DeclarationError with a class that declares nothing.
    """
    classes: dict[type, None] = {}
    ahead: list[Any] = list(reversed(roots))
    while ahead:
        cls = ahead.pop()
        if cls in classes:
            continue
        if not (is_frozen(cls) or issubclass(cls, State | SharedState | dict)):
            raise DeclarationError(f"{cls.__module__}.{cls.__qualname__} is neither frozen nor a State")
        classes[cls] = None
        if not issubclass(cls, enum.Enum | dict):
            hints = [field.hint for field in fields_of(cls) if field.written]
            ahead.extend(reversed([named for hint in hints for named in _list_classes(hint)]))
    return tuple(classes)


def _list_classes(hint: Any) -> Iterator[type]:
    """Yield the classes that a type names. Callables are never state."""
    hint, _ = _split_annotated(hint)
    kind, args = get_origin(hint) or hint, get_args(hint)
    if isinstance(kind, type) and kind.__module__ not in _OF_LIBRARIES:
        yield kind
    if kind not in (abc.Callable, Literal, type, np.ndarray):
        for part in args:
            if part is not ...:
                yield from _list_classes(part)

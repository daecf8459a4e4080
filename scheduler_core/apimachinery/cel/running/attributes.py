"""Variables and other values with the fields and indices that are taken of them.

As in cel-go a chain such as a.b[0] is one attribute: it costs 1, and 1 for every field or index. As a branch of
?: or as an index of another attribute it costs its fields and indices alone.

kube: vendor/github.com/google/cel-go/interpreter/attributes.go @ v1.34.1 (cel-go v0.26.0)
"""

from typing import Any

from scheduler_core.apimachinery.cel.limits import Cancelled
from scheduler_core.apimachinery.cel.running.frame import COST, LIMIT, OVER, Frame, Run, Step, is_failure
from scheduler_core.apimachinery.cel.texts import go_type, go_value
from scheduler_core.apimachinery.cel.values import (
    LIST_KINDS,
    MAX_INT,
    NO_OVERLOAD,
    NONE,
    NOTHING,
    Failure,
    Optional,
    Uint,
    find,
    type_of_value,
)

_KEYS = (str, int, Uint, bool, float)
_NATIVE: dict[type, str] = {type(None): "<nil>", list: "[]interface {}", dict: "map[string]interface {}"}


def bad_index(value: object, native: bool = True) -> Failure | None:
    """Return the failure of an invalid index, else None. `native`: the value is from the input, not the expression."""
    if value.__class__ in _KEYS:
        return None
    kind = _NATIVE.get(value.__class__) if native else None
    return Failure(f"invalid qualifier type: {kind or go_type(value)}")


def _list_index(key: object) -> int | Failure:
    if isinstance(key, int) and key.__class__ is int:
        return key
    if isinstance(key, float | Uint):
        if key == key and int(key) == key and abs(key) <= MAX_INT:
            return int(key)
        return Failure(f"unsupported index value {go_value(key)} in list")
    return Failure(f"unsupported index type '{type_of_value(key).name}' in list")


def get_member(value: object, key: object) -> object:
    """Return the field or element, NOTHING if it is missing, or a Failure."""
    if isinstance(value, dict):
        return find(value, key)
    if isinstance(value, LIST_KINDS):
        index = _list_index(key)
        if isinstance(index, Failure):
            return index
        return value[index] if 0 <= index < len(value) else NOTHING
    return NOTHING


def _missing(value: object, key: object) -> Failure:
    if isinstance(value, LIST_KINDS):
        return Failure(f"index out of bounds: {go_value(key)}")
    return Failure(f"no such key: {go_value(key)}")


class Qualifier:
    """One field or index. `test`: the qualifier of has(), which returns whether the field exists."""

    __slots__ = ("dynamic", "end", "key", "optional", "start", "test")

    def __init__(self, key: object, dynamic: Run | None, optional: bool, test: bool, start: int, end: int) -> None:
        self.key, self.dynamic, self.optional, self.test = key, dynamic, optional, test
        self.start, self.end = start, end

    def strict(self) -> Step:
        """Return a step of (frame, value) in which a missing value is a Failure."""
        if self.dynamic is not None:
            return _dynamic(self.dynamic)
        return _build_presence_test(self.key) if self.test else _field(self.key)

    def lenient(self) -> Step:
        """Return a step of (frame, value) in which a missing value is NOTHING and costs nothing."""
        return _lenient(self.key, self.dynamic)


def _field(key: object) -> Step:
    text = key.__class__ is str

    def field(frame: Frame, value: Any) -> object:
        cost = frame[COST] = frame[COST] + 1
        if cost > frame[LIMIT]:
            raise Cancelled(OVER)
        if text and value.__class__ is dict:
            found = value.get(key, NOTHING)
        else:
            found = get_member(value, key)
        return found if found is not NOTHING else _missing(value, key)

    return field


def _build_presence_test(key: object) -> Step:
    def tested(frame: Frame, value: Any) -> object:
        cost = frame[COST] = frame[COST] + 1
        if cost > frame[LIMIT]:
            raise Cancelled(OVER)
        found = get_member(value, key)
        return found if found.__class__ is Failure else found is not NOTHING

    return tested


def _dynamic(index: Run) -> Step:
    def dynamic(frame: Frame, value: Any) -> object:
        key = index(frame)
        cost = frame[COST] = frame[COST] + 1
        if cost > frame[LIMIT]:
            raise Cancelled(OVER)
        if key.__class__ is Failure:
            return key
        wrong = bad_index(key)
        if wrong is not None:
            return wrong
        found = get_member(value, key)
        return found if found is not NOTHING else _missing(value, key)

    return dynamic


def _lenient(constant: object, index: Run | None) -> Step:
    def lenient(frame: Frame, value: Any) -> object:
        key = constant
        if index is not None:
            key = index(frame)
            wrong = key if is_failure(key) else bad_index(key)
            if wrong is not None:
                return wrong
        found = get_member(value, key)
        if found is not NOTHING and found.__class__ is not Failure:
            cost = frame[COST] = frame[COST] + 1
            if cost > frame[LIMIT]:
                raise Cancelled(OVER)
        return found

    return lenient


class Attribute:
    """A value with its qualifiers, which may still grow while the tree is planned."""

    __slots__ = ("qualifiers", "root", "test")

    def __init__(self, root: Run) -> None:
        self.root = root
        self.qualifiers: list[Qualifier] = []
        self.test = False

    def qualify(self, qualifier: Qualifier) -> None:
        self.qualifiers.append(qualifier)
        self.test = self.test or qualifier.test

    def resolved(self) -> Run:
        """The value, without the cost of the attribute itself."""
        if not self.qualifiers:
            return self.root
        root, general = self.root, _general(self.qualifiers)
        if any(qualifier.optional for qualifier in self.qualifiers):
            return lambda frame: general(frame, root(frame))
        return _plain(root, [qualifier.strict() for qualifier in self.qualifiers], general)

    def observed(self) -> Run:
        """The value, with its cost."""
        run = self.resolved()
        if self.test:
            return _presence(run)

        def observed(frame: Frame) -> object:
            value = run(frame)
            cost = frame[COST] = frame[COST] + 1
            if cost > frame[LIMIT]:
                raise Cancelled(OVER)
            return value

        return observed


def _plain(root: Run, steps: list[Step], general: Step) -> Run:
    """Return a run of qualifiers that are all strict; an optional value switches to the general form."""

    def plain(frame: Frame) -> object:
        value = root(frame)
        if value.__class__ is Failure:
            return value
        if value.__class__ is Optional:
            return general(frame, value)
        for step in steps:
            value = step(frame, value)
            if value.__class__ is Failure:
                return value
        return value

    return plain


def _general(qualifiers: list[Qualifier]) -> Step:
    """Return a step for qualifiers of which the first optional one makes the rest optional."""
    steps = [(qualifier.strict(), qualifier.lenient(), qualifier.optional) for qualifier in qualifiers]

    def general(frame: Frame, value: Any) -> object:
        if value.__class__ is Failure:
            return value
        optional = value.__class__ is Optional
        if optional:
            if value.value is NOTHING:
                return NONE
            value = value.value
        for strict, lenient, is_optional in steps:
            optional = optional or is_optional
            value = (lenient if optional else strict)(frame, value)
            if value is NOTHING:
                return NONE
            if value.__class__ is Failure:
                return value
        return Optional(value) if optional else value

    return general


def _presence(run: Run) -> Run:
    def presence(frame: Frame) -> object:
        value = run(frame)
        return value.value is not NOTHING if value.__class__ is Optional else value

    return presence


class Conditional(Attribute):
    """`condition ? one : other`. Both branches may be attributes, and the following qualifiers apply to them."""

    __slots__ = ("condition", "falsy", "truthy")

    def __init__(self, condition: Run, truthy: Attribute, falsy: Attribute) -> None:
        super().__init__(condition)
        self.condition, self.truthy, self.falsy = condition, truthy, falsy

    def qualify(self, qualifier: Qualifier) -> None:
        self.test = self.test or qualifier.test
        self.truthy.qualify(qualifier)
        self.falsy.qualify(qualifier)

    def resolved(self) -> Run:
        condition, truthy, falsy = self.condition, self.truthy.resolved(), self.falsy.resolved()

        def conditional(frame: Frame) -> object:
            value = condition(frame)
            if value is True:
                return truthy(frame)
            if value is False:
                return falsy(frame)
            return value if value.__class__ is Failure else NO_OVERLOAD

        return conditional

    def observed(self) -> Run:
        return _presence(self.resolved()) if self.test else self.resolved()

"""Values at run time.

null, bool, int, double, string and bytes are Python's None, bool, int, float, str and bytes; a list is a list; a map
with keys of strings is a dict. Other keys are held as pairs of kind and value in the same dict (`key_of`), since
Python takes 1, 1.0 and True for one key and CEL does not. The other types are the classes here.
An error is a value as well (`Failure`), as logical operators may absorb it.

kube: vendor/github.com/google/cel-go/common/types/*.go, apiserver/pkg/cel/{quantity,semver,ip,cidr,url,format}.go
@ v1.34.1 (cel-go v0.26.0)
"""

from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address

from scheduler_core.apimachinery.cel import types

LIST_KINDS = (list, tuple)
MIN_INT, MAX_INT, MAX_UINT = -(1 << 63), (1 << 63) - 1, (1 << 64) - 1


class Failure:
    """An error, as a value."""

    __slots__ = ("message",)

    def __init__(self, message: str) -> None:
        self.message = message


NO_OVERLOAD = Failure("no such overload")


class Uint(int):
    """An unsigned integer."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Duration:
    nanoseconds: int


@dataclass(frozen=True, slots=True)
class Timestamp:
    """A timestamp in `nanoseconds` since 1970. `offset` is the offset of its original time zone in seconds."""

    nanoseconds: int
    offset: int = 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Timestamp) and other.nanoseconds == self.nanoseconds

    def __hash__(self) -> int:
        return hash(self.nanoseconds)


class Optional:
    """An optional value: optional.of(value), or NONE."""

    __slots__ = ("value",)

    def __init__(self, value: object) -> None:
        self.value = value


class _Nothing:
    """The value in optional.none(), and the result when nothing is found."""


NOTHING = _Nothing()
NONE = Optional(NOTHING)


class MutableList(list[object]):
    """A list that an accumulator began with: it grows in place."""

    __slots__ = ()


class MutableMap(dict[object, object]):
    """A map that an accumulator began with: it grows in place."""

    __slots__ = ()


class DefaultMap(dict[object, object]):
    """A map with an empty map as the default value. `in` is true only for stored keys."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class QuantityValue:
    """A quantity: `nanos` is the exact value in billionths. `scale` is kube's power of ten, or None if kube stores an infinite-precision
    decimal. `computed`: add or sub returned the value, and kube does not accept it on the right of ==.
    """

    nanos: int
    scale: int | None = 0
    computed: bool = False

    def __eq__(self, other: object) -> bool:
        return isinstance(other, QuantityValue) and other.nanos == self.nanos

    def __hash__(self) -> int:
        return hash(self.nanos)


@dataclass(frozen=True, slots=True)
class SemverValue:
    """A semantic version. `pre` holds numbers and words; comparisons ignore `build`."""

    major: int
    minor: int
    patch: int
    pre: tuple[int | str, ...] = ()
    build: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class IpValue:
    address: IPv4Address | IPv6Address


@dataclass(frozen=True, slots=True)
class CidrValue:
    """A CIDR. `address` is unmasked, as in the text."""

    address: IPv4Address | IPv6Address
    bits: int


@dataclass(frozen=True, slots=True)
class UrlValue:
    text: str
    scheme: str
    host: str
    hostname: str
    port: str
    escaped_path: str
    query: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True)
class FormatValue:
    name: str


KUBE_KINDS = (QuantityValue, SemverValue, UrlValue, IpValue, CidrValue, FormatValue)


_TYPES: dict[type, types.Type] = {
    bool: types.BOOL,
    bytes: types.BYTES,
    float: types.DOUBLE,
    Duration: types.DURATION,
    int: types.INT,
    list: types.LIST,
    tuple: types.LIST,
    MutableList: types.LIST,
    dict: types.MAP,
    MutableMap: types.MAP,
    DefaultMap: types.MAP,
    type(None): types.NULL,
    str: types.STRING,
    Timestamp: types.TIMESTAMP,
    types.Type: types.TYPE,
    Uint: types.UINT,
    Optional: types.OPTIONAL,
    QuantityValue: types.QUANTITY,
    SemverValue: types.SEMVER,
    UrlValue: types.URL,
    IpValue: types.IP,
    CidrValue: types.CIDR,
    FormatValue: types.NAMED_FORMAT,
}


def type_of_value(value: object) -> types.Type:
    """The type of a value at run time: without parameters, as type() answers."""
    return _TYPES[value.__class__]


def classes_of(a_type: types.Type) -> frozenset[type]:
    """The classes of a type's values."""
    return frozenset(kind for kind, of in _TYPES.items() if of.name == a_type.name)


class _IdentityKey:
    """A list or a map as a key: it is no other's equal."""

    __slots__ = ("value",)

    def __init__(self, value: object) -> None:
        self.value = value


_ITSELF = (list, tuple, dict, Optional)
_KEY_KINDS = {bool: "bool", int: "int", Uint: "uint", float: "double"}


def key_of(value: object) -> object:
    """A value as key of a dict."""
    if value.__class__ is str:
        return value
    if isinstance(value, _ITSELF):
        return _IdentityKey(value)
    return (_KEY_KINDS.get(value.__class__, "other"), value)


def value_of_key(key: object) -> object:
    if key.__class__ is str:
        return key
    if isinstance(key, tuple):
        return key[1]
    return key.value if isinstance(key, _IdentityKey) else key


def find(a_map: dict[object, object], key: object) -> object:
    """Return a map's value, or NOTHING. Equal numbers of different types are the same key."""
    if key.__class__ is str:
        found = a_map.get(key, NOTHING)
    else:
        found = a_map.get(key_of(key), NOTHING)
        if found is NOTHING and key.__class__ in (int, Uint, float):
            found = _find_number(a_map, key)
    if found is NOTHING and a_map.__class__ is DefaultMap:
        return {}
    return found


def _find_number(a_map: dict[object, object], key: object) -> object:
    assert isinstance(key, int | float)
    if isinstance(key, float):
        if not key.is_integer():
            return NOTHING
        key = int(key)
    for kind, made in (("int", int(key)), ("uint", Uint(key) if key >= 0 else key)):
        found = a_map.get((kind, made), NOTHING)
        if found is not NOTHING:
            return found
    return NOTHING

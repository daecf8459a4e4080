"""The hash of a pod template in the names of ReplicaSets: a hash of Go's dump of the struct.

The dump contains all fields of the release's types, set or not. A field that a release adds therefore changes the names of new
ReplicaSets. Existing ones stay in use: kube finds the ReplicaSet of a Deployment by its template, not by this hash (EqualIgnoreHash).

kube: pkg/controller/controller_utils.go (ComputeHash), apimachinery/pkg/util/dump, github.com/davecgh/go-spew @ v1.34.1, v1.37.2
"""

import re
from collections.abc import Mapping
from typing import Any

from scheduler_core.apiserver.door.bodies.decoding import write_quantity
from scheduler_core.apiserver.schema.api import read_api
from scheduler_core.apiserver.schema.table import Field, newer_fields
from scheduler_core.apiserver.schema.zeros import is_left_out
from scheduler_core.base.releases import OLDEST, Release

_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
_TEMPLATE = "core.v1.PodTemplateSpec"
_SUFFIXES = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {name: 1 << (10 * power) for power, name in enumerate(("Ki", "Mi", "Gi", "Ti", "Pi", "Ei"), 1)}
_NO_TIME = "{Time:(time.Time){wall:(uint64)0 ext:(int64)0 loc:(*time.Location)<nil>}}"
_NIL = "<nil>"
# Go's types of newer fields that are named string types.
_TEXTS = {"core.v1.HTTPGetAction": "v1.HTTPProtocol", "core.v1.GRPCAction": "v1.GRPCProbeMode"}


def hash_template(template: Mapping[str, Any], collisions: int | None, release: Release = OLDEST) -> str:
    """Return the hash of a template with all defaults. `collisions` changes the hash if the name is taken."""
    data = f"(v1.PodTemplateSpec){_Dump(release).struct(template, _TEMPLATE)}".encode()
    if collisions is not None:
        # kube puts 32 bits into a buffer of eight bytes, and hashes the whole buffer.
        data += collisions.to_bytes(4, "little") + bytes(4)
    number = 2166136261  # FNV-1a of 32 bits (Go's fnv.New32a)
    for byte in data:
        number = (number ^ byte) * 16777619 & 0xFFFFFFFF
    return "".join(_ALPHABET[ord(digit) % len(_ALPHABET)] for digit in str(number))


class _Dump:
    """Go's dump of values by the types of a release."""

    def __init__(self, release: Release) -> None:
        self._release: Release = release

    def struct(self, value: Mapping[str, Any], type_: str) -> str:
        parts = []
        for name, field in read_api()["types"].get(type_, {}).items():
            go = field[5] if len(field) > 5 else name[0].upper() + name[1:]
            if name.startswith("~"):
                shown = f"({field[3]}){self.struct(value, field[1])}"
                go = name[1:]
            else:
                given = value.get(name)
                given = None if given is not None and is_left_out(field, given) else given
                shown = f"({field[3]}){self._value(given, field[1], field[3])}"
            parts.append(f"{go}:{shown}")
        # Each release has added its new fields at the end of their structs.
        for name, newer in newer_fields(type_.rpartition(".")[2], self._release).items():
            expression, go = _newer_type(newer, type_)
            parts.append(f"{name[0].upper()}{name[1:]}:({go}){self._value(value.get(name), expression, go)}")
        return f"{{{' '.join(parts)}}}"

    def _value(self, value: Any, expression: str, go: str) -> str:
        """Return a value without its type."""
        if expression.startswith("*"):
            return _NIL if value is None else self._value(value, expression[1:], go[1:])
        if expression.startswith(("[]", "{}")):
            if value is None:
                return _NIL
            inner = expression[2:]
            if expression.startswith("[]"):
                return f"[{' '.join(self._value(each, inner, go) for each in value)}]"
            return f"map[{' '.join(f'{key}:{self._value(value[key], inner, go)}' for key in sorted(value))}]"
        if "." in expression:
            return self.struct(value or {}, expression)
        if expression == "quantity":
            return _quantity(str(value if value is not None else ""))
        if expression == "intorstring":
            text = value if isinstance(value, str) else ""
            number = 0 if isinstance(value, str) or value is None else value
            return f"{{Type:(intstr.Type){int(bool(text))} IntVal:(int32){number} StrVal:(string){text}}}"
        if expression in ("time", "microtime"):
            return _NO_TIME
        if value is None:
            return _ZEROS.get(expression, "0")
        return str(value).lower() if isinstance(value, bool) else str(value)


_ZEROS = {"bytes": _NIL, "any": _NIL, "string": "", "bool": "false"}


def _newer_type(field: Field, owner: str) -> tuple[str, str]:
    """Return the expression and the Go type of a field newer than the oldest release. All but lists and maps are pointers."""
    if field.shape == "map":
        return f"{{}}{field.inner}", f"map[string]{field.inner}"
    wrap = "[]" if field.shape == "list" else "*"
    if field.inner[0].isupper():
        return f"{wrap}core.v1.{field.inner}", f"{wrap}v1.{field.inner}"
    own = _TEXTS.get(owner, field.inner) if wrap == "*" else field.inner
    return f"{wrap}{field.inner}", f"{wrap}{own}"


def _quantity(text: str) -> str:
    text = write_quantity(text) if text else "0"  # a controller reads the stored form
    match = re.fullmatch(r"([+-]?\d+)(?:[eE](\d+)|([a-zA-Z]*))", text)
    number, exponent, suffix = (int(match[1]), match[2], match[3]) if match else (0, None, "")
    if suffix in _BINARY:
        # Go keeps the text of an amount that cannot have a larger suffix, and checks that by its last three bits alone.
        amount, scale, kept, form = number * _BINARY[suffix], 0, text if number % 8 else "", "BinarySI"
    else:
        scale, form = (
            (_SUFFIXES.get(suffix, 0), "DecimalSI") if exponent is None else (int(exponent), "DecimalExponent")
        )
        amount, kept = number, text
    held = f"{{value:(int64){amount} scale:(resource.Scale){scale}}}"
    empty = "{Dec:(*inf.Dec)<nil>}"
    return f"{{i:(resource.int64Amount){held} d:(resource.infDecAmount){empty} s:(string){kept} Format:(resource.Format){form}}}"

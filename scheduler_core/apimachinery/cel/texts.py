"""Values as Go prints them in errors and conversions."""

import math

from scheduler_core.apimachinery.cel import values
from scheduler_core.apimachinery.cel.limits import take_steps
from scheduler_core.apimachinery.cel.types import Type


def go_double(value: float) -> str:
    """Format a number as %v and %g do: the shortest digits that denote it, with an exponent from 1e6 on and below 1e-4."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    sign, digits, exponent = _digits(value)
    if digits == "0":
        return f"{sign}0"
    if exponent < -4 or exponent >= 6:
        fraction = f".{digits[1:]}" if len(digits) > 1 else ""
        return f"{sign}{digits[0]}{fraction}e{'-' if exponent < 0 else '+'}{abs(exponent):02}"
    return sign + _positional(digits, exponent)


def plain_double(value: float) -> str:
    """Format a number as strconv.FormatFloat(value, 'f', -1, 64) does: without an exponent."""
    if math.isnan(value) or math.isinf(value):
        return go_double(value)
    sign, digits, exponent = _digits(value)
    return sign + _positional(digits, exponent)


def _digits(value: float) -> tuple[str, str, int]:
    """The sign, the shortest digits, and the power of ten of the first."""
    sign = "-" if math.copysign(1.0, value) < 0 else ""
    shortest = repr(abs(value))
    if "e" in shortest:
        mantissa, _, power = shortest.partition("e")
        digits = mantissa.replace(".", "")
        return sign, digits.rstrip("0") or "0", int(power)
    whole, _, fraction = shortest.partition(".")
    if fraction == "0":
        fraction = ""
    digits = (whole + fraction).lstrip("0")
    if not digits:
        return sign, "0", 0
    exponent = len(whole) - 1 if whole != "0" else -(len(fraction) - len(fraction.lstrip("0")) + 1)
    return sign, digits.rstrip("0") or "0", exponent


def _positional(digits: str, exponent: int) -> str:
    if exponent < 0:
        return f"0.{'0' * (-exponent - 1)}{digits}"
    if len(digits) <= exponent + 1:
        return digits + "0" * (exponent + 1 - len(digits))
    return f"{digits[: exponent + 1]}.{digits[exponent + 1 :]}"


_MOST_PARTS = 10_000  # of a value that is printed: lists may share their parts


def go_value(value: object) -> str:
    """Format a value of cel-go as %v does."""
    return _format_value(value, [_MOST_PARTS])


def _format_value(value: object, left: list[int]) -> str:
    left[0] -= 1
    if left[0] < 0:
        return "…"
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "null"
    if isinstance(value, float):
        return go_double(value)
    take_steps()
    if isinstance(value, bytes):
        take_steps(len(value))
        return f"[{' '.join(map(str, value))}]"
    if isinstance(value, list | tuple):
        return f"[{', '.join(_format_value(part, left) for part in value[:_MOST_PARTS])}]"
    if isinstance(value, dict):
        pairs = [(values.value_of_key(key), held) for key, held in value.items()]
        return f"{{{', '.join(f'{_format_value(key, left)}: {_format_value(held, left)}' for key, held in pairs)}}}"
    if isinstance(value, values.Optional):
        return "optional.none()" if value.value is values.NOTHING else f"optional({_format_value(value.value, left)})"
    if isinstance(value, Type):
        return value.name
    if isinstance(value, values.Duration | values.Timestamp):
        return str(value.nanoseconds)
    return str(value)


_GO_TYPES = {
    "bool": "types.Bool",
    "bytes": "types.Bytes",
    "double": "types.Double",
    "google.protobuf.Duration": "types.Duration",
    "google.protobuf.Timestamp": "types.Timestamp",
    "int": "types.Int",
    "null_type": "types.Null",
    "optional_type": "*types.Optional",
    "string": "types.String",
    "type": "*types.Type",
    "uint": "types.Uint",
}


def go_type(value: object) -> str:
    """The name of a value's type in cel-go, which some errors show."""
    if isinstance(value, values.Failure):
        return "*types.Err"
    if isinstance(value, list | tuple):
        return "*types.baseList"
    if isinstance(value, dict):
        return "*types.baseMap"
    if isinstance(value, values.QuantityValue) and value.computed:
        return "*cel.Quantity"
    name = values.type_of_value(value).name
    return _GO_TYPES.get(name, f"cel.{name.rpartition('.')[2].removeprefix('Named')}")


def quote_go(text: str) -> str:
    """Quote a text as Go's %q does."""
    return '"' + "".join(map(_escape_character, text)) + '"'


ESCAPES = {
    "\a": "\\a",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\v": "\\v",
    '"': '\\"',
    "\\": "\\\\",
}


def _escape_character(character: str) -> str:
    known = ESCAPES.get(character)
    if known is not None:
        return known
    if character.isprintable():
        return character
    code = ord(character)
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"

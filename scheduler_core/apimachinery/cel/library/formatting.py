"""string.format: clauses such as %s, %d, %.3f.

kube: vendor/github.com/google/cel-go/ext/formatting.go @ v1.34.1 (cel-go v0.26.0)
"""

import math
import re
from collections.abc import Callable, Sequence

from scheduler_core.apimachinery.cel.library.times import timestamp_text
from scheduler_core.apimachinery.cel.limits import MOST_CHARACTERS, check_length, copy_steps, take_steps
from scheduler_core.apimachinery.cel.operators import SECOND
from scheduler_core.apimachinery.cel.texts import go_double, plain_double, quote_go
from scheduler_core.apimachinery.cel.types import Type
from scheduler_core.apimachinery.cel.values import Duration, Failure, Timestamp, Uint, type_of_value, value_of_key

PRECISION = 6
_MOST_DIGITS = 1000  # of a precision. DEVIATION: kube takes any
_NUMBER = re.compile(r"[0-9]*")
_SPECIAL = ("NaN", "Infinity", "-Infinity")
ERRORS = {
    "b": "only integers and bools can be formatted as binary",
    "d": "decimal clause can only be used on integers",
    "e": "scientific clause can only be used on doubles",
    "f": "fixed-point clause can only be used on doubles",
    "o": "octal clause can only be used on integers",
    "s": "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and"
    " timestamps",
    "x": "only integers, byte buffers, and strings can be formatted as hex",
}


class FormatError(ValueError):
    """A clause, or a value in it, that is not to be formatted."""


def format_text(text: str, args: Sequence[object]) -> object:
    """The text with its clauses replaced, or a Failure."""
    parts: list[str] = []
    at = index = length = 0
    try:
        while at < len(text):
            if text[at] != "%":
                end = text.find("%", at)
                end = len(text) if end < 0 else end
                parts.append(text[at:end])
                at = end
            elif text.startswith("%%", at):
                parts.append("%")
                at += 2
            else:
                if index >= len(args):
                    raise FormatError(f"index {index} out of range")
                letter, precision, at = clause(text, at + 1)
                parts.append(_clause_text(letter, precision, args[index]))
                index += 1
            length += len(parts[-1])
            check_length(length, MOST_CHARACTERS)
            take_steps(copy_steps(len(parts[-1])))
    except FormatError as error:
        return Failure(str(error))
    return "".join(parts)


def clause(text: str, at: int) -> tuple[str, int | None, int]:
    """The letter and precision of a clause, and where it ends."""
    if at >= len(text):
        raise FormatError("unexpected end of string")
    precision = None
    if text[at] == ".":
        match = _NUMBER.match(text, at + 1)
        assert match is not None
        at = match.end()
        if at >= len(text):
            problem = "error while parsing precision: could not find end of precision specifier"
            raise FormatError(f"could not parse formatting clause: {problem}")
        precision = _precision(match[0])
    letter = text[at]
    if letter not in "sdfebxXo":
        raise FormatError(f'could not parse formatting clause: unrecognized formatting clause "{letter}"')
    return letter, precision, at + 1


def _precision(digits: str) -> int:
    if not digits or len(digits) > 18:
        problem = "invalid syntax" if not digits else "value out of range"
        raise FormatError(
            "could not parse formatting clause: error while parsing precision: error while converting precision to"
            f' integer: strconv.Atoi: parsing "{digits}": {problem}'
        )
    return int(digits)


def _clause_text(letter: str, precision: int | None, value: object) -> str:
    try:
        return _FORMATS[letter.lower()](
            value, letter, min(precision or 0, _MOST_DIGITS) if precision is not None else PRECISION
        )
    except FormatError as error:
        raise FormatError(f"error during formatting: {error}") from None


def _wrong(letter: str, value: object) -> FormatError:
    return FormatError(f"{ERRORS[letter.lower()]}, was given {type_of_value(value).name}")


def _string(value: object, letter: str, precision: int) -> str:
    return _text(value, letter)


def _text(value: object, letter: str) -> str:
    take_steps()
    match value:
        case str():
            return value
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case float():
            return go_double(value)
        case int():
            return str(int(value))
        case bytes():
            return _decode_bytes(value)
        case Timestamp():
            return timestamp_text(value)
        case Duration():
            return f"{plain_double(value.nanoseconds / SECOND)}s"
        case Type():
            return value.name
        case list() | tuple():
            return f"[{', '.join(_inner(part) for part in value)}]"
        case dict():
            return _map(value)
    raise _wrong(letter, value)


def _decode_bytes(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise FormatError(
            'could not convert argument "invalid UTF-8 in bytes, cannot convert to string" to string'
        ) from None


def _inner(value: object) -> str:
    """A value within a list or a map."""
    match value:
        case str():
            take_steps(len(value) // 8)  # quoted character by character
            return quote_go(value)
        case bytes():
            return f"b{quote_go(_decode_bytes(value))}"
        case Timestamp():
            return f"timestamp({quote_go(_text(value, 's'))})"
        case Duration():
            return f"duration({quote_go(_text(value, 's'))})"
        case float():
            return quote_go(go_double(value)) if not math.isfinite(value) else f"{value:.{PRECISION}f}"
    if isinstance(value, type(None) | bool | int | Type | list | tuple | dict):
        return _text(value, "s")
    raise FormatError(f"no formatting function for {type_of_value(value).name}")


def _map(value: dict[object, object]) -> str:
    pairs = []
    for key, held in value.items():
        shown = value_of_key(key)
        if not isinstance(shown, str | bool | int):
            raise FormatError(f"no formatting function for map key of type {type_of_value(shown).name}")
        pairs.append((_inner(shown), _inner(held)))
    pairs.sort(key=lambda pair: pair[0].encode())
    return f"{{{', '.join(f'{key}:{held}' for key, held in pairs)}}}"


def _decimal(value: object, letter: str, precision: int) -> str:
    if value.__class__ is int or value.__class__ is Uint:
        return str(int(value))
    raise _wrong(letter, value)


def _double(value: object, letter: str) -> float:
    if isinstance(value, str) and value in _SPECIAL:
        return float(value)
    if not isinstance(value, float):
        raise _wrong(letter, value)
    return value


def _special(value: float) -> str:
    return "NaN" if math.isnan(value) else "∞" if value > 0 else "-∞"


def _format_fixed(value: object, letter: str, precision: int) -> str:
    """Format a number with the separators of en_US, as Go's message printer does."""
    number = _double(value, letter)
    return f"{number:,.{precision}f}" if math.isfinite(number) else _special(number)


def _scientific(value: object, letter: str, precision: int) -> str:
    """Format a number as Go's message printer does: with a multiplication sign and a raised exponent."""
    number = _double(value, letter)
    if not math.isfinite(number):
        return _special(number)
    mantissa, _, exponent = f"{number:.{precision}e}".partition("e")
    raised = f"{int(exponent):+03}".translate(_RAISED)
    return f"{mantissa}\u202f×\u202f10{raised.removeprefix('⁺')}"


_RAISED = str.maketrans("0123456789+-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻")


def _binary(value: object, letter: str, precision: int) -> str:
    if isinstance(value, bool):
        return "1" if value else "0"
    return _format_in_base(value, letter, "b")


def _format_in_base(value: object, letter: str, base: str) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return format(int(value), base)
    raise _wrong(letter, value)


def _hex(value: object, letter: str, precision: int) -> str:
    if isinstance(value, str):
        text = value.encode().hex()
    elif isinstance(value, bytes):
        text = value.hex()
    else:
        text = _format_in_base(value, letter, "x")
    return text.upper() if letter == "X" else text


_FORMATS: dict[str, Callable[[object, str, int], str]] = {
    "s": _string,
    "d": _decimal,
    "f": _format_fixed,
    "e": _scientific,
    "b": _binary,
    "x": _hex,
    "o": lambda value, letter, precision: _format_in_base(value, letter, "o"),
}

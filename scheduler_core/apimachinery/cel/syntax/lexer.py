"""The lexer of expressions.

Every pattern is tried once per position and none backtracks, so the time is linear in the length of the text.

kube: vendor/github.com/google/cel-go/parser/gen/CEL.g4 @ v1.34.1 (cel-go v0.26.0)
"""

import math
import re
from collections.abc import Callable
from typing import NamedTuple

from scheduler_core.apimachinery.cel.errors import Issues
from scheduler_core.apimachinery.cel.values import MAX_INT, MAX_UINT, MIN_INT, Uint

_TOKEN = re.compile(
    r"(?P<blank>(?:[\t \r\n\f]|//[^\n]*)+)"
    r"|(?P<quote>[bB]?[rR]?(?=[\"']))"
    r"|(?P<IDENTIFIER>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<NUM_FLOAT>(?:[0-9]+\.[0-9]+|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+)"
    r"|(?P<NUM_INT>(?:0x[0-9a-fA-F]+|[0-9]+)[uU]?)"
    r"|(?P<operator>==|!=|<=|>=|&&|\|\||[<>\[\]{}().,\-!?:+*/%])"
    r"|(?P<ESC_IDENTIFIER>`[A-Za-z0-9_./ -]+`)"
)
_ESCAPE = r"\\(?:[abfnrtv\"'\\?`]|[0-3][0-7][0-7]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})"
_STRINGS = {
    # quote -> (plain, raw)
    '"""': (re.compile(rf'"""(?:[^\\"]|"(?!"")|{_ESCAPE})*"""'), re.compile(r'"""(?:[^"]|"(?!""))*"""')),
    "'''": (re.compile(rf"'''(?:[^\\']|'(?!'')|{_ESCAPE})*'''"), re.compile(r"'''(?:[^']|'(?!''))*'''")),
    '"': (re.compile(rf'"(?:[^\\"\n\r]|{_ESCAPE})*"'), re.compile(r'"[^"\n\r]*"')),
    "'": (re.compile(rf"'(?:[^\\'\n\r]|{_ESCAPE})*'"), re.compile(r"'[^'\n\r]*'")),
}
_PARTLY = r"\\(?:[xX][0-9a-fA-F]?|u[0-9a-fA-F]{0,3}|U[0-9a-fA-F]{0,7}|[0-3][0-7]?)?"
# What tokens begin with that are not complete: strings, and operators of two characters.
_BEGINNING = re.compile(
    rf"\"(?:[^\\\"\n\r]|{_ESCAPE})*(?:{_PARTLY})?|'(?:[^\\'\n\r]|{_ESCAPE})*(?:{_PARTLY})?|[=&|]|`[A-Za-z0-9_./ -]*"
)
_KEYWORDS = ("in", "true", "false", "null")


class Token(NamedTuple):
    """A token. `kind` is the operator or keyword itself, or one of IDENTIFIER, ESC_IDENTIFIER, NUM_INT, NUM_UINT, NUM_FLOAT, STRING,
    BYTES, <EOF>.
    """

    kind: str
    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def tokens_of(text: str, issues: Issues) -> list[Token]:
    """Return all tokens and a final <EOF>. Invalid text is reported and left out."""
    found: list[Token] = []
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        kind = None if match is None else match.lastgroup
        token = None
        if match is not None and kind == "quote":
            token = _string(text, at, match[0]) or _prefix(text, at, match[0])
        elif match is not None and kind is not None and kind != "blank":
            token = _token(kind, match[0], at)
        if token is not None:
            found.append(token)
            at = token.end
        elif match is not None and kind == "blank":
            at = match.end()
        else:
            beginning = _BEGINNING.match(text, at)
            end = at if beginning is None else beginning.end()
            issues.add(f"Syntax error: token recognition error at: '{text[at : end + 1]}'", at)
            at = end + 1
    found.append(Token("<EOF>", "", len(text)))
    return found


def _prefix(text: str, at: int, prefix: str) -> Token | None:
    """Return the prefix of an unterminated string (such as r in r"abc) as an identifier, or None."""
    return Token("IDENTIFIER", prefix, at) if prefix else None


def _token(kind: str, text: str, at: int) -> Token:
    if kind == "operator" or text in _KEYWORDS:
        return Token(text, text, at)
    if kind == "NUM_INT" and text[-1] in "uU":
        kind = "NUM_UINT"
    return Token(kind, text, at)


def _string(text: str, at: int, prefix: str) -> Token | None:
    """The string or bytes that begins here, None where it does not end."""
    raw, start = prefix[-1:] in ("r", "R"), at + len(prefix)
    kind = "BYTES" if prefix[:1] in ("b", "B") else "STRING"
    for quote, patterns in _STRINGS.items():
        if text.startswith(quote, start):
            match = patterns[raw].match(text, start)
            if match is not None:
                return Token(kind, text[at : match.end()], at)
    return None


# The values of literals, by the kind of their token. ValueError in cel-go's words.
# kube: vendor/github.com/google/cel-go/parser/parser.go @ v1.34.1 (cel-go v0.26.0)

# What is between the quotes of a string or of bytes.
# kube: vendor/github.com/google/cel-go/parser/unescape.go @ v1.34.1 (cel-go v0.26.0)

_ESCAPED = re.compile(
    r"\\(?:([abfnrtv\"'\\?`])|([0-3][0-7][0-7])|[xX]([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8}))"
)
_SIMPLE = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


def string_of(text: str) -> str:
    """A string's value. ValueError in cel-go's words."""
    inner, raw = _inner(text)
    return inner if raw else _ESCAPED.sub(_character, inner)


def bytes_of(text: str) -> bytes:
    """The value of bytes, `text` with its b. ValueError in cel-go's words."""
    inner, raw = _inner(text[1:])
    if raw:
        return inner.encode()
    parts, at = [], 0
    for match in _ESCAPED.finditer(inner):
        parts += [inner[at : match.start()].encode(), _byte(match)]
        at = match.end()
    return b"".join([*parts, inner[at:].encode()])


def _inner(text: str) -> tuple[str, bool]:
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    raw = text[0] in "rR"
    if raw:
        text = text[1:]
    quotes = 3 if len(text) >= 6 and text[:3] in ('"""', "'''") else 1
    return text[quotes:-quotes], raw


def _character(match: re.Match[str]) -> str:
    simple, octal, *hexes = match.groups()
    if simple is not None:
        return _SIMPLE.get(simple, simple)
    code = int(octal, 8) if octal is not None else int(next(digits for digits in hexes if digits), 16)
    if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
        raise ValueError("invalid unicode code point")
    return chr(code)


def _byte(match: re.Match[str]) -> bytes:
    simple, octal, two, four, eight = match.groups()
    if four is not None or eight is not None:
        raise ValueError("unable to unescape string")
    if simple is not None:
        return _SIMPLE.get(simple, simple).encode()
    return bytes([int(octal, 8) if octal is not None else int(two, 16)])


def _integer(text: str) -> int:
    sign, digits = ("-", text[1:]) if text[0] == "-" else ("", text)
    limit = 16 if digits.startswith("0x") else 10
    value = _number(digits.removeprefix("0x"), limit, "int")
    value = -value if sign else value
    if not MIN_INT <= value <= MAX_INT:
        raise ValueError("invalid int literal")
    return value


def _parse_unsigned(text: str) -> Uint:
    digits = text[:-1]
    value = _number(digits.removeprefix("0x"), 16 if digits.startswith("0x") else 10, "uint")
    if value > MAX_UINT:
        raise ValueError("invalid uint literal")
    return Uint(value)


def _number(digits: str, base: int, kind: str) -> int:
    significant = digits.lstrip("0") or "0"
    if len(significant) > 20:
        raise ValueError(f"invalid {kind} literal")
    return int(significant, base)


def _double(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError("invalid double literal")
    return value


LITERALS: dict[str, Callable[[str], object]] = {
    "NUM_INT": _integer,
    "NUM_UINT": _parse_unsigned,
    "NUM_FLOAT": _double,
    "STRING": string_of,
    "BYTES": bytes_of,
    "true": lambda _: True,
    "false": lambda _: False,
    "null": lambda _: None,
}

"""The tokens of an expression.

Every pattern is tried once per place and none backtracks, so the time is linear in the text.

kube: vendor/github.com/google/cel-go/parser/gen/CEL.g4 @ v1.34.1 (cel-go v0.26.0)
"""

from __future__ import annotations

import re
from typing import NamedTuple

from scheduler_core.apimachinery.cel.errors import Issues

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
    """`kind` is the operator or keyword itself, or one of IDENTIFIER, ESC_IDENTIFIER, NUM_INT, NUM_UINT,
    NUM_FLOAT, STRING, BYTES, <EOF>.
    """

    kind: str
    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def tokens_of(text: str, issues: Issues) -> list[Token]:
    """All tokens and an end; what is none is reported and left out."""
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
            at = _unknown(text, at, issues)
    found.append(Token("<EOF>", "", len(text)))
    return found


def _prefix(text: str, at: int, prefix: str) -> Token | None:
    """The letters before a string that does not end are a name."""
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


def _unknown(text: str, at: int, issues: Issues) -> int:
    """Reports what no token begins with, up to the character at which none is possible any more; where to go on."""
    beginning = _BEGINNING.match(text, at)
    end = at if beginning is None else beginning.end()
    issues.add(f"Syntax error: token recognition error at: '{text[at : end + 1]}'", at)
    return end + 1

"""The tokens of an expression.

Every pattern is tried once per place and none backtracks, so the time is linear in the text.

kube: vendor/github.com/google/cel-go/parser/gen/CEL.g4 @ v1.34.1 (cel-go v0.26.0)
"""

from __future__ import annotations

import re
from typing import NamedTuple

from scheduler_core.cel.errors import Issues

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
        if match is None or kind is None:
            at = _unknown(text, at, issues)
        elif kind == "blank":
            at = match.end()
        elif kind == "quote":
            token = _string(text, at, match[0])
            at = token.end if token is not None else _unknown(text, match.end(), issues)
        else:
            token = _token(kind, match[0], at)
            at = match.end()
        if token is not None:
            found.append(token)
    found.append(Token("<EOF>", "", len(text)))
    return found


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
    """Reports what no token begins with; where to go on. A string without an end is all up to its line's end."""
    end = at + 1
    if text[at] in "\"'":
        line = text.find("\n", at)
        end = len(text) if line < 0 else line
    shown = text[at:end].replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")
    issues.add(f"Syntax error: token recognition error at: '{shown}'", at)
    return end

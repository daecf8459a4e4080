"""The tokens of an expression.

Every pattern is tried once per place and none backtracks, so the time is linear in the text.

kube: vendor/github.com/google/cel-go/parser/gen/CEL.g4 @ v1.34.1 (cel-go v0.26.0)
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from scheduler_core.cel.errors import Issues

_BLANK = re.compile(r"(?:[\t \r\n\f]|//[^\n]*)+")
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_ESCAPED = re.compile(r"`[A-Za-z0-9_./ -]+`")
_FLOAT = re.compile(r"(?:[0-9]+\.[0-9]+|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+")
_INT = re.compile(r"(?:0x[0-9a-fA-F]+|[0-9]+)[uU]?")
_ESCAPE = r"\\(?:[abfnrtv\"'\\?`]|[0-3][0-7][0-7]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})"
_STRINGS = {
    # quote -> (plain, raw)
    '"""': (re.compile(rf'"""(?:[^\\"]|"(?!"")|{_ESCAPE})*"""'), re.compile(r'"""(?:[^"]|"(?!""))*"""')),
    "'''": (re.compile(rf"'''(?:[^\\']|'(?!'')|{_ESCAPE})*'''"), re.compile(r"'''(?:[^']|'(?!''))*'''")),
    '"': (re.compile(rf'"(?:[^\\"\n\r]|{_ESCAPE})*"'), re.compile(r'"[^"\n\r]*"')),
    "'": (re.compile(rf"'(?:[^\\'\n\r]|{_ESCAPE})*'"), re.compile(r"'[^'\n\r]*'")),
}
_PREFIX = re.compile(r"(?:[bB]?[rR]?)(?=[\"'])")
_OPERATORS = ("==", "!=", "<=", ">=", "&&", "||", *"<>[]{}().,-!?:+*/%")
_KEYWORDS = {"in": "in", "true": "true", "false": "false", "null": "null"}


@dataclass(frozen=True, slots=True)
class Token:
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
    while True:
        blank = _BLANK.match(text, at)
        if blank is not None:
            at = blank.end()
        if at >= len(text):
            break
        token = _token(text, at)
        if token is None:
            at = _unknown(text, at, issues)
            continue
        found.append(token)
        at = token.end
    found.append(Token("<EOF>", "", len(text)))
    return found


def _token(text: str, at: int) -> Token | None:
    string = _string(text, at)
    if string is not None:
        return string
    word = _WORD.match(text, at)
    if word is not None:
        return Token(_KEYWORDS.get(word[0], "IDENTIFIER"), word[0], at)
    number = _FLOAT.match(text, at)
    if number is not None:
        return Token("NUM_FLOAT", number[0], at)
    number = _INT.match(text, at)
    if number is not None:
        return Token("NUM_UINT" if number[0][-1] in "uU" else "NUM_INT", number[0], at)
    for operator in _OPERATORS:
        if text.startswith(operator, at):
            return Token(operator, operator, at)
    escaped = _ESCAPED.match(text, at)
    return Token("ESC_IDENTIFIER", escaped[0], at) if escaped is not None else None


def _string(text: str, at: int) -> Token | None:
    prefix = _PREFIX.match(text, at)
    if prefix is None:
        return None
    raw = prefix[0][-1:] in ("r", "R")
    kind = "BYTES" if prefix[0][:1] in ("b", "B") else "STRING"
    for quote, patterns in _STRINGS.items():
        if text.startswith(quote, prefix.end()):
            match = patterns[raw].match(text, prefix.end())
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

"""From text to a tree with its macros expanded: one pass, top down, by precedence.

The first syntax error ends it. DEVIATION: cel-go's parser goes on after an error and may report more; what it
expected is told in the same words where they are simple.

kube: vendor/github.com/google/cel-go/parser/parser.go @ v1.34.1 (cel-go v0.26.0)
"""

from collections.abc import Callable, Iterable
from typing import Any, NoReturn

from scheduler_core.apimachinery.cel.errors import Issues
from scheduler_core.apimachinery.cel.syntax.lexer import LITERALS, Token, tokens_of
from scheduler_core.apimachinery.cel.syntax.macros import MACROS, MacroError, Maker
from scheduler_core.apimachinery.cel.syntax.tree import (
    Call,
    Entry,
    Ident,
    ListNode,
    Literal,
    MapNode,
    Message,
    Node,
    Select,
)

MOST_CHARACTERS = 100_000
DEEPEST = 250  # expressions within each other, and operators, selections and indices in a chain
# fmt: off
_RESERVED = frozenset(
    (
        "as", "break", "const", "continue", "else", "false", "for", "function", "if", "import", "in",
        "let", "loop", "package", "namespace", "null", "return", "true", "var", "void", "while",
    )
)
# fmt: on
_LEVELS = {"||": 0, "&&": 1, "+": 3, "-": 3, "*": 4, "/": 4, "%": 4}
_LEVELS |= dict.fromkeys(("<", "<=", ">=", ">", "==", "!=", "in"), 2)
_SIGNS = ("[", "{", "(", ")", ".", "-", "!", "?", "true", "false", "null")
_ALL_BEGINNINGS = (*_SIGNS, "NUM_FLOAT", "NUM_INT", "NUM_UINT", "STRING", "BYTES", "IDENTIFIER")
_BEGINNINGS = frozenset(_ALL_BEGINNINGS) - {")", "?"}
_AFTER = frozenset((*_LEVELS, "?", ":", ",", ")", "]", "}", "<EOF>"))  # what may follow an expression


def _words(kinds: Iterable[str]) -> str:
    """Format the expected tokens as messages list them."""
    shown = [kind if kind.isupper() or kind[0] == "<" else f"'{kind}'" for kind in kinds]
    return shown[0] if len(shown) == 1 else f"{{{', '.join(shown)}}}"


class _SyntaxError(Exception):
    """A syntax error that is already reported. Ends the parser."""


def parse(text: str, issues: Issues, without: frozenset[str] = frozenset()) -> Node | None:
    """Return the tree, or None if errors were added to `issues`. `without`: names of unavailable macros."""
    if len(text) > MOST_CHARACTERS:
        size = f"size: {len(text)}, limit {MOST_CHARACTERS}"
        issues.add(f"expression code point size exceeds limit: {size}", None)
        return None
    tokens = tokens_of(text, issues)
    parser = _Parser(tokens, issues, without)
    try:
        tree = parser.whole()
    except _SyntaxError:
        return None
    return None if issues else tree


class _Parser:
    def __init__(self, tokens: list[Token], issues: Issues, without: frozenset[str]) -> None:
        self._tokens, self._next, self._issues, self._without = tokens, 0, issues, without
        self._token = tokens[0]
        self._end = 0  # of the last token that was taken
        self._depth = 0

    def whole(self) -> Node:
        tree = self._expression()
        if self._token.kind != "<EOF>":
            last = self._next + 2 == len(self._tokens)
            self._fail(f"{'extraneous' if last else 'mismatched'} input {self._quote_token()} expecting <EOF>")
        return tree

    # --- tokens

    def _take(self) -> Token:
        token = self._token
        if token.kind != "<EOF>":
            self._next += 1
            self._token = self._tokens[self._next]
        self._end = token.end
        return token

    def _accept(self, kind: str) -> Token | None:
        return self._take() if self._token.kind == kind else None

    def _expect(self, *kinds: str) -> Token:
        kind = self._token.kind
        if kind in kinds:
            return self._take()
        words = _words(kinds)
        if self._following() in kinds and kind != "<EOF>":
            self._fail(f"extraneous input {self._quote_token()} expecting {words}")
        if (kinds == (":",) and kind in _BEGINNINGS) or (kinds in ((")",), ("]",)) and kind in _AFTER):
            self._fail(f"missing {words} at {self._quote_token()}")
        self._fail(f"mismatched input {self._quote_token()} expecting {words}")

    def _following(self) -> str:
        """The kind of the token after the next one."""
        return self._tokens[min(self._next + 1, len(self._tokens) - 1)].kind

    def _no_expression(self, also: str = "") -> NoReturn:
        """Raise _SyntaxError because no expression starts at this token. `also`: another token that would be valid here."""
        words = _words(kind for kind in _ALL_BEGINNINGS if kind in _BEGINNINGS or kind == also)
        extra = self._token.kind != "<EOF>" and self._following() in _BEGINNINGS
        self._fail(f"{'extraneous' if extra else 'mismatched'} input {self._quote_token()} expecting {words}")

    def _quote_token(self) -> str:
        return f"'{self._token.text or self._token.kind}'"

    def _fail(self, message: str) -> NoReturn:
        self._issues.add(f"Syntax error: {message}", self._token.start)
        raise _SyntaxError

    def _deeper(self) -> None:
        self._depth += 1
        if self._depth > DEEPEST:
            self._issues.add(f"expression recursion limit exceeded: {DEEPEST}", None)
            raise _SyntaxError

    # --- operators

    def _expression(self) -> Node:
        depth = self._depth
        self._deeper()
        node = self._operators(0)
        if self._token.kind == "?":
            at = self._take().start
            chosen = self._operators(0)
            self._expect(":")
            node = self._call("_?_:_", [node, chosen, self._expression()], node.start, at)
        self._depth = depth
        return node

    def _operators(self, lowest: int) -> Node:
        """Parse an expression with operators of this level or a tighter one."""
        depth = self._depth
        left = self._unary()
        while (level := _LEVELS.get(self._token.kind, -1)) >= lowest:
            if level < 2:
                # A chain of && or ||, as a balanced tree.
                kind = self._token.kind
                terms, places = [left], []
                while self._token.kind == kind:
                    places.append(self._take().start)
                    terms.append(self._operators(level + 1))
                left = self._balance(f"_{kind}_", terms, places, 0, len(places) - 1)
                continue
            self._deeper()
            token = self._take()
            right = self._operators(level + 1)
            function = "@in" if token.kind == "in" else f"_{token.kind}_"
            left = self._call(function, [left, right], left.start, token.start)
        self._depth = depth
        return left

    def _balance(self, function: str, terms: list[Node], places: list[int], low: int, high: int) -> Node:
        middle = (low + high + 1) // 2
        left = terms[middle] if middle == low else self._balance(function, terms, places, low, middle - 1)
        right = terms[middle + 1] if middle == high else self._balance(function, terms, places, middle + 1, high)
        return Call(function, None, [left, right], left.start, right.end, places[middle])

    def _unary(self) -> Node:
        kind = self._token.kind
        if kind not in ("!", "-"):
            return self._member()
        following = self._tokens[self._next + 1].kind
        if kind == "-" and following in ("NUM_INT", "NUM_FLOAT"):
            return self._member()
        first = self._take()
        count = 1
        while self._accept(kind):
            count += 1
        node = self._member()
        if count % 2 == 0:
            return node
        return self._call(f"{kind}_", [node], first.start, first.start)

    # --- members

    def _member(self) -> Node:
        depth = self._depth
        named = self._token.kind in ("IDENTIFIER", ".")
        node = self._primary()
        named = named and isinstance(node, Ident)
        while True:
            kind = self._token.kind
            if kind == "{" and named:
                node, named = self._message(node), False
            elif kind == ".":
                node = self._parse_select(node)
                named = named and isinstance(node, Select)
            elif kind == "[":
                at = self._take().start
                function = "_[?_]" if self._accept("?") else "_[_]"
                if function == "_[_]" and self._token.kind not in _BEGINNINGS:
                    self._no_expression(also="?")
                index = self._expression()
                self._expect("]")
                node, named = self._call(function, [node, index], node.start, at), False
            else:
                break
            self._deeper()
        self._depth = depth
        return node

    def _parse_select(self, operand: Node) -> Node:
        dot = self._take()
        optional = self._accept("?") is not None
        if not optional and self._token.kind not in ("IDENTIFIER", "ESC_IDENTIFIER"):
            if self._token.kind in ("true", "false", "null"):
                self._fail(f"mismatched input {self._quote_token()} expecting IDENTIFIER")
            self._fail(f"no viable alternative at input '.{self._token.text}'")
        field = self._expect("IDENTIFIER", "ESC_IDENTIFIER")
        if field.kind == "ESC_IDENTIFIER":
            self._issues.add("unsupported syntax: '`'", field.start)
        if optional:
            name = Literal(field.text, field.start, field.end, field.start)
            return Call("_?._", None, [operand, name], operand.start, field.end, dot.start)
        if self._token.kind == "(":
            at = self._take().start
            arguments = self._arguments(")")
            return self._call(field.text, arguments, operand.start, at, operand)
        return Select(operand, field.text, False, operand.start, field.end, dot.start)

    def _arguments(self, closing: str) -> list[Node]:
        if self._accept(closing):
            return []
        if self._token.kind not in _BEGINNINGS:
            self._no_expression(also=closing)
        found = [self._expression()]
        while self._accept(","):
            found.append(self._expression())
        self._expect(closing)
        return found

    # --- primaries

    def _primary(self) -> Node:
        token = self._token
        literal = LITERALS.get(token.kind)
        if literal is not None:
            return self._literal(literal, self._take())
        match token.kind:
            case "-":
                return self._negative()
            case "(":
                self._take()
                node = self._expression()
                self._expect(")")
                return node
            case "[":
                return self._list()
            case "{":
                return self._map()
            case "IDENTIFIER" | ".":
                first = self._token
                dot = "." if self._accept(".") else ""
                name = self._expect("IDENTIFIER")
                if name.text in _RESERVED:
                    self._issues.add(f"reserved identifier: {name.text}", first.start)
                if self._token.kind == "(":
                    at = self._take().start
                    return self._call(dot + name.text, self._arguments(")"), first.start, at)
                if name.text in _RESERVED:
                    return Literal(None, first.start, name.end, first.start)
                return Ident(dot + name.text, first.start, name.end, name.start)
        self._no_expression()

    def _list(self) -> Node:
        first = self._take()
        elements: list[Node] = []
        optional = set()
        while self._token.kind in _BEGINNINGS or self._token.kind == "?":
            if self._accept("?"):
                optional.add(len(elements))
            elements.append(self._expression())
            if self._token.kind != ",":
                self._expect("]", ",")
                break
            self._take()
        else:
            self._accept_lone_comma(elements)
            if self._token.kind == ",":
                self._fail("mismatched input ',' expecting ']'")
            self._expect("]")
        return ListNode(elements, frozenset(optional), first.start, self._end, first.start)

    def _map(self) -> Node:
        first = self._take()
        entries = self._entries(self._expression)
        return MapNode(entries, first.start, self._end, first.start)

    def _message(self, named: Node) -> Node:
        at = self._take().start
        entries = self._entries(self._field)
        return Message(_build_dotted_name(named), entries, named.start, self._end, at)

    def _field(self) -> Node:
        token = self._expect("IDENTIFIER", "ESC_IDENTIFIER")
        if token.kind == "ESC_IDENTIFIER":
            self._issues.add("unsupported syntax: '`'", token.start)
        return Literal(token.text, token.start, token.end, token.start)

    def _entries(self, key: Callable[[], Node]) -> list[Entry]:
        entries: list[Entry] = []
        while self._token.kind in _BEGINNINGS or self._token.kind in ("?", "ESC_IDENTIFIER"):
            optional = self._accept("?") is not None
            name = key()
            at = self._expect(":").start
            entries.append(Entry(name, self._expression(), optional, at))
            if self._token.kind != ",":
                self._expect("}", ",")
                return entries
            self._take()
        self._accept_lone_comma(entries)
        self._expect("}")
        return entries

    def _accept_lone_comma(self, before: list[Any]) -> None:
        """Skip the comma of `[,]`, which is an empty list."""
        if not before:
            self._accept(",")

    def _negative(self) -> Node:
        minus = self._take()
        if self._token.kind not in ("NUM_INT", "NUM_FLOAT"):
            self._fail(f"no viable alternative at input '-{self._token.text}'")
        number = self._take()
        return self._literal(LITERALS[number.kind], Token(number.kind, f"-{number.text}", minus.start))

    def _literal(self, value_of: Callable[[str], object], token: Token) -> Node:
        value: object = None
        try:
            value = value_of(token.text)
        except ValueError as error:
            self._issues.add(str(error), token.start)
        return Literal(value, token.start, self._end, token.start)

    # --- calls

    def _call(self, function: str, args: list[Node], start: int, at: int, target: Node | None = None) -> Node:
        expansion = MACROS.get((function, len(args), target is not None))
        if expansion is not None and function not in self._without:
            try:
                expanded = expansion(Maker(start, self._end, at), target, args)
            except MacroError as error:
                self._issues.add(str(error), error.at)
                return Literal(None, start, self._end, at)
            if expanded is not None:
                return expanded
        return Call(function, target, args, start, self._end, at)


def _build_dotted_name(node: Node) -> str:
    if isinstance(node, Select):
        return f"{_build_dotted_name(node.operand)}.{node.field}"
    assert isinstance(node, Ident)
    return node.name

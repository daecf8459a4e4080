"""What the parser says of what is no expression, in the words of cel-go."""

import pytest

from scheduler_core.apimachinery.cel import DYN, CompileError, Environment

ENVIRONMENT = Environment({"a": DYN, "b": DYN})
ANY = "'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER"
ARGUMENT = ANY.replace("'(',", "'(', ')',")
INDEX = ANY.replace("'!',", "'!', '?',")


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("a +", 3, f"mismatched input '<EOF>' expecting {{{ANY}}}"),
        ("1 +* 2", 3, f"extraneous input '*' expecting {{{ANY}}}"),
        ("a b", 2, "extraneous input 'b' expecting <EOF>"),
        ("a = b", 2, "token recognition error at: '= '"),
        ("a & b", 2, "token recognition error at: '& '"),
        ("(1", 2, "missing ')' at '<EOF>'"),
        ("[1, 2", 5, "mismatched input '<EOF>' expecting {']', ','}"),
        ("[1 2]", 3, "extraneous input '2' expecting {']', ','}"),
        ("{'a' 1}", 5, "missing ':' at '1'"),
        ("a.size(", 7, f"mismatched input '<EOF>' expecting {{{ARGUMENT}}}"),
        ("a[", 2, f"mismatched input '<EOF>' expecting {{{INDEX}}}"),
        ("a.", 2, "no viable alternative at input '.'"),
        ("!-a", 2, "no viable alternative at input '-a'"),
        ("a.true", 2, "mismatched input 'true' expecting IDENTIFIER"),
        ("'abc", 0, "token recognition error at: ''abc'"),
        ("'a\\q'", 0, "token recognition error at: ''a\\q'"),
    ],
)
def test_a_syntax_error_has_its_place_and_words(text: str, column: int, message: str) -> None:
    with pytest.raises(CompileError) as caught:
        ENVIRONMENT.compile(text, None)

    assert caught.value.message == f"Syntax error: {message}"
    assert (caught.value.line, caught.value.column, caught.value.offset) == (1, column, column)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("if", "reserved identifier: if"),
        ("9223372036854775808", "invalid int literal"),
        ("a.`b`", "unsupported syntax: '`'"),
        ("has(a)", "invalid argument to has() macro"),
        ("a.map(1, 2)", "argument is not an identifier"),
        ("a.all(__result__, true)", "iteration variable overwrites accumulator variable"),
        ("a.all(k, k, true)", "duplicate variable name: k"),
        ("b'\\u0061'", "unable to unescape string"),
        ("duration('x')", "invalid duration argument"),
        ("a.matches('(')", "invalid matches argument"),
        (
            "'%d'.format(['a'])",
            "error during formatting: decimal clause can only be used on integers, was given string",
        ),
        ("[1, 'a']", "expected type 'int' but found 'string'"),
        ("'a'.b", "type 'string' does not support field selection"),
        ("1.all(x, x)", "expression of type 'int' cannot be range of a comprehension (must be list, map, or dynamic)"),
        ("none(1)", "undeclared reference to 'none' (in container '')"),
    ],
)
def test_what_is_no_expression_is_refused(text: str, message: str) -> None:
    with pytest.raises(CompileError) as caught:
        ENVIRONMENT.compile(text, None)

    assert caught.value.message == message

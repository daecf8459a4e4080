"""What is wrong with an expression, and where.

kube: vendor/github.com/google/cel-go/common/{error,errors,source}.go @ v1.34.1 (cel-go v0.26.0)
"""

import re
from bisect import bisect_right
from dataclasses import dataclass

MOST = 100  # errors that are shown of one expression
_LONGEST_LINE = 16384  # a longer line of source is not shown


class CompileError(ValueError):
    """An expression that does not compile.

    `message` is that of its first error; `line` counts from 1, `column` and `offset` (in characters) from 0.
    str() is the text of all errors with the lines they are in, as cel-go shows them.
    """

    def __init__(self, text: str, message: str, line: int = 1, column: int = 0, offset: int = 0) -> None:
        super().__init__(text)
        self.message, self.line, self.column, self.offset = message, line, column, offset


@dataclass(frozen=True, slots=True)
class Issue:
    """One error. `offset` is None where it belongs to no place."""

    message: str
    offset: int | None


class Source:
    """The text of an expression, by lines."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._starts = [0, *(match.end() for match in re.finditer("\n", text))]

    def place(self, offset: int) -> tuple[int, int]:
        """Line from 1 and column from 0."""
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1]

    def line(self, number: int) -> str:
        end = self._starts[number] - 1 if number < len(self._starts) else len(self.text)
        return self.text[self._starts[number - 1] : end]


class Issues:
    """The errors that were found so far."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self._found: list[Issue] = []

    def __bool__(self) -> bool:
        return bool(self._found)

    def add(self, message: str, offset: int | None) -> None:
        self._found.append(Issue(message, offset))

    def raise_any(self) -> None:
        """CompileError where an error was found."""
        if self._found:
            raise self.error()

    def error(self) -> CompileError:
        ordered = sorted(self._found[:MOST], key=lambda issue: -1 if issue.offset is None else issue.offset)
        texts = [self._format_issue(issue) for issue in ordered]
        if len(self._found) > MOST:
            texts.append(f"{len(self._found) - MOST} more errors were truncated")
        first = ordered[0]
        line, column = self.source.place(first.offset or 0)
        return CompileError("\n".join(texts), first.message, line, column, first.offset or 0)

    def _format_issue(self, issue: Issue) -> str:
        if issue.offset is None:
            return f"ERROR: <input>:-1:0: {issue.message}"
        line, column = self.source.place(issue.offset)
        text = f"ERROR: <input>:{line}:{column + 1}: {issue.message}"
        shown = self.source.line(line).replace("\t", " ")
        if not self.source.text or len(shown.encode()) > _LONGEST_LINE:
            return text
        dots = "".join("." if ord(character) < 128 else "．" for character in shown[:column])
        wide = column < len(shown) and ord(shown[column]) >= 128
        return f"{text}\n | {shown}\n | {dots}{'＾' if wide else '^'}"

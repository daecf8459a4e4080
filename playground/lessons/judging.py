"""Judgment of an answer by the key that the engine computed."""

from collections.abc import Sequence
from dataclasses import dataclass

from playground.lessons.facts import Value
from playground.lessons.format import Question


@dataclass(frozen=True)
class Verdict:
    """`right`: whether the answer is right. `given` is the parsed answer."""

    right: bool
    given: tuple[str, ...]


def judge(question: Question, key: Value, given: Sequence[str]) -> Verdict:
    """Return the verdict on an answer: a number as one text, names as one text each. Raise ValueError if it is unreadable."""
    read = tuple(text.strip() for text in given if text.strip())
    if not read:
        raise ValueError("nothing was answered")
    if question.kind == "number":
        return Verdict(abs(_number(read) - float(key)) <= question.tolerance, read)  # type: ignore[arg-type]
    if question.kind in ("victims", "order"):
        wanted = key if isinstance(key, tuple) else (str(key),)
        same = read == wanted if question.kind == "order" else sorted(read) == sorted(wanted)
        return Verdict(same, read)
    return Verdict(read == (as_text(key),), read)


def as_text(key: Value) -> str:
    """Return a key in the form of an answer: yes or no, or a number without a needless fraction."""
    if isinstance(key, bool):
        return "yes" if key else "no"
    if isinstance(key, tuple):
        return ", ".join(key)
    return f"{key:g}" if isinstance(key, float) else str(key)


def _number(read: tuple[str, ...]) -> float:
    if len(read) != 1:
        raise ValueError(f"one number was expected, and {len(read)} were given")
    try:
        return float(read[0])
    except ValueError:
        raise ValueError(f"“{read[0][:40]}” is not a number") from None

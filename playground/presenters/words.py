"""Messages: a text to translate and the values to put into it, both plain data.

Presenters know no Django, so they mark messages for the catalogs and leave the translating to the templates' `translated` filter.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import NotRequired, TypedDict, cast

# A value in a Chinese sentence stands between blanks, as Latin names do; a value that is Chinese itself takes none.
_BLANK = re.compile(r"(?<=[\u3000-\u303f\u4e00-\u9fff\uff00-\uffef]) (?=[\u3000-\u303f\u4e00-\u9fff\uff00-\uffef])")

# Nouns that are counted, with one word before them and the verb behind them.
_COUNTED = re.compile(
    r"(?<!of )%\((\w+)\)s((?: (?:binding|custom|examined|feasible|more|ready|Score))? )"
    r"(attempt|call|candidate|command|cycle|device|domain|group|minute|node|object|plugin|pod|point|question|record|refusal|replica"
    r"|second|session|step|student|volume)s\b( are| have| were| run)?\b"
)
_OF_ONE = {" are": " is", " have": " has", " were": " was", " run": " runs"}


class Message(TypedDict):
    """`text` is translated and gets `values`; `exact`, a name or a text of kube's, is shown instead as it is."""

    text: str
    values: NotRequired[dict[str, object]]
    exact: NotRequired[str]


def gettext_noop(message: str) -> str:
    """Marks a text for `make messages` that `message` gets later, such as one in a table; a text in a call of `message` needs no mark."""
    return message


def message(text: str, /, **values: object) -> Message:
    """A message with its values; one named in the text as %(name)s is shown as code where it is a name of an object."""
    return {"text": text, "values": values} if values else {"text": text}


def match_text(texts: Iterable[str], said: str) -> tuple[str, dict[str, str]] | None:
    """The first of the texts that a finished one was made from, and the values put into it; a text without values is found first."""
    if said in texts:
        return said, {}
    found = ((text, match) for text in texts if "%(" in text and (match := _compile_text(text).fullmatch(said)))
    return next(((text, match.groupdict()) for text, match in found), None)


@cache
def _compile_text(text: str) -> re.Pattern[str]:
    """Return the pattern that a text matches after its values are filled in."""
    parts = re.split(r"%\((\w+)\)s", text)
    named = (f"(?P<{part}>.+?)" if i % 2 else re.escape(part) for i, part in enumerate(parts))
    return re.compile("".join(named), re.DOTALL)


def list_nodes(names: Sequence[str]) -> Message:
    """Nodes by their names, each of which is shortened and shown as code."""
    values: dict[str, object] = {f"node_{at}": name for at, name in enumerate(names)}
    return {"text": ", ".join(f"%({each})s" for each in values), "values": values}


def in_english(said: Message) -> str:
    """A message as it is for programs and logs: in the language it was written in."""
    return format_message(said, lambda text: text)


def format_message(said: Message, say: Callable[[str], str]) -> str:
    """A message as plain text, in the words that `say` finds; a value may be a message itself."""
    if exact := said.get("exact"):
        return exact
    values = {
        name: format_message(cast(Message, value), say) if isinstance(value, dict) else value
        for name, value in said.get("values", {}).items()
    }
    return close_up(agree(say(said["text"]), values) % values) if values else say(said["text"])


def agree(text: str, values: Mapping[str, object]) -> str:
    """Put the nouns that a text counts with 1 into the singular, and their verbs; a Chinese text has no such nouns."""
    if "1" not in map(str, values.values()):
        return text
    return _COUNTED.sub(
        lambda m: f"%({m[1]})s{m[2]}{m[3]}{_OF_ONE.get(m[4], '')}" if str(values.get(m[1])) == "1" else m[0], text
    )


def close_up(text: str) -> str:
    """Take the blanks between Chinese characters out of a text."""
    return _BLANK.sub("", text)


def brief(did: str, most: int = 5) -> str:
    """Shorten what a controller did to its first clauses and the number of the others; the record has them all."""
    clauses = did.split("; ")
    more = len(clauses) - most
    return did if more <= 0 else f"{'; '.join(clauses[:most])}; … +{more}"


def exactly(text: str) -> Message:
    """Something that is shown as it is, in any language."""
    return {"text": "", "exact": text}

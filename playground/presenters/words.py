"""Messages: plain data of a text to translate and its values. Also, amounts in a readable format.

Presenters don't import Django: they mark messages for the catalogs, and the templates' `translated` filter translates them. Times, cpu,
and memory have Kubernetes' own notation if it has one.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from itertools import product
from typing import Any, NotRequired, TypedDict, cast

from scheduler_core.world.readonly import Pod

# Values in Chinese sentences have blanks around them, like Latin names. A value that is itself Chinese has none.
_BLANK = re.compile(r"(?<=[\u3000-\u303f\u4e00-\u9fff\uff00-\uffef]) (?=[\u3000-\u303f\u4e00-\u9fff\uff00-\uffef])")

# Counted nouns, with an optional word before and a verb after them.
_COUNTED = re.compile(
    r"(?<!of )%\((\w+)\)s((?: (?:binding|custom|examined|feasible|more|ready|Score))? )"
    r"(attempt|call|candidate|command|cycle|device|domain|group|minute|node|object|plugin|pod|point|question|record|refusal|replica"
    r"|second|session|step|student|volume)s\b( are| have| were| run)?\b"
)
_NAMES = re.compile(r"%\((\w+)\)s")
_OF_ONE = {" are": " is", " have": " has", " were": " was", " run": " runs"}


Texts = str | Mapping[str, "Texts"]


class Message(TypedDict):
    """`text` is translated and filled with `values`. `exact`, a name or a text of kube, is shown unchanged instead."""

    text: str
    values: NotRequired[dict[str, object]]
    exact: NotRequired[str]


def gettext_noop(message: str) -> str:
    """Mark a text for `make messages` outside of a call of `message`, such as in a table."""
    return message


def message(text: str, /, **values: object) -> Message:
    """Return a message with its values. A value for %(name)s is shown as code if it is the name of an object."""
    return {"text": text, "values": values} if values else {"text": text}


def choose_message(texts: Texts, values: Mapping[str, Any]) -> Message:
    """Return a message of the first text whose case holds, with the values in the text.

    A case is `field=value`, a `field` that is set, or `otherwise`. A case may contain cases again.
    """
    while not isinstance(texts, str):
        cases = ((*case.partition("="), text) for case, text in texts.items())
        texts = next(
            text
            for field, equals, value, text in cases
            if field == "otherwise" or (str(values.get(field)) == value if equals else values.get(field))
        )
    return message(texts, **{field: values[field] for field in _NAMES.findall(texts)})


def match_text(texts: Iterable[str], said: str) -> tuple[str, dict[str, str]] | None:
    """Return the text from which a formatted one was made, and its values, or None. Texts without values take precedence."""
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
    """Return a message of nodes' names, each shortened and shown as code."""
    values: dict[str, object] = {f"node_{at}": name for at, name in enumerate(names)}
    return {"text": ", ".join(f"%({each})s" for each in values), "values": values}


def in_english(said: Message) -> str:
    """Format a message in its source language, for programs and logs."""
    return format_message(said, lambda text: text)


def format_message(said: Message, say: Callable[[str], str]) -> str:
    """Format a message as plain text; `say` translates. A value may be a message itself."""
    if exact := said.get("exact"):
        return exact
    values = {
        name: format_message(cast(Message, value), say) if isinstance(value, dict) else value
        for name, value in said.get("values", {}).items()
    }
    return close_up(agree(say(said["text"]), values) % values) if values else say(said["text"])


def agree(text: str, values: Mapping[str, object]) -> str:
    """Put nouns that a text counts with 1 into the singular, with their verbs. Chinese texts are unaffected."""
    if "1" not in map(str, values.values()):
        return text
    return _COUNTED.sub(
        lambda m: f"%({m[1]})s{m[2]}{m[3]}{_OF_ONE.get(m[4], '')}" if str(values.get(m[1])) == "1" else m[0], text
    )


def close_up(text: str) -> str:
    """Remove the blanks between Chinese characters."""
    return _BLANK.sub("", text)


def brief(did: str, most: int = 5) -> str:
    """Shorten a controller's actions to the first clauses and the number of the others. The record has all of them."""
    clauses = did.split("; ")
    more = len(clauses) - most
    return did if more <= 0 else f"{'; '.join(clauses[:most])}; … +{more}"


def exactly(text: str) -> Message:
    """Return a message that is shown unchanged in every language."""
    return {"text": "", "exact": text}


SECOND = 1_000_000_000
_BINARY = ("Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
_DECIMAL = ("k", "M", "G", "T", "P", "E")
_DECIMALS = 1000  # at most three decimals
_SHORT = 6  # characters of an amount that is short enough


def clock(ns: int) -> str:
    """Format virtual time as hours, minutes, seconds, and milliseconds: 00:00:12.300."""
    milliseconds = ns // 1_000_000
    seconds, rest = divmod(milliseconds, 1000)
    minutes, second = divmod(seconds, 60)
    return f"{minutes // 60:02}:{minutes % 60:02}:{second:02}.{rest:03}"


def duration(ns: int) -> str:
    """Format a duration with its unit: 1.7 s, 5 ms, 2 min 5 s."""
    if ns >= 60 * SECOND:
        minutes, second = divmod(ns // SECOND, 60)
        return f"{minutes} min {second} s" if second else f"{minutes} min"
    if ns >= SECOND:
        return f"{_short(ns / SECOND)} s"
    if ns >= 1_000_000:
        return f"{_short(ns / 1_000_000)} ms"
    return f"{_short(ns / 1000)} µs" if ns else "0 s"


def cpu(milli: int) -> str:
    """Format cpu exactly, in kube's notation: 250m, 2, and 7.5 or 2.25 if whole cores would lose precision."""
    if abs(milli) < 1000 and milli:
        return f"{milli}m"
    return _decimal(milli)


def memory(size: int) -> str:
    """Format bytes exactly, in the unit with the shortest text: 256Mi, 1.5Gi, 16265756Ki, 1G. Binary units take precedence."""
    binary = [(unit, 1024**i) for i, unit in enumerate(_BINARY, 1)]
    decimal = [(unit, 1000**i) for i, unit in enumerate(_DECIMAL, 1)]
    texts = [
        f"{_decimal(size * _DECIMALS // base)}{unit}"
        for unit, base in (*binary, *decimal)
        if abs(size) >= base and size * (_DECIMALS if unit in _BINARY else 1) % base == 0
    ]
    return min(texts, key=len) if texts else str(size)


def amount(resource: str, value: int) -> str:
    """Format an amount of any resource: cpu in millis, others in their own unit."""
    if resource == "cpu":
        return cpu(value)
    return memory(value) if is_bytes(resource) else str(value)


def format_requests(pod: Pod) -> list[str]:
    """Return a pod's requests, each with its resource: 500m cpu, 256Mi, 2Gi ephemeral-storage."""
    first = [(name, pod.requests.get(name)) for name in ("cpu", "memory", "ephemeral-storage")]
    named = [(name, value) for name, value in (*first, *pod.requests.scalar) if value]
    return [amount(name, value) if name == "memory" else f"{amount(name, value)} {name}" for name, value in named]


def amounts(resource: str, *values: int, places: int = 3) -> list[str]:
    """Format amounts of a resource for one sentence in one unit: 559Gi and 558.617Gi, 3 and 0.5, 300m and 100m.

    Bytes are rounded to `places` decimals. If different amounts would look equal, use up to three decimals, then the next smaller unit.
    """
    if resource == "cpu":
        return [f"{each}m" for each in values] if max(map(abs, values)) < 1000 else list(map(_decimal, values))
    if not is_bytes(resource):
        return list(map(str, values))
    for (i, unit), digits in product(reversed(list(enumerate(_BINARY, 1))), range(places, 4)):
        parts = [round(each * 10**digits / 1024**i) * 10 ** (3 - digits) for each in values]
        tells_apart = len(set(parts)) == len(set(values)) and all(map(bool, parts)) >= all(map(bool, values))
        if tells_apart and max(map(abs, parts)) >= _DECIMALS:
            return [f"{_decimal(part)}{unit}" if part else "0" for part in parts]
    return list(map(str, values))


def beside(resource: str, *values: int, places: int = 1) -> list[str]:
    """Format amounts of a resource side by side: exactly if short, else rounded in one unit: 15.6Gi."""
    texts = [amount(resource, each) for each in values]
    return texts if max(map(len, texts)) <= _SHORT else amounts(resource, *values, places=places)


def exact(resource: str, value: int) -> str:
    """Format an amount without rounding: 1500Mi, not 1.5Gi."""
    if not is_bytes(resource):
        return amount(resource, value)
    units, unit = ("", *_BINARY), 0
    while value and value % 1024 == 0 and unit < len(units) - 1:
        value, unit = value // 1024, unit + 1
    return f"{value}{units[unit]}"


def is_bytes(resource: str) -> bool:
    return resource in ("memory", "ephemeral-storage") or resource.startswith("hugepages-")


def thousands(number: int) -> str:
    """Format a count with separators: 1,523."""
    return f"{number:,}"


def _decimal(thousandths: int) -> str:
    """Format a number exactly, with at most three decimals."""
    sign, number = ("-", -thousandths) if thousandths < 0 else ("", thousandths)
    whole, rest = divmod(number, _DECIMALS)
    return f"{sign}{whole}.{rest:03}".rstrip("0").rstrip(".")


def _short(value: float) -> str:
    return f"{value:.1f}".rstrip("0").rstrip(".")


_ORDINALS = {1: gettext_noop("%(n)sst attempt"), 2: gettext_noop("%(n)snd attempt"), 3: gettext_noop("%(n)srd attempt")}
_ORDINAL = gettext_noop("%(n)sth attempt")


def ordinal(attempt: int) -> Message:
    """Return the number of an attempt among the pod's own as a message: 1st attempt."""
    end = 0 if attempt % 100 in (11, 12, 13) else attempt % 10
    return message(_ORDINALS.get(end, _ORDINAL), n=thousands(attempt))

"""Sentences that the palette carries out: `taint node-1 key=value:NoSchedule`, `scale web to 3`, `go to step 25`, `start lesson gate`.

A sentence that is not complete yet offers how it may go on; a wrong one says what is expected.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from msgspec import Struct

from playground.workbench.actions import action
from playground.workbench.builder import grammar

MOST = 6  # offers for one sentence
MOST_REPLICAS = 1000


class Phrase(Struct, frozen=True, omit_defaults=True):
    """An offer. `entry` is carried out as a menu's is, `at` is a step, `start` a lesson; else `complete` is what to go on writing."""

    label: str
    hint: str = ""
    complete: str = ""
    entry: dict[str, Any] | None = None
    at: int | None = None
    start: str = ""


class KnownNames(NamedTuple):
    """Names that sentences may have in them: objects by kind as (namespace, name), plugins, lessons' slugs with their titles."""

    objects: Mapping[str, Sequence[tuple[str, str]]]
    plugins: Sequence[str] = ()
    lessons: Mapping[str, str] = {}
    head: int = 0


def _parse_taint(text: str) -> dict[str, str]:
    taints = grammar.parse_taints(text)
    if len(taints) != 1:
        raise grammar.GrammarError(text, _("one taint"), "dedicated=infra:NoSchedule")
    return taints[0]


def _parse_labels(text: str) -> dict[str, str]:
    grammar.parse_pairs("\n".join(part for part in grammar.split(text) if not part.endswith("-")))
    return {"labels": text}


def _parse_replicas(text: str) -> dict[str, str]:
    number = text.removeprefix("to ").strip()
    if not (number.isascii() and number.isdecimal()) or int(number) > MOST_REPLICAS:
        raise grammar.GrammarError(number, _("a number from 0 to %(head)s") % {"head": MOST_REPLICAS}, "3")
    return {"replicas": number}


class Verb(NamedTuple):
    """An action that a sentence names. `example`: what follows the object; `parse` makes the action's fields of it."""

    name: str
    kinds: tuple[str, ...]
    example: str = ""
    parse: Callable[[str], dict[str, str]] | None = None


VERBS = (
    Verb("taint", ("Node",), "dedicated=infra:NoSchedule", _parse_taint),
    Verb("label", ("Node", "Pod"), "disk=ssd", _parse_labels),
    Verb("scale", ("Deployment", "ReplicaSet", "ReplicationController", "StatefulSet"), "to 3", _parse_replicas),
    Verb("cordon", ("Node",)),
    Verb("uncordon", ("Node",)),
    Verb("drain", ("Node",)),
)
KINDS = tuple(dict.fromkeys(kind for verb in VERBS for kind in verb.kinds))
GO_TO = (gettext_lazy("go to step"), gettext_lazy("go to plugin"))
START = gettext_lazy("start lesson")


def suggest(text: str, known: KnownNames, may_edit: bool) -> list[Phrase]:
    """Return the sentences that a text begins or is."""
    offers = [*_of_places(text, known)]
    if may_edit:
        offers += [offer for verb in VERBS for offer in _of_verb(verb, text, known)]
    return offers[: 2 * MOST]


def _rest(text: str, *beginnings: str) -> str | None:
    """Return the text after one of these beginnings, or "" where the text is a part of one; None where it is something else."""
    low = text.lower()
    for beginning in beginnings:
        if low.startswith(f"{beginning.lower()} "):
            return text[len(beginning) :].strip()
        if low and beginning.lower().startswith(low.strip()):
            return ""
    return None


def _of_verb(verb: Verb, text: str, known: KnownNames) -> Iterable[Phrase]:
    done = action(verb.kinds[0], verb.name)
    assert done is not None, verb.name
    title = _(done.title)
    if (rest := _rest(text, verb.name, title)) is None:
        return
    wanted, _blank, given = rest.partition(" ")
    given = given.strip()
    if not rest and not text.endswith(" "):
        pattern = " ".join(part for part in (verb.name, "/".join(verb.kinds), verb.example) if part)
        yield Phrase(f"{title} …", pattern, f"{verb.name} ")
        return
    some = [name for kind in verb.kinds for _namespace, name in known.objects.get(kind, ())]
    if wanted and not any(wanted in name for name in some):
        hint = f"{_('for example')} {', '.join(some[:3])}" if some else ""
        yield _of_none("/".join(verb.kinds), wanted, hint, verb.name)
    for kind in verb.kinds:
        names = [each for each in known.objects.get(kind, ()) if wanted in each[1]]
        names.sort(key=lambda each: (each[1] != wanted, not each[1].startswith(wanted), each[1]))
        for namespace, name in names[: 1 if given else MOST]:
            yield _on_object(verb, title, kind, namespace, name, given)


def _of_none(kind: str, wanted: str, hint: str, beginning: str) -> Phrase:
    """Say that no name has the wanted text in it, and in the hint what there is."""
    said = _("No %(kind)s has “%(name)s” in its name") % {"kind": kind, "name": wanted[:60]}
    return Phrase(said, hint, f"{beginning} ")


def _on_object(verb: Verb, title: str, kind: str, namespace: str, name: str, given: str) -> Phrase:
    said = f"{title} {name}"
    ref = {"kind": kind, "name": name, **({"namespace": namespace} if namespace else {})}
    if verb.parse is None:
        return Phrase(said, kind, entry=_entry(verb, kind, ref))
    if not given or given == "to":
        return Phrase(f"{said} {verb.example}", _("for example"), f"{verb.name} {name} ")
    try:
        fields = verb.parse(given)
    except grammar.GrammarError as error:
        return Phrase(str(error), f"{verb.name} {name} {verb.example}", f"{verb.name} {name} ")
    return Phrase(f"{said} {given}", kind, entry=_entry(verb, kind, {**ref, **fields}))


def _entry(verb: Verb, kind: str, fields: Mapping[str, str]) -> dict[str, Any]:
    done = action(kind, verb.name)
    assert done is not None, verb.name
    if done.fields and verb.parse is None:
        return {"page": f"act/{verb.name}?{urlencode(fields)}"}
    said = _(done.done) % {"name": fields["name"]}
    return {"send": f"act/{verb.name}", "fields": dict(fields), "said": said}


def _of_places(text: str, known: KnownNames) -> Iterable[Phrase]:
    to_step, to_plugin, start = (str(each) for each in (*GO_TO, START))
    if (rest := _rest(text, to_step, "go to step", "step")) is not None:
        if rest.isascii() and rest.isdecimal() and len(rest) < 10 and int(rest) <= known.head:
            yield Phrase(f"{to_step} {int(rest)}", at=int(rest))
        else:
            hint = _("a number from 0 to %(head)s") % {"head": known.head}
            yield Phrase(
                _("“%(text)s” is not a step") % {"text": rest[:60]} if rest else f"{to_step} …", hint, f"{to_step} "
            )
    if (rest := _rest(text, to_plugin, "go to plugin", "plugin")) is not None:
        names = [name for name in known.plugins if rest.lower() in name.lower()] if rest else []
        for name in names[:MOST]:
            for way, hint in (("forward", _("its next run")), ("back", _("its last run"))):
                yield Phrase(f"{to_plugin} {name}", hint, entry={"seek": way, "fields": {"plugin": name}})
        if not names:
            hint = _("such as NodeResourcesFit")
            none = Phrase(f"{to_plugin} …", hint, f"{to_plugin} ")
            yield _of_none(_("plugin"), rest, hint, to_plugin) if rest else none
    if (rest := _rest(text, start, "start lesson", "lesson")) is not None:
        found = [each for each in known.lessons.items() if rest and rest.lower() in " ".join(each).lower()]
        yield from (Phrase(f"{start} {title}", slug, start=f"story:{slug}") for slug, title in found[:MOST])
        if not found:
            hint = _("a word of its title")
            yield _of_none(_("lesson"), rest, hint, start) if rest else Phrase(f"{start} …", hint, f"{start} ")
